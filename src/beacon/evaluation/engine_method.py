"""Beacon's own strategies, unguided, as methods to be measured."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, is_dataclass
from time import perf_counter
from typing import Any, cast

import numpy as np

from beacon.evaluation.method import Budget, Network, Query, Run
from beacon.reduce.propagate import fixed_values
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime, MaxSteps
from beacon.runner.trace import Trace
from beacon.runner.warm_up import warm_up
from beacon.strategies.strategy import Strategy, make_strategy

ENDED = ("optimal", "stalled", "nothing to search", "interrupted")


@dataclass(frozen=True)
class EngineMethod:
    """A strategy from the given start; ``propagate`` first fixes what the evidence implies."""

    name: str
    strategy: Strategy
    propagate: bool = False
    baseline: str | None = None

    @classmethod
    def named(cls, name: str, propagate: bool = False) -> EngineMethod:
        """The strategy of that name with its default settings."""
        return cls(name, make_strategy(name), propagate)

    def settings(self) -> dict[str, Any]:
        """The strategy's settings, and whether it propagates."""
        return {**strategy_settings(self.strategy), "propagate": self.propagate}

    def prepare(self, network: Network) -> None:
        """Load the kernels."""
        warm_up(self.strategy.fitted(network.flat))

    def run(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[tuple[Query, Run]]:
        """One search a query, as many at once as there are threads."""
        cancelled = threading.Event()

        def answer(query: Query) -> Run:
            return self._answer(network, query, budget, seed, cancelled)

        with ThreadPoolExecutor(threads) as executor:
            futures = {executor.submit(answer, query): query for query in queries}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                cancelled.set()
                executor.shutdown(wait=True, cancel_futures=True)

    def search(self, network: Network, query: Query, seed: int) -> Search:
        """The search of a query, at its start."""
        flat, evidence = network.flat, query.evidence
        fixed = fixed_values(flat, evidence, None, self.propagate)
        return Search(flat, fixed, self.strategy.fitted(flat), query.start, seed)

    def _answer(
        self, network: Network, query: Query, budget: Budget, seed: int, cancelled: threading.Event
    ) -> Run:
        began = perf_counter()
        search = self.search(network, query, seed)
        setup = perf_counter() - began
        reason = search.run(MaxSteps(budget.max_steps), cancelled)
        if reason not in ENDED:
            reason = search.run(MaxRuntime(max(0.0, budget.max_seconds - setup)), cancelled)
        return run_of(search.trace, search, setup, reason)


def strategy_settings(strategy: Strategy) -> dict[str, Any]:
    """A strategy's name and settings; those that are left to the model are null."""
    values: dict[str, Any] = asdict(cast("Any", strategy)) if is_dataclass(strategy) else {}
    return {"strategy": strategy.name, **values}


def run_of(trace: Trace, search: Search, setup: float, reason: str) -> Run:
    """What a search leaves behind; its trace is shifted by the time before its first step."""
    seconds = np.where(trace.steps > 0, trace.seconds + setup, 0.0)  # the start was given
    return Run(
        trace=Trace(trace.steps, seconds, trace.scores, trace.zero_factors),
        assignment=search.best_assignment,
        steps=search.steps,
        setup_seconds=setup,
        seconds=search.seconds,
        stop=reason,
        proved=reason == "optimal",
    )
