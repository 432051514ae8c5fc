"""Search results for a person, for a program and for files."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from beacon.cli import answer_rows as rows
from beacon.cli.answer_rows import MOST_LINES
from beacon.cli.console import ProgressBar, note_if_slow, say, say_json, warn
from beacon.cli.ending import told_by_signals
from beacon.io.files import check_named, check_no_input, check_writable
from beacon.model.evidence import describe_impossible, impossible_factor
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.asked import Asked
from beacon.runner.result import Result, ResultList
from beacon.runner.search import Search
from beacon.runner.show import CHANGED, TRACE_COLUMNS, Show, as_json, cost_of, probabilities
from beacon.runner.stop import Stop

LONG_SECONDS = 2.0
LONG_SEARCH = "searching; Ctrl-C ends the search and keeps the best found"
COMPRESSED = (".gz", ".xz", ".bz2")


class Output(NamedTuple):
    """What to show and where."""

    files: list[Path]
    """One solution file per query, or none at all."""
    json: bool
    trace: bool
    show_all: bool
    quiet: bool
    is_cost: bool = False
    """Are scores minus the costs of the model's file?"""
    show: Show = Show()
    asked: Asked = Asked()
    """What was asked for besides the answer."""


def say_answer(result: Result, output: Output, unobserved: Result | None) -> None:
    """Print the result of one query: a summary, its improvements on request, values and what else was asked.

    ``unobserved`` is the answer without any evidence, where what the evidence changes is to be shown.
    """
    say(result.summary())
    if output.is_cost:
        rows.say_cost(*cost_of(result))
    rows.say_probability(result)
    if output.trace:
        _say_trace(result, output.show_all)
    say("")
    rows.say_values(result, output.show, output.show_all, unobserved)
    rows.say_supposed(result)
    rows.say_alternatives(result, output.asked.distance)
    rows.say_margins(result, output.asked.margins, output.show_all)


def _say_trace(result: Result, show_all: bool) -> None:
    trace = result.trace
    say(f"\n{'step':>12}  {'seconds':>9}  {'zeros':>6}  score")
    events = list(zip(*(getattr(trace, name).tolist() for name in TRACE_COLUMNS), strict=True))
    for step, seconds, score, zeros in events if show_all else events[-MOST_LINES:]:
        say(f"{step:>12,}  {seconds:>9.4f}  {zeros:>6}  {score:.6f}")
    if len(events) > MOST_LINES and not show_all:
        say(f"… and {len(events) - MOST_LINES:,} more before these; --all lists them")


def result_line(query: int, result: Result) -> str:
    """One query of many."""
    ending = (
        ", proved optimal" if result.is_optimal else ", interrupted" if result.stop == "interrupted" else ""
    )
    return (
        f"{query}: log score {result.log_score:.6f}, {result.zero_factors} zero factors, "
        f"{result.steps:,} steps, {result.seconds:.3f} s{ending}"
    )


def warn_if_impossible(model: GraphicalModel, evidence: dict[int, int], query: str = "") -> None:
    """Warn of evidence that a single factor rules out."""
    factor = impossible_factor(model, evidence) if model.zero_fraction else None
    if factor is not None:
        warn(query + describe_impossible(model, factor, evidence))


def solve_and_show(
    run: Callable[..., ResultList],
    model: GraphicalModel,
    queries: list[dict[int, int]],
    stop: Stop,
    output: Output,
) -> ResultList:
    """Search, show how it goes, and then what was found; ``run`` takes queries."""
    if len(queries) == 1 and not output.quiet:
        warn_if_impossible(model, queries[0])
    is_quiet = output.quiet or sys.stderr.isatty()  # there a bar says so
    with note_if_slow(LONG_SEARCH, LONG_SECONDS, is_quiet), told_by_signals() as cancelled:
        if len(queries) == 1:
            limit = f"up to {stop.seconds:g} s" if stop.seconds < math.inf else "searching"
            return solve_one(
                partial(run, cancelled=cancelled), queries[0], output, f"{limit}, Ctrl-C keeps the best"
            )
        return solve_all(partial(run, cancelled=cancelled), queries, output)


def solve_one(run: Callable[..., ResultList], query: dict[int, int], output: Output, work: str) -> ResultList:
    """Show how the search goes, then what it found."""
    unobserved = None
    with ProgressBar(work, None, output.quiet) as bar:

        def show(search: Search) -> None:
            bar.describe(f"best score {search.best_score:.4f}, {search.best_zeros} zero factors")

        results = run([query], on_improvement=show, **vars(output.asked))
        if output.show.word == CHANGED and not output.json:
            (unobserved,) = run([{}], on_improvement=show)
    (result,) = results
    for file in output.files:
        _write(file, result)
    if output.json:
        say_json(as_json(result, is_cost=output.is_cost, trace=output.trace) | probabilities(result))
    else:
        say_answer(result, output, unobserved)
    return results


def solve_all(run: Callable[..., ResultList], queries: list[dict[int, int]], output: Output) -> ResultList:
    """Report each result as it comes."""
    with ProgressBar("queries (Ctrl-C keeps the best)", len(queries), output.quiet) as bar:
        answers = ManyAnswers(bar, output)
        results = run(queries, on_result=answers.hear, **vars(output.asked))
        for query, result in enumerate(results):  # those that Ctrl-C left unheard
            answers.hear(query, result)
    for query, result in enumerate(results):
        if result.zero_factors and not output.quiet:
            warn_if_impossible(result.model, result.evidence, f"query {query}: ")
    if output.json:
        say_json({"results": [as_json(one, is_cost=output.is_cost, trace=output.trace) for one in results]})
    return results


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
            following = self._waiting.pop(self._next)
            line = result_line(self._next, following) + rows.line_of(following, self._output.show.variables)
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
