"""What ``beacon solve`` says on request: alternatives, margins, and what a supposition would change."""

from __future__ import annotations

from beacon.cli.answer import MOST_LINES
from beacon.cli.console import one_line, say, say_table
from beacon.runner.result import Result

MOST_CHANGES = 8  # named in a line


def say_supposed(result: Result) -> None:
    """Print what a supposition would change."""
    supposed = result.supposed
    if supposed is None:
        return
    model, given = result.model, {i: v for i, v in supposed.evidence.items() if i not in result.evidence}
    names = ", ".join(f"{model.names[i]}={model.labels[i][v]}" for i, v in given.items())
    if supposed.zero_factors:
        kind = "is impossible" if supposed.is_impossible else "was only found with probability zero"
        say(f"\nsupposed       {names}: {kind}")
        return
    loss = supposed.loss_against(result)
    sure = "" if result.is_optimal and supposed.is_optimal else " (not proved)"
    say(f"\nsupposed       {names}: log score {supposed.log_score:.6f}, {_lost(loss)}{sure}")
    say_table([(f"  {name}", value) for name, value in supposed.changes_against(result).items()])


def say_alternatives(result: Result, distance: int) -> None:
    """Print the best assignments and what differs."""
    found = result.alternatives
    if found is None:
        return
    how = "exact" if found.exact else "by search: better ones may exist"
    variables = "1 variable" if distance == 1 else f"{distance} variables"
    say(f"\nalternatives   {how}; any two differ in at least {variables}")
    for number, one in enumerate(found, 1):
        changes = ", ".join(
            f"{name}={one_line(value)}" for name, value in [*one.changes.items()][:MOST_CHANGES]
        )
        more = f" and {len(one.changes) - MOST_CHANGES:,} more" if len(one.changes) > MOST_CHANGES else ""
        differs = f"  {_lost(one.loss)}: {changes}{more}" if number > 1 else "  the answer"
        say(f"{number:>4}  {one.log_score:.6f}{differs}")
    if not found:
        say("  none: the answer itself has probability zero")


def say_margins(result: Result, is_asked: bool, is_long: bool) -> None:
    """Print the best other value of each variable, closest first."""
    margins = result.margins
    if margins is None:
        if is_asked:
            say("\nmargins        none: the answer itself has probability zero")
        return
    how = "exact" if margins.exact else "the least that was seen, and what is proved"
    say(f"\nmargins        {how}; what the best other value of a variable would lose, in nats")
    rows, least = margins.closest(), {} if margins.exact else margins.at_least
    shown = rows if is_long else rows[:MOST_LINES]
    width = max((len(name) for name, _, _ in shown), default=0)
    for name, value, loss in shown:
        proved = f"  (at least {least[name][value]:.4g})" if least and least[name][value] > 0 else ""
        say(f"{name:<{width}}  {loss:>10.4g}  {one_line(value)}{proved}")
    if len(rows) > len(shown):
        say(f"… and {len(rows) - len(shown):,} that lose more; --all lists them, --json has every value")
    certain = len(margins) - len(rows)
    if certain:
        cannot = "cannot have another value" if margins.exact else "were seen with no other value"
        say(f"{certain:,} variables {cannot}")


def _lost(loss: float) -> str:
    return f"{loss:.4g} nats less" if loss >= 0 else f"{-loss:.4g} nats more"
