"""An upper bound on a query's best score that falls with time: larger clusters once smaller ones stall."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from beacon.exact.clusters import Clusters, mini_buckets, single_factors
from beacon.exact.level import Level, reduction_slack
from beacon.exact.plan import MAX_ENTRIES, MAX_WORK, plan
from beacon.exact.solve import SolvedParts, solve_parts
from beacon.reduce.query import reduce_query

CLUSTER_ENTRIES = (0, 64, 1024, 16_384, 65_536, 262_144)  # largest tables of the levels; 0: single factors
PASSES_PER_LOOK = 4  # passes between two values of the bound
STALL = 1e-6  # a fall by less than this share of the bound, from look to look, is none
SLOW = 0.05  # nor is one by less than this share of the gap, where a score is known
GROWTH = 4  # how much longer the first passes of a larger level take, about
JOIN_SECONDS = 2e-5  # to find clusters, for each factor
MIN_REMOVED = 0.1  # of the values: begin again without them
MIN_REMOVED_AT_LAST = 0.01  # the same, where there are no larger clusters to go on to
MAX_ORDERS = 8  # of clusters, at the last level
DRIFT = 128  # times the slack: more than all that rounding can do to tables between two looks


class Bound:
    """An upper bound on the best score of a query, never below it, rounding included.

    Parts that are solved count with their optimum, open parts with what :meth:`run` has reached. It begins
    with each factor by itself, which takes little time, and goes on to larger tables when the bound has
    stopped falling. The bound never rises.

    The score of an assignment makes it faster: values that only worse assignments have are ruled out, and
    once there are enough of them the query is reduced anew without them, and eliminated where that has
    become cheap.

    Attributes
    ----------
    upper_bound
        No assignment has a higher score; -inf is a proof that none is possible.
    num_passes, num_stalls
        Passes of messages so far, and how often they have stalled.
    max_entries, max_work, max_order_work
        Caps on the entries of clusters, on what an elimination may sum, and on the search for an order of
        each (steps of about a nanosecond); they may be changed on the way.
    slack
        By how much rounding may have raised the bound: a smaller gap cannot be told from none.
    is_finished
        Has the bound stopped falling at the last level, or is there nothing left to bound?
    removed
        Moves of the model that only assignments no better than the best score have.
    solved
        The query as far as it is solved. Values that are ruled out are missing in it.
    """

    def __init__(
        self,
        solved: SolvedParts,
        seed: int = 0,
        max_entries: int = MAX_ENTRIES,
        max_work: float = 0.0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.solved = solved
        self.num_passes = 0
        self.best = -math.inf
        self.max_entries, self.max_work, self.max_order_work = max_entries, max_work, MAX_WORK
        self.num_stalls = 0
        self._seed, self._look_seconds, self._is_stalled = seed, 0.0, False
        self._given, self._clock = solved.reduced.fixed, clock
        self.removed = np.zeros(solved.reduced.model.num_moves, dtype=np.bool_)
        self._at, self._is_last, self._num_orders = 0, False, 0
        self.upper_bound, self.slack, self.is_finished = math.inf, 0.0, False
        self._begin(solved)

    def run(self, passes: int, best: float = -math.inf) -> float:
        """Pass messages this many times; return the bound.

        It ends early where nothing more can be done, or where the bound has come down to ``best``, the score
        of an assignment. Give it: without it, more and more work goes into a bound that is tight already, and
        no values are ruled out.
        """
        self.best = max(self.best, best)
        while passes > 0 and not self.is_finished and not self.proves(self.best):
            passes -= self.step(min(passes, PASSES_PER_LOOK))
        return self.upper_bound

    def step(self, passes: int = PASSES_PER_LOOK, best: float = -math.inf) -> int:
        """A few passes, or where they have stalled something else; return how many passes were made."""
        self.best = max(self.best, best)
        if self.is_finished or self.proves(self.best):
            return 0
        if self._is_stalled:
            self._is_stalled = False
            self._go_on()
            return 0
        began, level, before = self._clock(), self._level, self._level.last_value
        level.run(passes, before - self.best + DRIFT * level.last_slack)
        self.num_passes += passes
        value = level.value()
        self._lower(value, level.last_slack)
        least = STALL * max(1.0, abs(value))
        if self.best > -math.inf and not self._is_last:
            least = max(least, SLOW * (value - self.best))
        self._is_stalled = not before - value > least
        self.num_stalls += self._is_stalled
        self._look_seconds = self._clock() - began
        return passes

    @property
    def next_seconds(self) -> float:
        """About how long the next step takes, from how long the last one took."""
        if not self._is_stalled:
            return self._look_seconds
        return GROWTH * self._look_seconds + JOIN_SECONDS * len(self._level.clusters.factors)

    def proves(self, score: float) -> bool:
        """Is an assignment with this score optimal, up to what rounding hides?"""
        return self.upper_bound - score <= 2 * self.slack

    def decoded(self) -> NDArray[np.int32]:
        """A complete assignment read off the messages; often the optimum where the bound is tight."""
        return self.solved.complete() if self.solved.is_complete else self._level.decoded()

    def _lower(self, value: float, slack: float) -> None:
        """Take a bound on all that has not been ruled out; the rest is no better than the best score."""
        if value == -math.inf:
            self.is_finished = True
        if self.best > -math.inf:
            slack = max(slack, reduction_slack(self.solved.reduced))
            value = max(value, self.best + slack)
        if value < self.upper_bound:
            self.upper_bound, self.slack = value, slack

    def _begin(self, solved: SolvedParts) -> None:
        """Go on with a query as far as it is solved, at the level where the bound is."""
        self.solved = solved
        self._is_open = np.repeat(~solved.is_solved, np.diff(solved.reduced.part_starts))
        self._order: NDArray[np.int32] | None = None
        clusters = None if solved.is_complete else self._clusters(self._at)
        self._enter(clusters or self._single_factors())
        self.is_finished |= solved.is_complete

    def _enter(self, clusters: Clusters) -> None:
        self._level = Level(self.solved, clusters)
        self._lower(self._level.last_value, self._level.last_slack)

    def _go_on(self) -> None:
        """Without the values ruled out where they are many, else with larger clusters or another order."""
        is_living = self._level.living()
        if is_living.mean() <= 1 - (MIN_REMOVED_AT_LAST if self._is_last else MIN_REMOVED):
            self._begin(self._without(~is_living))
        elif not self._is_last:
            self._climb()
        elif self._num_orders < MAX_ORDERS and self._at > 0:
            self._num_orders += 1
            self._seed, self._order = self._seed + 1, None
            self._enter(self._clusters(self._at) or self._single_factors())
        else:
            self.is_finished = True

    def _without(self, is_dead: NDArray[np.bool_]) -> SolvedParts:
        """The query without some values, and solved where that is cheap now."""
        reduced = self.solved.reduced
        self.removed |= reduced.moves_of(is_dead)
        fewer = reduce_query(reduced.model, self._given, self.removed)
        prospect = plan(fewer, self._seed, self.max_entries, self.max_order_work)
        is_cheap = prospect.cheapest(self.max_work)
        return solve_parts(fewer, prospect, is_cheap, self._seed, self.max_entries)

    def _climb(self) -> None:
        """On to the next level; where there is no memory for it, this one is the last."""
        clusters = self._clusters(self._at + 1) if self._at + 1 < len(CLUSTER_ENTRIES) else None
        if clusters is None:
            self._is_last = True
        else:
            self._at += 1
            self._enter(clusters)

    def _clusters(self, at: int) -> Clusters | None:
        """The clusters of a level; None if they are too large, or no order for them is found."""
        reduced, solved = self.solved.reduced, self.solved
        if at == 0:
            return self._single_factors()
        if self._order is None:
            prospect = plan(reduced, self._seed, math.inf, self.max_order_work, max_tries=2)
            if not np.isfinite(prospect.work[~solved.is_solved]).all():
                return None
            self._order = prospect.order[self._is_open]
        clusters = mini_buckets(solved.tables, self._order, CLUSTER_ENTRIES[at])
        return clusters if clusters.num_entries <= self.max_entries else None

    def _single_factors(self) -> Clusters:
        return single_factors(self.solved.tables, self.solved.reduced.members[self._is_open])
