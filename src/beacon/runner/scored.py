"""Queries that a guide is asked about once, all together; after that each search is on its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.floored import floored_scores
from beacon.guided.evidence_guide import EvidenceGuide
from beacon.guided.guide import Guide, States
from beacon.guided.guided_start import starts_from_scores
from beacon.guided.moves import Moves
from beacon.guided.use import GuideUse
from beacon.model.evidence import observed_rows
from beacon.model.flat import FlatModel
from beacon.model.graphical_model import GraphicalModel
from beacon.model.ties import is_tie
from beacon.reduce.propagate import fixed_values
from beacon.runner.search import Search
from beacon.runner.start import Start, first_assignments, random_start
from beacon.runner.stop import Stop
from beacon.runner.trace import Trace
from beacon.strategies.strategy import Strategy

Rank = tuple[int, float]
"""Zero factors and floored score."""


def given_starts(
    model: GraphicalModel, evidences: Sequence[dict[int, int]], start: Start, seed: int
) -> NDArray[np.int64]:
    """[queries, variables] the starts, random where none is given.

    A query's start depends on the model, its evidence, its given start and the seed alone.
    """
    rows = zip(evidences, first_assignments(model, start, evidences), strict=True)
    starts = [random_start(model, evidence, seed) if row is None else row for evidence, row in rows]
    return np.array(starts, dtype=np.int64).reshape(len(evidences), model.num_variables)


def guided_start(
    model: GraphicalModel, evidences: Sequence[dict[int, int]], guide: Guide, given: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Where the guide would begin, given starts, and the scores that say so."""
    states = States(given, observed_rows(evidences, model.num_variables))
    scores = guide.score(states)
    return starts_from_scores(Moves.of(model), guide, scores, states), scores


def scores_last(guide: Guide, use: GuideUse) -> bool:
    """Do a guide's first scores stay in use for good?"""
    return use.refresh == 0 or isinstance(guide, EvidenceGuide)


def is_asked_first(guide: Guide, use: GuideUse) -> bool:
    """Does the guide say all it has to say, if anything, with the start?"""
    return not use.guidance.is_heeded or (use.start == "guide" and scores_last(guide, use))


@dataclass(frozen=True, eq=False)
class ScoredStarts:
    """Where a guide would begin, and how good that is."""

    flat: FlatModel
    given: NDArray[np.int64]
    """[queries, variables] where it was asked: the best known until then."""
    starts: NDArray[np.int64]
    """[queries, variables] with the evidence in place, not yet what it implies."""
    scores: NDArray[np.float32]
    """[queries, moves] the guide's."""
    ranks: list[Rank]
    """[queries] how good the starts are."""
    seconds: float
    """A query's share of the time until that was known."""

    @classmethod
    def ask(
        cls,
        model: GraphicalModel,
        flat: FlatModel,
        evidences: Sequence[dict[int, int]],
        guide: Guide,
        given: NDArray[np.int64],
        began: float,
    ) -> ScoredStarts:
        """Ask a guide about all queries at once."""
        starts, scores = guided_start(model, evidences, guide, given)
        ranks = _ranks(flat, starts)
        return cls(flat, given, starts, scores, ranks, (perf_counter() - began) / max(1, len(starts)))

    def trace(self, query: int, searched: Trace, setup_seconds: float) -> Trace:
        """The trace of a query's search, after what was known before it."""
        (given,) = _ranks(self.flat, self.given[query : query + 1])
        return _joined(given, self.ranks[query], self.seconds, searched, setup_seconds)


def _ranks(flat: FlatModel, assignments: NDArray[np.int64]) -> list[Rank]:
    scores, zeros = floored_scores(flat, assignments)
    return list(zip(zeros.tolist(), scores.tolist(), strict=True))


def _is_ahead(one: Rank, other: Rank) -> bool:
    if one[0] != other[0]:
        return one[0] < other[0]
    return one[1] > other[1] and not is_tie(one[1], other[1])


def _joined(given: Rank, start: Rank, start_seconds: float, trace: Trace, setup_seconds: float) -> Trace:
    """A search's trace after the given start, at time 0, and the guide's, when its score was known.

    The guide's counts only as far as the search has it: what the evidence implies may have spoilt it.
    """
    first = (int(trace.zero_factors[0]), float(trace.scores[0]))
    if not _is_ahead(first, given):
        return trace
    is_early = _is_ahead(start, given) and not _is_ahead(start, first)
    rows = [(0.0, *given), (start_seconds, *start)] if is_early else [(0.0, *given)]
    seconds, zeros, scores = (np.array(column) for column in zip(*rows, strict=True))
    new = slice(0 if _is_ahead(first, (int(zeros[-1]), float(scores[-1]))) else 1, None)
    return Trace(
        np.append(np.zeros(len(rows), dtype=np.int64), trace.steps[new]),
        np.append(seconds, np.maximum(trace.seconds, setup_seconds)[new]),
        np.append(scores, trace.scores[new]),
        np.append(zeros, trace.zero_factors[new]),
    )


class LoneRun(NamedTuple):
    """What one search has left behind."""

    trace: Trace
    assignment: NDArray[np.int64]
    steps: int
    setup_seconds: float
    seconds: float
    """All of them, set-up included."""
    stop: str


@dataclass(frozen=True, eq=False)
class LoneSearches:
    """Searches of queries that need no guide any more: set up one by one, so that memory is used again."""

    flat: FlatModel
    evidences: Sequence[dict[int, int]]
    strategy: Strategy
    use: GuideUse
    given: NDArray[np.int64] | None
    """[queries, variables] where to begin if the guide was not asked; None: at random."""
    scored: ScoredStarts | None
    """What the guide had to say, if it was asked."""
    seed: int
    propagate: bool

    def run(self, stops: Sequence[Stop], threads: int) -> Iterator[LoneRun]:
        """Search every query until one stop after the other, as many at once as there are threads."""
        cancelled = threading.Event()
        with ThreadPoolExecutor(threads) as executor:
            queries = range(len(self.evidences))
            futures = [executor.submit(self._run_one, query, stops, cancelled) for query in queries]
            try:
                for future in futures:
                    yield future.result()
            finally:
                cancelled.set()
                executor.shutdown(wait=True, cancel_futures=True)

    def _run_one(self, query: int, stops: Sequence[Stop], cancelled: threading.Event) -> LoneRun:
        began = perf_counter()
        starts = self.given if self.scored is None else self.scored.starts
        start = None if starts is None else starts[query]
        fixed = fixed_values(self.flat, self.evidences[query], None, self.propagate)
        search = Search(self.flat, fixed, self.strategy, start, self.seed)
        setup = perf_counter() - began + (0.0 if self.scored is None else self.scored.seconds)
        search.charge(setup)
        scores = None if self.scored is None or not self.use.guidance.is_heeded else self.scored.scores[query]
        reason = "steps"
        for stop in stops:
            if reason in {"steps", "seconds"}:
                reason = search.run(stop, cancelled, None, scores, self.use.guidance)
        trace = search.trace if self.scored is None else self.scored.trace(query, search.trace, setup)
        return LoneRun(trace, search.best_assignment, search.steps, setup, search.seconds, reason)
