"""One search of one query: its state, its strategy, a loop that watches the clock, and its improvements."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.engine.core import new_core
from beacon.engine.incumbent import (
    EPSILON,
    OPTIMAL,
    RUNNING,
    STALLED,
    TARGET,
    Limits,
    first_best,
    save_all_best,
)
from beacon.model.flat import Fixed, FlatModel, as_fixed, place
from beacon.runner.stop import Stop, perf_counter
from beacon.strategies.strategy import Strategy

if TYPE_CHECKING:
    from beacon.engine.core import Begin
    from beacon.engine.cross import LaterOpinions
    from beacon.guided.advance import GuidedAdvance
    from beacon.guided.guidance import Guidance

CALL_SECONDS = 0.005  # how long a kernel may run before the clock and Ctrl-C are looked at
FIRST_WORK = 5000  # some tenths of a millisecond: a short search should not spend its time on calls
NO_LIMIT = np.iinfo(np.int64).max
REASONS = {OPTIMAL: "optimal", STALLED: "stalled"}


@dataclass(frozen=True)
class Trace:
    """The improvements of one search, the start first; one row each."""

    steps: NDArray[np.int64]
    seconds: NDArray[np.float64]
    scores: NDArray[np.float64]
    """Floored log scores. One that is lower than the one before has fewer zero factors, which count first."""
    zero_factors: NDArray[np.int64]
    bound_seconds: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """When each upper bound became known; empty where there was none."""
    bounds: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """The upper bounds, each lower than the one before."""

    def bound_after(self, seconds: ArrayLike) -> NDArray[np.float64]:
        """The upper bound known after this many seconds; infinite before the first."""
        num_known = np.searchsorted(self.bound_seconds, np.asarray(seconds), side="right")
        bounds: NDArray[np.float64] = np.append(np.inf, self.bounds)[num_known]
        return bounds

    def with_bounds(self, events: Sequence[tuple[float, float]]) -> Trace:
        """The same with the times and values of an upper bound."""
        seconds, bounds = np.array(events, dtype=np.float64).reshape(-1, 2).T
        return replace(self, bound_seconds=seconds, bounds=bounds)

    def with_event(self, step: int, seconds: float, score: float, zeros: int = 0) -> Trace:
        """The same with one more improvement."""
        return replace(
            self,
            steps=np.append(self.steps, step),
            seconds=np.append(self.seconds, seconds),
            scores=np.append(self.scores, score),
            zero_factors=np.append(self.zero_factors, zeros),
        )

    def not_before(self, seconds: float) -> Trace:
        """A trace whose start, good as it may be, was not there earlier than this."""
        return replace(self, seconds=np.maximum(self.seconds, seconds))

    def best_at(self, steps: ArrayLike) -> NDArray[np.float64]:
        """The best floored score known after this many steps, exactly; before the first, the start's."""
        return self._best(np.searchsorted(self.steps, np.asarray(steps), side="right"))

    def best_after(self, seconds: ArrayLike) -> NDArray[np.float64]:
        """The best floored score known after this many seconds (times are exact to a few milliseconds)."""
        return self._best(np.searchsorted(self.seconds, np.asarray(seconds), side="right"))

    def _best(self, num_known: ArrayLike) -> NDArray[np.float64]:
        """The score of the last improvement of those known; there is always the start."""
        scores: NDArray[np.float64] = self.scores[np.maximum(np.asarray(num_known) - 1, 0)]
        return scores

    def __len__(self) -> int:
        """Number of improvements, the start included."""
        return len(self.steps)


class Search:
    """One search. :meth:`run` may be called again and again; the search goes on where it stopped."""

    def __init__(
        self,
        model: FlatModel,
        evidence: Mapping[int, int] | Fixed,
        strategy: Strategy,
        start: NDArray[np.int64] | None = None,
        seed: int = 0,
        begin: Begin | None = None,
        opinions: NDArray[np.integer] | None = None,
        later: LaterOpinions | None = None,
    ) -> None:
        """Begin at ``start``, or as ``begin`` or the strategy says; ``evidence`` may not be changed.

        The beginning is crossed with ``opinions``, other assignments, a row each; ``later`` ones are for the
        strategy to cross its best with.
        """
        fixed = as_fixed(evidence, model.num_variables)
        self.model = model
        self.strategy = strategy.fitted(model)
        self.upper_bound = self._optimal_from = math.inf
        self.seconds = 0.0
        self.core = new_core(model, fixed, seed, flips=strategy.flips)
        if start is None:
            (begin or self.strategy.begin)(model, self.core)
        else:
            self.core.assignment[:] = place(fixed, start)
        if opinions is not None and len(opinions):
            from beacon.engine.cross import cross_opinions  # noqa: PLC0415 - few searches have any

            cross_opinions(model, self.core, opinions)
        self.own = self.strategy.new_state(model, self.core)
        if later is not None and len(later.rows):
            self.strategy.take_opinions(self.own, later)
        self.strategy.settle(model, self.core, self.own)
        first_best(self.core)
        self._events: list[tuple[NDArray[Any], ...]] = []
        """The columns of a trace, a part for each call of the kernel that has found something better."""
        self._work: dict[int, int] = {}
        """What the next call may do, by what is at work: one arm's work is not worth another's in time."""
        self._last_step, self._optima_then = -1, 0
        self._guided: GuidedAdvance | None = None
        self._is_guided = False
        self._fetch_events(0, 0.0, 0.0)

    @property
    def steps(self) -> int:
        """Steps made so far."""
        return int(self.core.counters[0]["steps"])

    @property
    def score(self) -> float:
        """Floored score of the current assignment."""
        finite = self.core.counters[0]["fixed_score"] + self.core.parts["score"].sum()
        return float(finite + self.zeros * self.model.log_zero)

    @property
    def zeros(self) -> int:
        """Zero factors of the current assignment."""
        return int(self.core.counters[0]["fixed_zeros"] + self.core.parts["zeros"].sum())

    @property
    def best_score(self) -> float:
        """Floored score of the best assignment."""
        return float(self.core.counters[0]["best_score"] + self.best_zeros * self.model.log_zero)

    @property
    def best_zeros(self) -> int:
        """Zero factors of the best assignment."""
        return int(self.core.counters[0]["best_zeros"])

    @property
    def idle_share(self) -> float:
        """The part of its steps that it has made since it last found something better."""
        return 1 - int(self.core.counters[0]["best_step"]) / max(1, self.steps)

    @property
    def least_bound(self) -> float:
        """The lowest upper bound known: the one given, or all factors at their maxima under the evidence."""
        return min(self.upper_bound, float(self.core.counters[0]["upper_bound"]))

    @property
    def best_assignment(self) -> NDArray[np.int64]:
        """The best assignment so far."""
        save_all_best(self.core)
        return self.core.best.astype(np.int64)

    @property
    def trace(self) -> Trace:
        """The improvements so far."""
        return Trace(*(np.concatenate(column) for column in zip(*self._events, strict=True)))

    def run(
        self,
        stop: Stop,
        cancelled: threading.Event | None = None,
        on_improvement: Callable[[Search], None] | None = None,
        scores: NDArray[np.float32] | None = None,
        guidance: Guidance | None = None,
        watch: Callable[[Search, Stop], str | None] | None = None,
    ) -> str:
        """Search until ``stop`` and say why it ended; its limits count from the search's beginning.

        ``scores`` are a guide's, one for each move; ``guidance`` says how they are heeded. ``watch`` is
        called every few milliseconds; it may say why to stop. ``on_improvement`` hears of better assignments
        and of better upper bounds.
        """
        began = perf_counter() - self.seconds
        self._heed(scores, guidance)
        while (reason := self._reason_to_stop(stop, cancelled)) is None:
            known = len(self._events)
            verdict = self._call_kernel(stop)
            self.seconds = perf_counter() - began
            if on_improvement and len(self._events) > known:
                on_improvement(self)
                self.seconds = perf_counter() - began
            if verdict != RUNNING:
                return self._met(stop) if verdict == TARGET else REASONS[verdict]
            if self._is_stuck():
                return "stalled"
            if watch is not None:
                bound, reason = self.upper_bound, watch(self, stop)
                if on_improvement and self.upper_bound < bound:
                    on_improvement(self)
                self.seconds = perf_counter() - began
                if reason is not None:
                    return reason
        return reason

    def lower(self, upper_bound: float, slack: float) -> None:
        """From now on no assignment without zero factors is known to have a score above ``upper_bound``.

        One that is no more than ``slack`` below it is optimal.
        """
        self.upper_bound, self._optimal_from = upper_bound, upper_bound - slack

    def charge(self, seconds: float) -> None:
        """Count time that was spent on this search elsewhere, such as a guide's."""
        self.seconds += seconds

    def _is_stuck(self) -> bool:
        """Have there been too many local optima since the last step?"""
        steps, optima = self.steps, int(self.core.counters[0]["local_optima"])
        if steps != self._last_step:
            self._last_step, self._optima_then = steps, optima
        return optima - self._optima_then > self.strategy.patience

    def _reason_to_stop(self, stop: Stop, cancelled: threading.Event | None) -> str | None:
        if not self.core.is_free.any():
            return "nothing to search"
        if self.steps >= stop.steps:
            return "steps"
        if self.seconds >= stop.seconds:
            return "seconds"
        if self.steps - self.core.counters[0]["best_step"] >= stop.idle_steps:
            return "no improvement"
        return "interrupted" if cancelled is not None and cancelled.is_set() else None

    def _target(self, stop: Stop) -> float:
        """The score of a feasible assignment at which to stop."""
        close_enough = self.least_bound - stop.gap if stop.gap > 0 else math.inf
        return float(min(stop.target, self._optimal_from, close_enough))

    def _met(self, stop: Stop) -> str:
        """Which of the scores to stop at has been met?"""
        # the mix adds up its score in another order
        best = max(self.best_score, self._target(stop)) + EPSILON
        if best >= self._optimal_from:
            return "optimal"
        return "target" if best >= stop.target else "gap"

    def _call_kernel(self, stop: Stop) -> int:
        """Run the kernel for a few milliseconds, and learn from it how much work that is."""
        counters = self.core.counters[0]
        first_step, first_work, began = self.steps, self._work_done(), perf_counter()
        last_step = min(stop.steps, int(counters["best_step"]) + stop.idle_steps)
        # rounded up: were it less than the limit, the kernel would stand still while the loop goes on
        at_work = self.strategy.at_work(self.own)
        work = self._work.get(at_work, FIRST_WORK)
        limits = Limits(math.ceil(min(last_step, NO_LIMIT)), first_work + work, self._target(stop))
        verdict = self._advance(limits)
        spent = max(perf_counter() - began, 1e-6)
        self._fetch_events(first_step, self.seconds, self.seconds + spent)
        if (done := self._work_done() - first_work) > 0 or verdict != RUNNING:
            goal = min(CALL_SECONDS, max(stop.seconds - self.seconds - spent, CALL_SECONDS / 10))
            self._work[at_work] = int(min(max((done + 1) / spent * goal, 1), 4 * work))
        return verdict

    def _fetch_events(self, first_step: int, began: float, ended: float) -> None:
        """Empty the core's record; an improvement's time is interpolated within the kernel's call."""
        counters = self.core.counters[0]
        count = int(counters["num_events"])
        if count:
            events = self.core.events[:count].copy()
            share = (events["step"] - first_step) / max(1, self.steps - first_step)
            seconds = began + share * (ended - began)
            self._events.append((events["step"], seconds, events["score"], events["zeros"]))
            counters["num_events"] = 0

    def _heed(self, scores: NDArray[np.float32] | None, guidance: Guidance | None) -> None:
        """Follow a guide's scores from now on; without scores, let the strategy search by itself."""
        self._is_guided = False
        if scores is None:
            return
        from beacon.guided.advance import GuidedAdvance  # noqa: PLC0415 - most searches need none of it
        from beacon.guided.guidance import Guidance  # noqa: PLC0415

        guidance = guidance or Guidance()
        if guidance.is_heeded:
            self._guided = self._guided or GuidedAdvance(self.strategy, self.model, self.core, self.own)
            self._guided.take(scores, guidance)
            self._is_guided = True

    def _advance(self, limits: Limits) -> int:
        """Run the kernel."""
        if self._guided is not None and self._is_guided:
            return self._guided(limits)
        return self.strategy.advance(self.model, self.core, self.own, limits)

    def _work_done(self) -> int:
        return int(self.core.counters[0]["work"])
