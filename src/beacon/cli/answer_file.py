"""A solution file that holds the best answer known at any moment, whenever the process may be killed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.formats import write_solution
from beacon.model.factors import counted, starts_of
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search


class Quality(NamedTuple):
    """How good an assignment is: fewer zero factors first, then the score of the other factors."""

    possible: int
    """Minus the number of zero factors."""
    score: float


class AnswerFile:
    """Writes answers from a thread of its own, so that the search need not wait for the disk.

    Each answer replaces the one before in one step; those that are overtaken while one is being written are
    left out.
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
            except Exception as error:  # the search is to hear of it
                self._error = error
                return
            self._written = answer

    def _next(self) -> NDArray[np.int64] | None:
        """The best answer once it is not on disk; None when there will be no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self.best is not self._written)
            return self.best if self.best is not self._written else None


def quality_of(model: GraphicalModel, assignment: NDArray[np.int64]) -> Quality:
    """The quality of an assignment, from the model itself."""
    logs = model.log_potentials(assignment)
    is_zero = np.isneginf(logs)
    return Quality(-int(is_zero.sum()), float(logs[~is_zero].sum()))


def simple_answer(model: GraphicalModel, evidence: Mapping[int, int]) -> NDArray[np.int64]:
    """Every variable at the value that its own factors favour: there before any search could be."""
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
