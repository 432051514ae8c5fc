"""What ``beacon solve`` says of one query besides its summary: values, alternatives, margins, what if."""

from __future__ import annotations

from collections import Counter

from beacon.cli.console import one_line, say, say_table
from beacon.runner.result import Result
from beacon.runner.show import ALL, QUERY, Show

MOST_LINES = 40
MOST_CHANGES = 8  # named in a line


def line_of(result: Result, variables: tuple[int, ...]) -> str:
    """The named variables' values, to end the line of one query of many."""
    values = (f"{name}={one_line(value)}" for name, value in _rows(result, variables))
    return "".join(f", {value}" for value in values)


def say_values(result: Result, show: Show, is_long: bool, unobserved: Result | None) -> None:
    """Print the values that were asked for. ``unobserved`` is the answer without any evidence."""
    if show.variables:
        say_table(_rows(result, show.variables))
    elif show.word == ALL:
        say_table(_rows(result, range(result.model.num_variables)))
    elif unobserved is not None:
        _say_changed(result, unobserved)
    else:
        labels = result.model.labels
        asked = [i for i in range(len(labels)) if i not in result.evidence and len(labels[i]) > 1]
        _say_query(_rows(result, asked), is_long or show.word == QUERY)


def _rows(result: Result, variables: range | list[int] | tuple[int, ...]) -> list[tuple[str, str]]:
    model, values = result.model, result.assignment.tolist()
    return [(model.names[i], model.labels[i][values[i]]) for i in variables]


def _say_query(rows: list[tuple[str, str]], is_long: bool) -> None:
    """A long answer is cut to what differs from its commonest value: most findings are "no"."""
    if is_long or len(rows) <= MOST_LINES:
        say_table(rows)
        return
    commonest = Counter(value for _, value in rows).most_common(1)[0][0]
    telling = [row for row in rows if row[1] != commonest]
    shown = telling[:MOST_LINES]
    say_table(shown)
    rest = f"… and {len(rows) - len(shown):,} more" if shown else f"all {len(rows):,} variables"
    alike = f" have the value {one_line(commonest)}" if len(shown) == len(telling) else ""
    say(f"{rest}{alike}; --show query lists them, --show A,B chooses some, --json and -o keep them")


def _say_changed(result: Result, unobserved: Result) -> None:
    changes = result.changes_against(unobserved)
    rows = [(name, value) for name, value in changes.items() if not _is_observed(result, name)]
    say_table(rows)
    others = result.model.num_variables - len(result.evidence) - len(rows)
    say(f"{others:,} other variables are what they would be without any evidence; --show query lists all")


def _is_observed(result: Result, name: str) -> bool:
    return result.model.name_to_variable[name] in result.evidence


def say_probability(result: Result) -> None:
    """Print the probability of the answer, where elimination gave it and so can give its probability."""
    if result.proof != "elimination" or result.probability is None:
        return
    known = (
        "" if result.log_evidence is None else f"; the evidence has log probability {result.log_evidence:.6g}"
    )
    given = f"given the evidence{known}" if result.evidence else "without any evidence"
    say(f"probability    {result.probability:.4g} {given}")


def say_cost(cost: int | None, least: int | None) -> None:
    """Print the cost of the answer in the units of its file."""
    proved = "" if least is None or least == cost else f" (no assignment costs less than {least:,})"
    say(f"cost           {'forbidden' if cost is None else f'{cost:,}'}{proved}")


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
