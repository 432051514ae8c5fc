"""A solver that stays: what does not depend on the evidence is done once, observations come and go."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from beacon.errors import EvidenceError, check_seed
from beacon.model.evidence import (
    Evidence,
    check_is_model,
    is_by_index,
    resolve_evidence,
    resolve_value,
    resolve_variable,
)
from beacon.model.flat import as_fixed, place
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.asked import Asked
from beacon.runner.pool import Cancelled
from beacon.runner.result import Result, checked_result
from beacon.runner.runner import Listener, Query, Runner
from beacon.runner.stop import DEFAULT_STOP, Stop, stop_or_default
from beacon.runner.warm_up import warm_up_search
from beacon.solver import default_strategy, guide_and_use
from beacon.strategies.strategy import Strategy

if TYPE_CHECKING:
    from beacon.guided.guidance import GuideUse
    from beacon.solver import AnyGuide


class Solver:
    """One model, ready to be asked again and again.

    Making one compiles the model and loads the kernels and the guide. After that a query costs what its own
    evidence costs, a millisecond or less where elimination is cheap. All methods may be called from several
    threads at once.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> solver = beacon.Solver(ising_grid(6, 6))
    >>> solver.observe("x_0_0", "1")
    >>> solver.solve().named_assignment["x_0_0"]
    '1'
    >>> solver.retract("x_0_0")
    >>> solver.observed
    {}
    >>> solver.solve({"x_5_5": 0}).proof  # a query of its own: what is observed does not count
    'elimination'
    """

    def __init__(
        self,
        model: GraphicalModel,
        *,
        guide: AnyGuide | None = None,
        use: GuideUse | None = None,
        strategy: str | Strategy | None = None,
        stop: Stop | None = DEFAULT_STOP,
        propagate: bool = True,
        seed: int = 0,
        log_zero: float | None = None,
    ) -> None:
        """Get ready; the settings are those of :func:`beacon.solve`, ``stop`` that of every query."""
        check_is_model(model)
        check_seed(seed)
        self.model, self.stop = model, stop_or_default(stop)
        loaded, use = guide_and_use(model, guide, use, None)
        self._runner = Runner(
            model,
            strategy or default_strategy(loaded, use),
            loaded,
            use,
            seed=seed,
            propagate=propagate,
            log_zero=log_zero,
        )
        if self._runner.knows:
            warm_up_search(self._runner.strategy, self._runner.searched)
        self._lock = threading.Lock()
        self._observed: dict[int, int] = {}
        self._last: NDArray[np.int64] | None = None

    @property
    def observed(self) -> Mapping[str, str]:
        """What is observed, by name."""
        with self._lock:
            pairs = sorted(self._observed.items())
        return {self.model.names[i]: self.model.labels[i][value] for i, value in pairs}

    def observe(self, variable: str | int, value: str | int) -> None:
        """Observe a variable, by name or index; an observation that is there already is replaced.

        A value that says "not observed" (``"?"``, None) takes it back, as in any evidence.
        """
        i = resolve_variable(self.model, variable)
        v = resolve_value(self.model, i, value, by_index=is_by_index(self.model, variable))
        with self._lock:
            if v is None:
                self._observed.pop(i, None)
            else:
                self._observed[i] = v

    def retract(self, variable: str | int) -> None:
        """Take an observation back."""
        i = resolve_variable(self.model, variable)
        with self._lock:
            if i not in self._observed:
                raise EvidenceError(f"{self.model.names[i]!r} is not observed, so it cannot be retracted")
            del self._observed[i]

    def solve(
        self,
        evidence: Evidence | None = None,
        *,
        stop: Stop | None = None,
        alternatives: int | None = None,
        distance: int = 1,
        margins: bool = False,
        suppose: Evidence | None = None,
        on_improvement: Listener | None = None,
        cancelled: Cancelled | None = None,
    ) -> Result:
        """The most probable explanation of what is observed, or of some other evidence.

        Without ``evidence``, a search begins at the last answer of this kind instead of at random. With it,
        the result is that of :func:`beacon.solve`. The time limit counts from this call on. Ctrl-C is not
        caught; ``cancelled`` ends the search from another thread.
        """
        began = perf_counter()
        limits = self.stop if stop is None else stop_or_default(stop)
        asked = Asked.of(self.model, alternatives, distance, margins, suppose)
        if evidence is None:
            with self._lock:
                given, start = dict(sorted(self._observed.items())), self._last
        else:
            given, start = resolve_evidence(self.model, evidence), None
        asked.check(self.model, given)
        if start is not None:
            start = place(as_fixed(given, len(start)), start).astype(np.int64)
        query = Query(given, start, yields=True)
        result = self._result(query, limits, began, on_improvement, cancelled)
        if evidence is None:
            with self._lock:
                self._last = result.assignment
        return asked.answered(result, self._runner, limits, cancelled)

    def _result(
        self,
        query: Query,
        stop: Stop,
        began: float,
        on_improvement: Listener | None,
        cancelled: Cancelled | None,
    ) -> Result:
        runner, stops, spent = self._runner, [stop], perf_counter() - began
        if runner.guide is None:  # in this thread
            outcome = runner.outcome(
                query, stops, spent_seconds=spent, on_improvement=on_improvement, cancelled=cancelled
            )
        else:
            ((_, outcome),) = runner.run(
                [query],
                stops,
                lambda _, found: found,
                spent_seconds=spent,
                on_improvement=on_improvement,
                cancelled=cancelled,
            )
        return checked_result(self.model, query.evidence, outcome, runner.flat, runner.seed)

    def __repr__(self) -> str:
        """The model, and how much is observed."""
        return f"Solver({self.model!r}, {len(self._observed)} observed)"
