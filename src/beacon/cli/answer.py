"""What ``beacon solve`` says of one query, for a person, for a program and for files."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from beacon.cli import told_by_signals
from beacon.cli.console import ProgressBar, note_if_slow, one_line, say, say_json, say_table, warn
from beacon.errors import UsageError, plural
from beacon.io.files import base_suffix
from beacon.model.evidence import describe_impossible, impossible_factor
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.result import Result, ResultList
from beacon.runner.search import Search
from beacon.runner.stop import Stop

if TYPE_CHECKING:
    from beacon.formats.costs import CostKind

COSTS = (".wcsp", ".cfn")
OPTION_NAMES = {"weight": "--lambda", "restart_from": "--restart-from"}
LONG_SECONDS = 2.0
LONG_SEARCH = "searching; Ctrl-C ends the search and keeps the best found"
MOST_LINES = 40
INTERRUPTED = "not computed: interrupted"
NO_ANSWER = "the answer itself has probability zero"


class Place(NamedTuple):
    """Where answers are written to, if anywhere."""

    files: list[Path] = []  # noqa: RUF012 - never changed
    """One solution file per query, or none at all."""
    table: str | None = None
    """One table of all answers."""
    keys: Mapping[str, list[Any]] = {}
    """Columns of the table that say which query an answer belongs to."""


class Output(NamedTuple):
    """What to show and where."""

    place: Place
    json: bool
    trace: bool
    show_all: bool
    quiet: bool
    costs: CostKind | None
    """What the numbers of the model's file are, if these are costs."""
    word: str | None
    """Which variables to print: query, changed or all; None: those of the query, cut if there are many."""
    variables: tuple[int, ...]
    """The variables to print that were named, if any were."""
    asked: Mapping[str, Any]
    """What was asked for besides the answer: options of :func:`beacon.solve`."""


def solve_and_show(
    run: Callable[..., ResultList],
    model: GraphicalModel,
    queries: list[dict[int, int]],
    stop: Stop,
    output: Output,
) -> None:
    """Search, show how it goes, and then what was found; ``run`` takes a model and queries."""
    run = partial(run, model, stop=stop)
    if len(queries) == 1 and not output.quiet:
        warn_if_impossible(model, queries[0])
    is_quiet = output.quiet or sys.stderr.isatty()  # there a bar says so
    with note_if_slow(LONG_SEARCH, LONG_SECONDS, is_quiet), told_by_signals() as cancelled:
        if len(queries) == 1:
            limit = f"up to {stop.seconds:g} s" if stop.seconds < math.inf else "searching"
            work = f"{limit}, Ctrl-C keeps the best"
            results = _solve_one(partial(run, cancelled=cancelled), queries[0], output, work)
        else:
            from beacon.cli.answers import solve_all  # noqa: PLC0415 - most have one query

            results = solve_all(partial(run, cancelled=cancelled), queries, output)
    if output.place.table:
        from beacon.formats.answer_table import write_table  # noqa: PLC0415 - most answers are only shown

        shown = output.variables or results.query_variables
        write_table(output.place.table, results.to_columns(shown, output.place.keys))
        if not output.json:
            say(one_line(f"wrote {output.place.table}: {plural(len(results), 'answer')}"))


def _solve_one(
    run: Callable[..., ResultList], query: dict[int, int], output: Output, work: str
) -> ResultList:
    """Show how the search goes, then what it found."""
    unobserved = None
    with ProgressBar(work, None, output.quiet) as bar:

        def show(search: Search) -> None:
            bar.describe(f"best score {search.best_score:.4f}, {search.best_zeros} zero factors")

        results = run([query], on_improvement=show, **output.asked)
        if output.word == "changed" and not output.json:
            (unobserved,) = run([{}], on_improvement=show)
    (result,) = results
    for file in output.place.files:
        write(file, result)
    if output.json:
        from beacon.runner.show import as_json, probabilities  # noqa: PLC0415 - most answers are for a person

        say_json(as_json(result, costs=output.costs, trace=output.trace) | probabilities(result))
    else:
        say_answer(result, output, unobserved)
    return results


def say_answer(result: Result, output: Output, unobserved: Result | None) -> None:
    """Print the result of one query: a summary, its improvements on request, values and what else was asked.

    ``unobserved`` is the answer without any evidence, where what the evidence changes is to be shown.
    """
    say(result.summary())
    if output.costs is not None:
        _say_cost(result, output.costs)  # in place of a probability, which costs do not mean
    else:
        _say_probability(result)
    if output.trace:
        _say_trace(result, output.show_all)
    say("")
    _say_values(result, output, unobserved)
    asked = output.asked
    if asked["suppose"]:
        _say_supposed(result)
    if asked["alternatives"]:
        _say_alternatives(result, asked["distance"])
    if asked["margins"]:
        _say_margins(result, output.show_all)


def _say_trace(result: Result, show_all: bool) -> None:
    from beacon.runner.show import TRACE_COLUMNS  # noqa: PLC0415 - on request only

    trace = result.trace
    say(f"\n{'step':>12}  {'seconds':>9}  {'zeros':>6}  score")
    events = list(zip(*(getattr(trace, name).tolist() for name in TRACE_COLUMNS), strict=True))
    for step, seconds, score, zeros in events if show_all else events[-MOST_LINES:]:
        say(f"{step:>12,}  {seconds:>9.4f}  {zeros:>6}  {score:.6f}")
    if len(events) > MOST_LINES and not show_all:
        say(f"… and {len(events) - MOST_LINES:,} more before these; --all lists them")


def _say_values(result: Result, output: Output, unobserved: Result | None) -> None:
    """Print the values that were asked for. ``unobserved`` is the answer without any evidence."""
    if output.variables:
        say_table(rows_of(result, output.variables))
    elif output.word == "all":
        say_table(rows_of(result, range(result.model.num_variables)))
    elif unobserved is not None:
        _say_changed(result, unobserved)
    else:
        labels = result.model.labels
        asked = [i for i in range(len(labels)) if i not in result.evidence and len(labels[i]) > 1]
        _say_query(rows_of(result, asked), output.show_all or output.word == "query")


def rows_of(result: Result, variables: range | list[int] | tuple[int, ...]) -> list[tuple[str, str]]:
    """Names and values of some variables."""
    model, values = result.model, result.assignment.tolist()
    return [(model.names[i], model.labels[i][values[i]]) for i in variables]


def _say_query(rows: list[tuple[str, str]], is_long: bool) -> None:
    """Of a long answer, print the variables without its most frequent value: most findings are "no"."""
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
    observed = {result.model.names[i] for i in result.evidence}
    rows = [(name, value) for name, value in changes.items() if name not in observed]
    say_table(rows)
    others = result.model.num_variables - len(result.evidence) - len(rows)
    are = "is what it" if others == 1 else "are what they"
    say(f"{plural(others, 'other variable')} {are} would be without any evidence; --show query lists all")


def _say_probability(result: Result) -> None:
    """Print the probability of the answer, where elimination found it."""
    if result.proof != "elimination" or result.probability is None:
        return
    given = "given the evidence" if result.evidence else "without any evidence"
    if result.evidence and result.log_evidence is not None:
        given += f"; the evidence has log probability {result.log_evidence:.6g}"
    say(f"probability    {result.probability:.4g} {given}")


def _say_cost(result: Result, costs: CostKind) -> None:
    """Print the cost of the answer in the units of its file."""
    from beacon.runner.show import cost_of  # noqa: PLC0415 - few files have costs

    cost, best = cost_of(result, *costs)
    digits, less = (",.0f" if costs.is_whole else ",.12g"), ("more" if costs.is_maximised else "less")
    bound = "" if best is None or best == cost else f" (no assignment costs {less} than {best:{digits}})"
    say(f"cost           {'forbidden' if cost is None else f'{cost:{digits}}'}{bound}")


def warn_if_impossible(model: GraphicalModel, evidence: dict[int, int], query: str = "") -> None:
    """Warn of evidence that a single factor rules out."""
    factor = impossible_factor(model, evidence) if model.zero_fraction else None
    if factor is not None:
        warn(query + describe_impossible(model, factor, evidence))


def write(file: Path, result: Result) -> None:
    """Write a solution file."""
    from beacon.formats import write_solution  # noqa: PLC0415 - most answers are only shown

    write_solution(file, result.assignment)


MOST_CHANGES = 8  # named in a line


def _say_supposed(result: Result) -> None:
    """Print the best assignment with what was supposed, and what it loses."""
    supposed = result.supposed
    if supposed is None:
        say(f"\nsupposed       {INTERRUPTED}")
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


def _say_alternatives(result: Result, distance: int) -> None:
    """Print the best assignments and what differs."""
    found = result.alternatives
    if found is None:
        say(f"\nalternatives   {INTERRUPTED}")
        return
    how = "exact" if found.exact else "by search: better ones may exist"
    variables = plural(distance, "variable")
    say(f"\nalternatives   {how}; any two differ in at least {variables}")
    for number, one in enumerate(found, 1):
        changes = ", ".join(
            f"{name}={one_line(value)}" for name, value in [*one.changes.items()][:MOST_CHANGES]
        )
        more = f" and {len(one.changes) - MOST_CHANGES:,} more" if len(one.changes) > MOST_CHANGES else ""
        differs = f"  {_lost(one.loss)}: {changes}{more}" if number > 1 else "  the answer"
        say(f"{number:>4}  {one.log_score:.6f}{differs}")
    if not found:
        say(f"  none: {NO_ANSWER}")


def _say_margins(result: Result, is_long: bool) -> None:
    """Print the best other value of each variable, closest first."""
    margins = result.margins
    if margins is None:
        why = f"none: {NO_ANSWER}" if result.zero_factors else INTERRUPTED
        say(f"\nmargins        {why}")
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
        were = "was" if certain == 1 else "were"
        cannot = "cannot have another value" if margins.exact else f"{were} seen with no other value"
        say(f"{plural(certain, 'variable')} {cannot}")


def _lost(loss: float) -> str:
    return f"{loss:.4g} nats less" if loss >= 0 else f"{-loss:.4g} nats more"


def costs_of(model_file: str) -> CostKind | None:
    """What the numbers of a model's file are, if these are costs."""
    if base_suffix(model_file) not in COSTS:
        return None
    from beacon.formats.costs import cost_kind  # noqa: PLC0415 - few files have costs

    return cost_kind(model_file)


def workers(backend: str | None, threads: int | None) -> AbstractContextManager[None]:
    """Within the block, many queries are answered by this backend."""
    if backend is None:
        return nullcontext()
    from beacon.runner.crews import on_backend  # noqa: PLC0415 - most queries are answered here

    return on_backend(backend, threads)


def check_guide_options(guide: str | None, start: str | None, asked: Mapping[str, Any]) -> None:
    """Refuse options that only mean something with a guide."""
    given = [OPTION_NAMES.get(name, f"--{name}") for name in asked]
    if start == "guide":
        given.append("--start guide")
    if given and guide is None:
        need = "needs" if len(given) == 1 else "need"
        raise UsageError(
            f"{', '.join(given)} {need} a guide; give one with --guide DIR (made by `beacon train`)"
        )
