"""Search results for a person, for a program and for files."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from beacon.cli.console import ProgressBar, note_if_slow, one_line, say, say_json, say_table, warn
from beacon.cli.ending import told_by_signals
from beacon.io.files import check_named, check_no_input, check_writable
from beacon.model.evidence import describe_impossible, impossible_factor
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.result import Result
from beacon.runner.search import Search
from beacon.runner.stop import Stop

MOST_LINES = 40
LONG_SECONDS = 2.0
LONG_SEARCH = "searching; Ctrl-C ends the search and keeps the best found"
COMPRESSED = (".gz", ".xz", ".bz2")
TRACE_COLUMNS = ("steps", "seconds", "scores", "zero_factors")


class Output(NamedTuple):
    """What to show and where."""

    files: list[Path]
    """One solution file per query, or none at all."""
    json: bool
    trace: bool
    show_all: bool
    quiet: bool


def say_answer(result: Result, with_trace: bool, show_all: bool) -> None:
    """Print the result of one query: a summary, its improvements on request, and the query variables."""
    say(result.summary())
    if with_trace:
        _say_trace(result, show_all)
    rows = [
        (name, value)
        for i, (name, value) in enumerate(result.named_assignment.items())
        if i not in result.evidence and len(result.model.labels[i]) > 1
    ]
    if rows:
        say("")
        _say_values(rows, show_all)


def _say_values(rows: list[tuple[str, str]], show_all: bool) -> None:
    """A long answer is cut to what differs from its commonest value: most findings are "no"."""
    if show_all or len(rows) <= MOST_LINES:
        say_table(rows)
        return
    commonest = Counter(value for _, value in rows).most_common(1)[0][0]
    telling = [row for row in rows if row[1] != commonest]
    shown = telling[:MOST_LINES]
    say_table(shown)
    rest = f"… and {len(rows) - len(shown):,} more" if shown else f"all {len(rows):,} variables"
    alike = f" have the value {one_line(commonest)}" if len(shown) == len(telling) else ""
    say(f"{rest}{alike}; --all lists them, --json and -o keep them")


def _say_trace(result: Result, show_all: bool) -> None:
    trace = result.trace
    say(f"\n{'step':>12}  {'seconds':>9}  {'zeros':>6}  score")
    rows = list(zip(*(getattr(trace, name).tolist() for name in TRACE_COLUMNS), strict=True))
    for step, seconds, score, zeros in rows if show_all else rows[-MOST_LINES:]:
        say(f"{step:>12,}  {seconds:>9.4f}  {zeros:>6}  {score:.6f}")
    if len(rows) > MOST_LINES and not show_all:
        say(f"… and {len(rows) - MOST_LINES:,} more before these; --all lists them")


def result_line(query: int, result: Result) -> str:
    """One query of many."""
    ending = (
        ", proved optimal" if result.is_optimal else ", interrupted" if result.stop == "interrupted" else ""
    )
    return (
        f"{query}: log score {result.log_score:.6f}, {result.zero_factors} zero factors, "
        f"{result.steps:,} steps, {result.seconds:.3f} s{ending}"
    )


def as_json(result: Result, with_trace: bool) -> dict[str, Any]:
    """One result of ``beacon solve --json``."""
    if not with_trace:
        return result.to_dict()
    columns = {name: getattr(result.trace, name).tolist() for name in TRACE_COLUMNS}
    return result.to_dict() | {"trace": columns}


def warn_if_impossible(model: GraphicalModel, evidence: dict[int, int], query: str = "") -> None:
    """Warn of evidence that a single factor rules out."""
    factor = impossible_factor(model, evidence) if model.zero_fraction else None
    if factor is not None:
        warn(query + describe_impossible(model, factor, evidence))


def solve_and_show(
    run: Callable[..., list[Result]],
    model: GraphicalModel,
    queries: list[dict[int, int]],
    stop: Stop,
    output: Output,
) -> None:
    """Search, show how it goes, and then what was found."""
    if len(queries) == 1 and not output.quiet:
        warn_if_impossible(model, queries[0])
    is_quiet = output.quiet or sys.stderr.isatty()  # there a bar says so
    with note_if_slow(LONG_SEARCH, LONG_SECONDS, is_quiet), told_by_signals() as cancelled:
        if len(queries) == 1:
            limit = f"up to {stop.seconds:g} s" if stop.seconds < math.inf else "searching"
            solve_one(partial(run, cancelled=cancelled), output, f"{limit}, Ctrl-C keeps the best")
        else:
            solve_all(partial(run, cancelled=cancelled), len(queries), output)


def solve_one(run: Callable[..., list[Result]], output: Output, work: str) -> None:
    """Show how the search goes, then what it found."""
    with ProgressBar(work, None, output.quiet) as bar:

        def show(search: Search) -> None:
            bar.describe(f"best score {search.best_score:.4f}, {search.best_zeros} zero factors")

        (result,) = run(on_improvement=show)
    for file in output.files:
        _write(file, result)
    if output.json:
        say_json(as_json(result, output.trace))
    else:
        say_answer(result, output.trace, output.show_all)


def solve_all(run: Callable[..., list[Result]], count: int, output: Output) -> None:
    """Report each result as it comes."""
    with ProgressBar("queries (Ctrl-C keeps the best)", count, output.quiet) as bar:
        answers = ManyAnswers(bar, output)
        results = run(on_result=answers.hear)
        for query, result in enumerate(results):  # those that Ctrl-C left unheard
            answers.hear(query, result)
    for query, result in enumerate(results):
        if result.zero_factors and not output.quiet:
            warn_if_impossible(result.model, result.evidence, f"query {query}: ")
    if output.json:
        say_json({"results": [as_json(result, output.trace) for result in results]})


class ManyAnswers:
    """Hears of results as they come: writes each to its file, prints their lines in the queries' order."""

    def __init__(self, bar: ProgressBar, output: Output) -> None:
        self._bar = bar
        self._output = output
        self._waiting: dict[int, Result] = {}
        self._heard: set[int] = set()
        self._next = 0

    def hear(self, query: int, result: Result) -> None:
        """Take one result; those heard before are not repeated."""
        if query in self._heard:
            return
        self._heard.add(query)
        self._waiting[query] = result
        if self._output.files:
            _write(self._output.files[query], result)
        while self._next in self._waiting:
            line = result_line(self._next, self._waiting.pop(self._next))
            if not self._output.json:
                self._bar.say(line)
            self._next += 1
        self._bar.reach(len(self._heard))


def solution_files(out: str | None, count: int, inputs: Iterable[str | Path | None]) -> list[Path]:
    """One file per query, checked; none if there is no ``out``."""
    files = [] if out is None else solution_paths(out, count)
    read = list(inputs)
    for file in files[:1]:  # the others are its neighbours
        check_writable(str(file))
    for file in files:
        check_no_input(str(file), read)
    return files


def solution_paths(out: str, count: int) -> list[Path]:
    """One file per query: OUT itself for one, OUT with a number for many, numbered files in a directory."""
    check_named(out)
    place = Path(out)
    if place.is_dir():
        return [place / f"{query}.MPE" for query in range(count)]
    if count == 1:
        return [place]
    return [place.with_name(_numbered(place, query)) for query in range(count)]


def _write(file: Path, result: Result) -> None:
    from beacon.formats import write_solution  # noqa: PLC0415 - most answers are only shown

    write_solution(file, result.assignment)


def _numbered(place: Path, query: int) -> str:
    """The number goes before the suffix: a.MPE -> a.0.MPE, a.MPE.gz -> a.0.MPE.gz."""
    suffix = place.suffix
    if suffix.lower() in COMPRESSED:
        suffix = Path(place.stem).suffix + suffix
    return f"{place.name.removesuffix(suffix)}.{query}{suffix}"
