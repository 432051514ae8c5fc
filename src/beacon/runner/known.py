"""What can be known about a query before it is searched: parts solved exactly.

How much is computed follows from the sizes of tables, not from a clock, so that a query by steps has the same
result on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.exact.at_once import Caps
from beacon.exact.plan import MAX_ENTRIES, MAX_WORK, Plan, plan
from beacon.exact.solve import SolvedParts, solve_parts
from beacon.model.flat import Fixed, FlatModel, as_fixed
from beacon.reduce.query import ReducedQuery, reduce_query
from beacon.runner.result import Outcome
from beacon.runner.search import Trace
from beacon.runner.stop import perf_counter

MAX_SHARE = 0.5  # of the time limit, for elimination; of a part's share of it where others are searched
OVERHEAD_SHARE = 0.05  # each, at most, for reducing, for ordering and for finding impossible values
ENTRIES_PER_SECOND = 1e8  # that elimination sums
JOIN_SECONDS = 3e-5  # to look for impossible values, for each factor
REDUCE_SECONDS = 1e-7  # for each table entry of the model, orders and tables included
DEFAULT_SECONDS = 1.0  # what a query without a time limit may take as far as tables go


class Effort(NamedTuple):
    """How much may be spent on knowing."""

    seconds: float = DEFAULT_SECONDS
    """The time limit of the query."""
    is_timed: bool = False
    """Is there one? Else what is done must be the same on every machine."""

    @classmethod
    def within(cls, seconds: float) -> Effort:
        """What a time limit leaves; infinity: there is none."""
        return cls(seconds, is_timed=True) if seconds < math.inf else cls()

    @property
    def max_work(self) -> float:
        """Entries that the elimination of a whole query may sum."""
        return MAX_SHARE * self.seconds * ENTRIES_PER_SECOND

    @property
    def caps(self) -> Caps:
        """The same for an elimination that leaves nothing to search."""
        entries = min(float(MAX_ENTRIES), 1.5 * self.max_work)  # summing a table takes its entries, or more
        return Caps(entries, self.max_work, min(MAX_WORK, 1e9 * OVERHEAD_SHARE * self.seconds))

    def pays_to_reduce(self, model: FlatModel) -> bool:
        """Is reducing the query cheap against the time limit?"""
        seconds = REDUCE_SECONDS * model.num_entries
        return not self.is_timed or seconds <= OVERHEAD_SHARE * self.seconds


def proved(
    assignment: NDArray[np.integer], score: float, method: str, began: float, spent_seconds: float
) -> Outcome:
    """The outcome of a query whose best assignment elimination has found."""
    seconds, zero = perf_counter() - began, np.zeros(1, dtype=np.int64)
    return Outcome(
        assignment=assignment.astype(np.int64, copy=False),
        score=score,
        zero_factors=0,
        trace=Trace(zero, np.array([seconds]), np.array([score]), zero),
        steps=0,
        seconds=seconds,
        setup_seconds=spent_seconds,
        stop="optimal",
        method=method,
        upper_bound=score,
        proof="elimination",
    )


def know(model: FlatModel, evidence: Mapping[int, int] | Fixed, effort: Effort, seed: int) -> SolvedParts:
    """Reduce a query and solve the parts that are cheap.

    Where some are not and there are zeros, values that are impossible are looked for first: a query without
    them is often far cheaper to solve. If it is not, bounds do better with all values.
    """
    given = as_fixed(evidence, model.num_variables)
    reduced = reduce_query(model, given)
    prospect, is_cheap = _prospect(reduced, effort, seed)
    if not is_cheap.all() and _pays_to_join(reduced, effort):
        from beacon.exact.value_bounds import impossible_moves  # noqa: PLC0415 - few queries need it

        impossible = impossible_moves(reduced, seed, effort.caps.order_work)
        if impossible.any():
            fewer = reduce_query(model, given, impossible)
            its_prospect, its_cheap = _prospect(fewer, effort, seed)
            if its_cheap.all():
                reduced, prospect, is_cheap = fewer, its_prospect, its_cheap
    return solve_parts(reduced, prospect, is_cheap, seed)


def _pays_to_join(reduced: ReducedQuery, effort: Effort) -> bool:
    """Are there zeros to pass on, and is that cheap against the time limit?"""
    num_factors, _, num_entries = reduced.tables.counts.tolist()
    is_cheap = JOIN_SECONDS * num_factors <= OVERHEAD_SHARE * effort.seconds
    return is_cheap and bool(np.isneginf(reduced.tables.table[:num_entries]).any())


def _prospect(reduced: ReducedQuery, effort: Effort, seed: int) -> tuple[Plan, NDArray[np.bool_]]:
    """What solving the parts would cost, and [parts] which of them are cheap."""
    prospect = plan(reduced, seed, effort.caps.entries, effort.caps.order_work)
    return prospect, _cheap_parts(prospect, np.diff(reduced.part_starts), effort)


def _cheap_parts(prospect: Plan, sizes: NDArray[np.int32], effort: Effort) -> NDArray[np.bool_]:
    """[parts] all if they are cheap together, else those that are, by the time a search would give to each.

    A search shares its time between the variables: a part of a few is soon solved by it, too.
    """
    if prospect.work.sum() <= effort.max_work:
        return np.ones(len(prospect.work), dtype=np.bool_)
    is_cheap: NDArray[np.bool_] = prospect.work <= effort.max_work * sizes / sizes.sum()
    return is_cheap
