"""The answers to many queries: a line for each as it comes, and the files that answers go to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from beacon.cli.answer import Output, Place, rows_of, warn_if_impossible, write
from beacon.cli.console import ProgressBar, note, one_line, say_json
from beacon.errors import UsageError, plural
from beacon.io.files import (
    COMPRESSIONS,
    TABLES,
    base_suffix,
    check_named,
    check_no_input,
    check_writable,
    make_folder,
)
from beacon.runner.result import Result, ResultList
from beacon.runner.show import as_json


def result_line(query: object, result: Result, variables: tuple[int, ...]) -> str:
    """One query of many, by its number or key, with the values of some variables."""
    ending = (
        ", proved optimal" if result.is_optimal else ", interrupted" if result.stop == "interrupted" else ""
    )
    values = "".join(f", {name}={one_line(value)}" for name, value in rows_of(result, variables))
    return (
        f"{query}: log score {result.log_score:.6f}, {plural(result.zero_factors, 'zero factor')}, "
        f"{plural(result.steps, 'step')}, {result.seconds:.3f} s{ending}{values}"
    )


def solve_all(run: Callable[..., ResultList], queries: list[dict[int, int]], output: Output) -> ResultList:
    """Report each result as it comes."""
    if not (output.json or output.quiet):
        _note_unseen(output)
    with ProgressBar("queries (Ctrl-C keeps the best)", len(queries), output.quiet) as bar:
        answers = ManyAnswers(bar, output)
        results = run(queries, on_result=answers.hear, **output.asked)
        for query, result in enumerate(results):  # those that Ctrl-C left unheard
            answers.hear(query, result)
    for query, result in enumerate(results):
        if result.zero_factors and not output.quiet:
            warn_if_impossible(result.model, result.evidence, f"query {query}: ")
    if output.json:
        say_json({"results": [as_json(one, costs=output.costs, trace=output.trace) for one in results]})
    return results


def _note_unseen(output: Output) -> None:
    """Say what was asked for that has no place in the lines."""
    asked = [f"--{name}" for name in ("alternatives", "margins", "suppose") if output.asked[name]]
    unseen = [*asked, *(["--trace"] if output.trace else [])]
    if unseen:
        note(f"with several queries, only --json shows what {', '.join(unseen)} asked for")


class ManyAnswers:
    """Hears of results as they come: writes each to its file, prints their lines in the queries' order."""

    def __init__(self, bar: ProgressBar, output: Output) -> None:
        self._bar, self._output = bar, output
        self._heard: dict[int, Result] = {}
        self._next = 0

    def hear(self, query: int, result: Result) -> None:
        """Take one result; those heard before are not repeated."""
        if query in self._heard:
            return
        self._heard[query] = result
        if self._output.place.files:
            write(self._output.place.files[query], result)
        while (following := self._heard.get(self._next)) is not None:
            if not self._output.json:
                self._bar.say(result_line(self._name(self._next), following, self._output.variables))
            self._next += 1
        self._bar.reach(len(self._heard))

    def _name(self, query: int) -> object:
        """What the user's table calls a query, or else its number."""
        keys = self._output.place.keys.values()
        return one_line(", ".join(str(column[query]) for column in keys)) if keys else query


def place_of(
    out: str | None, num_queries: int, keys: Mapping[str, list[Any]], inputs: Iterable[str | Path | None]
) -> Place:
    """Where ``-o OUT`` writes to: a table or a file per query, and none of the files that are read."""
    places = [Path(one) for one in inputs if one is not None]
    read = [file for place in places for file in (place.glob("*") if place.is_dir() else [place])]
    if out is not None and base_suffix(out) in TABLES and not _names_folder(out):
        check_writable(out, read)
        return Place(table=out, keys=keys)
    if keys or out is None:
        raise UsageError("--key goes into a table of answers; give one with -o OUT.csv")
    if _names_folder(out):
        make_folder(out)
    files = solution_paths(out, num_queries)
    for file in files[:1]:  # the others are its neighbours
        check_writable(str(file))
    for file in files:
        check_no_input(str(file), read)
    return Place(files)


def solution_paths(out: str, count: int) -> list[Path]:
    """One file per query: OUT itself for one, OUT with a number for many, numbered files in a directory."""
    check_named(out)
    place = Path(out)
    if place.is_dir() or _names_folder(out):
        return [place / f"{query}.MPE" for query in range(count)]
    if count == 1:
        return [place]
    return [place.with_name(_numbered(place, query)) for query in range(count)]


def _names_folder(out: str) -> bool:
    """Is it spelled as a folder, which is made if it is not there?"""
    return out.endswith(("/", os.sep))


def _numbered(place: Path, query: int) -> str:
    """The number goes before the suffix: a.MPE -> a.0.MPE, a.MPE.gz -> a.0.MPE.gz."""
    suffix = place.suffix
    if suffix.lower() in COMPRESSIONS:
        suffix = Path(place.stem).suffix + suffix
    return f"{place.name.removesuffix(suffix)}.{query}{suffix}"
