"""One problem of a UAI competition, with the best answer known on disk at any moment."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.cli import stopped_by_signals, told_by_signals
from beacon.cli.console import note
from beacon.cli.ending import Deadline, TimeUpError, timed_out_at
from beacon.errors import UsageError
from beacon.formats import read_evidence, read_model, write_solution
from beacon.model.factors import counted, starts_of
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.result import Result
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime
from beacon.runner.warm_up import warm_up_exact, warm_up_joining, warm_up_long_way, warm_up_search
from beacon.solver import solve
from beacon.strategies.strategy import make_strategy

BLANKS = 1 << 16  # bytes of white space that may stand for an empty file


def solve_for_competition(
    model_file: str, evidence_file: str, path: Path, seed: int, deadline: Deadline, quiet: bool
) -> dict[str, Any]:
    """Search until the deadline, with the best answer so far in the file; what came of it."""
    model = read_model(model_file)
    evidence = _evidence(evidence_file, model)
    began, result, stop = perf_counter(), None, "interrupted"
    first = simple_answer(model, evidence)
    with told_by_signals() as cancelled, AnswerFile(path, first, quality_of(model, first)) as answer:
        deadline.reserve(perf_counter() - began)
        try:
            result = _searched(model, evidence, seed, deadline, answer, cancelled)
        except KeyboardInterrupt:
            if not quiet:
                note("interrupted before the search; the answer is a simple one")
        except TimeUpError:
            stop = "seconds"
            if not quiet:
                note("the time was up before the search kernels were loaded; the answer is a simple one")
    return _summary(path, model, answer, result, seed, stop)


def _evidence(file: str, model: GraphicalModel) -> dict[int, int]:
    """The one query of a file; a file without a word in it observes nothing."""
    if file in ("", "-"):
        return {}
    if os.path.isfile(file):
        with open(file, "rb") as opened:
            if not opened.read(BLANKS).strip():
                return {}
    queries = read_evidence(file, model)
    if len(queries) != 1:
        raise UsageError(f"{file} holds {len(queries)} queries; expected one: `beacon solve` takes several")
    return queries[0]


def _searched(
    model: GraphicalModel,
    evidence: dict[int, int],
    seed: int,
    deadline: Deadline,
    answer: AnswerFile,
    cancelled: Event,
) -> Result:
    strategy = make_strategy("auto")
    with timed_out_at(deadline), stopped_by_signals():
        warm_up_joining()  # a solve leaves out of its time what it has to load: here every moment counts
        warm_up_exact()
        warm_up_long_way()
        warm_up_search(strategy, compile_model(model))
    stop = MaxRuntime(deadline.seconds_left)
    result = solve(
        model,
        evidence,
        strategy=strategy,
        stop=stop,
        seed=seed,
        on_improvement=answer.hear,
        cancelled=cancelled,
    )
    others = result.floored_log_score - result.zero_factors * result.log_zero
    answer.offer(result.assignment, Quality(-result.zero_factors, others))
    return result


def _summary(
    path: Path, model: GraphicalModel, answer: AnswerFile, result: Result | None, seed: int, stop: str
) -> dict[str, Any]:
    is_last = result is not None and answer.best is result.assignment
    log_score = result.log_score if result and is_last else model.log_score(answer.best)
    return {
        "out": str(path),
        "log_score": log_score if math.isfinite(log_score) else None,
        "zero_factors": -answer.quality.possible,
        "steps": result.steps if result else 0,
        "seconds": result.seconds if result else 0.0,
        "method": result.method if result else "",
        "seed": seed,
        "stop": result.stop if result else stop,
    }


class Quality(NamedTuple):
    """How good an assignment is: fewer zero factors first, then the score of the other factors."""

    possible: int
    """Minus the number of zero factors."""
    score: float


class AnswerFile:
    """Writes answers from a thread of its own, so that the search need not wait for the disk.

    Each answer replaces the one before in one step. Of those that come while one is being written, only the
    best is written next.
    """

    def __init__(self, path: Path, first: NDArray[np.int64], quality: Quality) -> None:
        """Write a first answer at once."""
        self._path = path
        self.best, self.quality = first, quality
        write_solution(path, first)
        self._written = first
        self._changed = threading.Condition()
        self._closed = False
        self._error: Exception | None = None
        self._writer = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> AnswerFile:
        self._writer.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Wait until the best answer is on disk."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._writer.join()
        if self._error is not None and kind is None:
            raise self._error

    def hear(self, search: Search) -> None:
        """Take over what a search has found, if it is better; called from the search's own thread."""
        zeros = search.best_zeros
        quality = Quality(-zeros, search.best_score - zeros * search.model.log_zero)
        if quality > self.quality:
            self.offer(search.best_assignment, quality)

    def offer(self, assignment: NDArray[np.int64], quality: Quality) -> None:
        """Take over an assignment if it is better than the best; raise if an earlier one was not written."""
        with self._changed:
            if self._error is not None:
                raise self._error
            if quality > self.quality:
                self.best, self.quality = assignment, quality
                self._changed.notify()

    def _write(self) -> None:
        while (answer := self._next()) is not None:
            try:
                write_solution(self._path, answer)
            except Exception as error:  # it is raised in the thread of the search
                self._error = error
                return
            self._written = answer

    def _next(self) -> NDArray[np.int64] | None:
        """Wait for an answer that is not on disk yet; None when no more will come."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self.best is not self._written)
            return self.best if self.best is not self._written else None


def quality_of(model: GraphicalModel, assignment: NDArray[np.int64]) -> Quality:
    """The quality of an assignment, from the model itself."""
    logs = model.log_potentials(assignment)
    is_zero = np.isneginf(logs)
    return Quality(-int(is_zero.sum()), float(logs[~is_zero].sum()))


def simple_answer(model: GraphicalModel, evidence: Mapping[int, int]) -> NDArray[np.int64]:
    """Every variable at the value that its own factors favour: known at once, before any search."""
    factors, sizes = model.factors, model.domain_sizes
    starts, single = starts_of(sizes), np.flatnonzero(factors.arities == 1)
    variables = factors.variables[factors.scope_starts[single]]
    within = counted(sizes[variables])
    totals = np.zeros(starts[-1])
    entries = np.repeat(factors.bases[single], sizes[variables]) + within
    np.add.at(totals, np.repeat(starts[variables], sizes[variables]) + within, factors.log_table[entries])
    tops = np.maximum.reduceat(totals, starts[:-1]) if len(sizes) else totals
    best = np.flatnonzero(totals == np.repeat(tops, sizes))
    owners, first = np.unique(np.searchsorted(starts, best, side="right") - 1, return_index=True)
    answer = best[first] - starts[owners]
    answer[list(evidence)] = list(evidence.values())
    return answer
