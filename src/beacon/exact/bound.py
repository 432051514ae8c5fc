"""An upper bound on a query's best score that falls with time: larger clusters once smaller ones stall."""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.exact.clusters import Clusters, mini_buckets, single_factors
from beacon.exact.level import Level
from beacon.exact.plan import MAX_ENTRIES, plan
from beacon.exact.solve import SolvedParts

CLUSTER_ENTRIES = (0, 64, 1024, 16_384, 65_536, 262_144)  # largest tables of the levels; 0: single factors
PASSES_PER_LOOK = 4  # passes between two values of the bound
STALL = 1e-6  # a fall by less than this share of the bound, from look to look, is none


class Bound:
    """An upper bound on the best score of a query, never below it, rounding included.

    Parts that are solved count with their optimum, open parts with what :meth:`run` has reached. It begins
    with each factor by itself, which takes little time, and goes on to larger tables when the bound has
    stopped falling. The bound never rises.

    Attributes
    ----------
    upper_bound
        No assignment has a higher score; -inf is a proof that none is possible.
    num_passes
        Passes of messages so far.
    slack
        By how much rounding may have raised the bound: a smaller gap cannot be told from none.
    is_finished
        Has the bound stopped falling at the last level, or is there nothing left to bound?
    """

    def __init__(self, solved: SolvedParts, seed: int = 0, max_entries: int = MAX_ENTRIES) -> None:
        self.solved = solved
        self.num_passes = 0
        self._max_entries = max_entries
        reduced = solved.reduced
        self._is_open = np.repeat(~solved.is_solved, np.diff(reduced.part_starts))
        self._seed = seed
        self._order: NDArray[np.int32] | None = None
        self._levels = list(CLUSTER_ENTRIES[1:])
        self._level = Level(solved, single_factors(solved.tables, reduced.members[self._is_open]))
        self.upper_bound, self.slack = self._level.last_value, self._level.last_slack
        self.is_finished = solved.is_complete or self.upper_bound == -math.inf

    def run(self, passes: int | None = None, seconds: float | None = None, best: float = -math.inf) -> float:
        """Pass messages this many times or for about this long; return the bound.

        At least a few passes are made; it ends early where nothing more can be done, or where the bound has
        come down to ``best``, the score of an assignment. Give it: without it, more and more work goes into
        a bound that is tight already.
        """
        if passes is None and seconds is None:
            raise UsageError("a bound runs for a number of passes or of seconds; found neither")
        end = perf_counter() + (math.inf if seconds is None else seconds)
        left = math.inf if passes is None else passes
        while left > 0 and not self.is_finished and not self.proves(best):
            count = int(min(left, PASSES_PER_LOOK))
            self._advance(count)
            left -= count
            if perf_counter() >= end:
                break
        return self.upper_bound

    def proves(self, score: float) -> bool:
        """Is an assignment with this score optimal, up to what rounding hides?"""
        return self.upper_bound - score <= 2 * self.slack

    def decoded(self) -> NDArray[np.int32]:
        """A complete assignment read off the messages; often the optimum where the bound is tight."""
        return self._level.decoded()

    def _advance(self, passes: int) -> None:
        """Some passes at this level; the next one where they change nothing."""
        level, before = self._level, self._level.last_value
        level.run(passes)
        self.num_passes += passes
        value = level.value()
        if value < self.upper_bound:
            self.upper_bound, self.slack = value, level.last_slack
        if value == -math.inf:
            self.is_finished = True
        elif not before - value > STALL * max(1.0, abs(value)):
            self._climb()

    def _climb(self) -> None:
        """Go on to the next level that there is memory for; finished where there is none."""
        clusters = None
        while clusters is None and self._levels:
            clusters = self._mini_buckets(self._levels.pop(0))
        if clusters is None:
            self.is_finished = True
        else:
            self._level = Level(self.solved, clusters)

    def _mini_buckets(self, max_table: int) -> Clusters | None:
        """The clusters of a level; None if they are too large, or the same as those before."""
        reduced, solved = self.solved.reduced, self.solved
        if self._order is None:
            prospect = plan(reduced, self._seed, math.inf, max_tries=2)
            if not np.isfinite(prospect.work[~solved.is_solved]).all():
                self._levels.clear()
                return None
            self._order = prospect.order[self._is_open]
        clusters = mini_buckets(solved.tables, self._order, max_table)
        return clusters if clusters.num_entries <= self._max_entries else None


def bound(solved: SolvedParts, seed: int = 0, max_entries: int = MAX_ENTRIES) -> Bound:
    """Bound what elimination has left open; ``max_entries`` caps the table entries made for it."""
    return Bound(solved, seed, max_entries)
