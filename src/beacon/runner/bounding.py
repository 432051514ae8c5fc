"""The upper bound of a query while it is searched: how much time it gets, and when it ends the search."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import tolerance_of
from beacon.engine.floored import floored_scores
from beacon.exact.bound import Bound
from beacon.exact.plan import MAX_ENTRIES
from beacon.exact.solve import SolvedParts
from beacon.runner.known import ENTRIES_PER_SECOND, Effort
from beacon.runner.result import Outcome
from beacon.runner.search import Search
from beacon.runner.stop import Stop, perf_counter

FIRST_SHARE = 0.05  # of the time
MIN_SHARE, MAX_SHARE = 0.02, 0.5
KEEPS_SHARE = 0.4  # a level that closes this part of the gap keeps its share; six of them close nearly all
NEARLY_ALL = 20  # exponent: a bound that has closed 0.9 of its first gap counts 0.9 ** 20 = 0.12
SETUP_SECONDS = 2e-7  # for each table entry of what is left
SECONDS_PER_ENTRY = 1.5e-7  # of the clusters of a level, for enough passes to be of use
TIME_LEFT_SHARE = 0.5  # of the time that is left, for a level or an elimination
DEFAULT_VISITS = 5e6  # of table entries by messages, where there is no time limit; a few dozen milliseconds
MIN_PASSES, MAX_PASSES = 20, 1000
DEFAULT_CLUSTERS = 1 << 16  # entries of clusters, likewise


class Bounding:
    """What becomes known about a query while it is searched: an upper bound, and the best of both.

    Without a time limit the bound is computed before the search, so that the result is the same on every
    machine. With one the two take turns. Whenever its messages stall, the bound's share of the time grows if
    they have closed much of the gap since the last stall, and shrinks if they have not. A bound that has
    closed nearly all of its first gap gets more time when the search finds nothing better for long.
    """

    def __init__(self, solved: SolvedParts, effort: Effort) -> None:
        self.solved, self.effort = solved, effort
        self.upper_bound, self.slack = math.inf, 0.0
        self.assignment: NDArray[np.int64] | None = None
        """The best assignment known that has no zero factors, with eliminated variables at their best."""
        self.score = -math.inf
        self.events: list[tuple[float, float]] = []
        self._bound: Bound | None = None
        self._spent, self._share = 0.0, FIRST_SHARE
        self._first_gap = self._gap = math.inf
        self._num_stalls = 0
        self._heard = -math.inf

    @property
    def is_impossible(self) -> bool:
        """Is it proved that every assignment has probability zero?"""
        return self.solved.is_impossible or self.upper_bound == -math.inf

    @property
    def limit(self) -> float:
        """The score at which a search for the best assignment may stop; none for the impossible."""
        return math.inf if self.is_impossible else self.upper_bound

    def before(self, seconds: float) -> None:
        """The bound's turn before a search without a time limit; ``seconds`` is when it begins."""
        entries = self._num_entries
        if not (self.effort.is_timed or self.solved.is_impossible):
            began = perf_counter()
            self._bound = Bound(self.solved, self.solved.seed, DEFAULT_CLUSTERS, clock=perf_counter)
            self._bound.run(passes=int(min(max(DEFAULT_VISITS / max(1, entries), MIN_PASSES), MAX_PASSES)))
            self._note(self._bound, seconds + perf_counter() - began)

    def turn(self, search: Search, stop: Stop) -> str | None:
        """Let the bound have its turn if it is due, and say why to stop the search, if so."""
        if not self.effort.is_timed or self.solved.is_impossible:
            return None
        left = self.effort.seconds - search.seconds
        expected = SETUP_SECONDS * self._num_entries if self._bound is None else self._bound.next_seconds
        may_have_spent = self._share_of_time(search.idle_share) * search.seconds
        due = expected <= min(may_have_spent - self._spent, TIME_LEFT_SHARE * left)
        if not due or (self._bound is not None and self._bound.is_finished):
            return None
        began = perf_counter()
        self._hear(search)
        self._advance(left)
        spent = perf_counter() - began
        self._spent += spent
        assert self._bound is not None
        self._note(self._bound, search.seconds + spent)
        search.lower(self.limit, self.slack)
        return self._reason(stop)

    def completed(self, outcome: Outcome) -> Outcome:
        """A search's outcome with what the bound and its assignments add."""
        began = perf_counter()
        outcome = replace(outcome, trace=outcome.trace.not_before(outcome.setup_seconds))
        if self.is_impossible:
            return outcome.as_impossible()
        self._offer(self.solved.complete(outcome.assignment))
        seconds = outcome.seconds + perf_counter() - began
        trace = outcome.trace.with_bounds(self.events)
        if self._beats(outcome) and self.assignment is not None:
            trace = trace.with_event(outcome.steps, seconds, self.score)
            outcome = replace(outcome, assignment=self.assignment, score=self.score, zero_factors=0)
        outcome = replace(outcome, trace=trace, seconds=seconds)
        if outcome.zero_factors == 0 and outcome.score >= self.upper_bound - self.slack:
            return replace(outcome, proof="bound", stop="optimal", upper_bound=self.upper_bound)
        return outcome

    @property
    def _num_entries(self) -> int:
        return int(self.solved.tables.counts[2])

    @property
    def _tolerance(self) -> float:
        return tolerance_of(self.solved.reduced.model)

    def _share_of_time(self, idle_share: float) -> float:
        """The bound's share of the time, beside a search that has found nothing in this part of its steps."""
        gap = self.upper_bound - self.score
        closed = 1 - gap / self._first_gap if gap < self._first_gap < math.inf else 0.0
        return max(self._share, MAX_SHARE * idle_share * closed**NEARLY_ALL)

    def _beats(self, outcome: Outcome) -> bool:
        gain = self.score - outcome.score
        return self.score > -math.inf and (outcome.zero_factors > 0 or gain > self._tolerance)

    def _advance(self, left: float) -> None:
        """One step of the bound, with what the time that is left can pay for."""
        seconds = TIME_LEFT_SHARE * left
        max_entries = int(min(MAX_ENTRIES, seconds / SECONDS_PER_ENTRY))
        if self._bound is None:
            self._bound = Bound(self.solved, self.solved.seed, max_entries, clock=perf_counter)
            self._bound.max_order_work = self.effort.caps.order_work
            self._first_gap = self._gap = self._bound.upper_bound - self.score
            return
        bound = self._bound
        bound.max_entries, bound.max_work = max_entries, seconds * ENTRIES_PER_SECOND
        bound.step(best=self.score)
        if bound.num_stalls > self._num_stalls or bound.is_finished:
            self._offer(bound.decoded())
            self._adapt_share(bound)

    def _adapt_share(self, bound: Bound) -> None:
        """A larger share for a bound that moves, a smaller one for one that does not."""
        gap = bound.upper_bound - self.score
        closed = 1 - gap / self._gap if 0 < self._gap < math.inf else 0.0
        self._gap, self._num_stalls = gap, bound.num_stalls
        self._share = min(max(self._share * (closed / KEEPS_SHARE) ** 3, MIN_SHARE), MAX_SHARE)

    def _hear(self, search: Search) -> None:
        """Take over what the search has found."""
        if search.best_zeros == 0 and search.best_score > self._heard:
            self._heard = search.best_score
            self._offer(self.solved.complete(search.best_assignment))

    def _offer(self, assignment: NDArray[np.int32]) -> None:
        """Take an assignment if it is possible and better."""
        offered = assignment.astype(np.int64)
        model = self.solved.reduced.model
        (score,), (zeros,) = (column.tolist() for column in floored_scores(model, offered[None]))
        if zeros == 0 and score > self.score:
            self.assignment, self.score = offered, score

    def _note(self, bound: Bound, seconds: float) -> None:
        if bound.upper_bound < self.upper_bound:
            self.upper_bound, self.slack = bound.upper_bound, max(self._tolerance, 2 * bound.slack)
            self.events.append((seconds, self.upper_bound))

    def _reason(self, stop: Stop) -> str | None:
        """Why the search need not go on."""
        if self.is_impossible:
            return "impossible"
        if self.score >= self.upper_bound - self.slack:
            return "optimal"
        if self.score >= stop.target:
            return "target"
        return "gap" if stop.gap > 0 and self.score >= self.upper_bound - stop.gap else None
