"""Queries that a guide is asked about once, all together: where it would begin, and its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from beacon.engine.floored import floored_scores
from beacon.guided.guidance import GuideUse
from beacon.guided.guide import EvidenceGuide, Guide, States
from beacon.guided.guided_start import starts_from_scores
from beacon.guided.moves import Moves
from beacon.model.evidence import observed_rows
from beacon.model.flat import FlatModel, as_fixed
from beacon.model.graphical_model import GraphicalModel
from beacon.model.ties import is_tie
from beacon.runner.search import Trace
from beacon.runner.stop import perf_counter, random_start

if TYPE_CHECKING:
    from beacon.runner.runner import Query

Rank = tuple[int, float]
"""Zero factors and floored score."""
Starts = Sequence[NDArray[np.int64] | None]
"""A start for each query; None: random."""


def scores_last(guide: Guide, use: GuideUse) -> bool:
    """Do a guide's first scores stay in use for good?"""
    return use.refresh == 0 or isinstance(guide, EvidenceGuide)


def crosses(guide: Guide, use: GuideUse) -> bool:
    """Are starts, or what becomes of them, crossed with the guide's opinions?"""
    has_any = getattr(guide, "has_opinions", False)
    return has_any and use.start != "random" and (use.opinions > 0 or use.later_share > 0)


def with_opinions(query: Query, flat: FlatModel, guide: Guide, use: GuideUse, seconds: float) -> Query:
    """A query with what its start is crossed with, as much as the time allows, and its best later.

    The nearest come first; those after them have the first turn later.
    """
    if not crosses(guide, use):
        return query
    from beacon.engine.cross import LaterOpinions, num_affordable, num_later  # noqa: PLC0415 - few have any

    count = int(min(use.opinions, num_affordable(flat, seconds)))
    share = use.later_share if use.start == "own" else 0.0  # other starts gained no more by it
    most_later = num_later(flat, share, seconds)
    if not count + most_later:
        return query
    fixed = as_fixed(query.evidence, flat.num_variables)
    rows = cast("EvidenceGuide", guide).opinions(np.maximum(fixed, 0), fixed >= 0, count + most_later)
    later = LaterOpinions(np.roll(rows, -count, axis=0), share) if most_later else None
    return replace(query, opinions=rows[:count], later=later)


def is_asked_first(guide: Guide, use: GuideUse) -> bool:
    """Is all that the guide is asked for known before the searches are at their starts?"""
    is_asked_once = scores_last(guide, use) and (use.start == "guide" or isinstance(guide, EvidenceGuide))
    return is_asked_once or not use.guidance.is_heeded


@dataclass(frozen=True, eq=False)
class ScoredStarts:
    """Where a guide would begin, and how good that is."""

    flat: FlatModel
    given: NDArray[np.int64] | None
    """[queries, variables] where it was asked: the best known until then. None: it did not look at them."""
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
        starts: Starts,
        seed: int,
    ) -> ScoredStarts:
        """Ask a guide about all queries at once, at the given starts, or at random ones."""
        began = perf_counter()
        given: NDArray[np.int64] | None = None
        if isinstance(guide, EvidenceGuide) and any(start is None for start in starts):
            fixed = [as_fixed(evidence, model.num_variables) for evidence in evidences]
            seen = np.maximum(np.array(fixed, dtype=np.int64), 0)  # the guide sees the evidence alone
        else:
            seen = given = given_starts(model, evidences, starts, seed)
        states = States(seen, observed_rows(evidences, model.num_variables))
        scores = guide.score(states)
        chosen = starts_from_scores(Moves.of(model), guide, scores, states)
        ranks = _ranks(flat, chosen)
        return cls(flat, given, chosen, scores, ranks, (perf_counter() - began) / max(1, len(chosen)))

    def trace(self, query: int, searched: Trace, setup_seconds: float) -> Trace:
        """The trace of a query's search, after what was known before it."""
        if self.given is None:  # nothing was known before
            return searched.not_before(setup_seconds)
        (given,) = _ranks(self.flat, self.given[query : query + 1])
        return _joined(given, self.ranks[query], self.seconds, searched, setup_seconds)


def given_starts(
    model: GraphicalModel, evidences: Sequence[dict[int, int]], starts: Starts, seed: int
) -> NDArray[np.int64]:
    """[queries, variables] the starts, random where none is given.

    A query's start depends on the model, its evidence, its given start and the seed alone.
    """
    pairs = zip(evidences, starts, strict=True)
    rows = [random_start(model, evidence, seed) if start is None else start for evidence, start in pairs]
    return np.array(rows, dtype=np.int64).reshape(len(rows), model.num_variables)


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
        trace.bound_seconds,
        trace.bounds,
    )
