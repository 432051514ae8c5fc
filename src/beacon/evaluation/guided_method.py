"""A guide at work, as a method to be measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from beacon.evaluation.engine_method import strategy_settings
from beacon.evaluation.method import Budget, Network, Query, Run
from beacon.guided.guide import Guide, States
from beacon.guided.use import GuideUse
from beacon.model.checks import check_count
from beacon.runner.guided_batch import GuidedBatch, load_kernels
from beacon.runner.scored import LoneSearches, ScoredStarts, is_asked_first
from beacon.runner.stop import MaxRuntime, MaxSteps
from beacon.strategies.strategy import Strategy


@dataclass(frozen=True)
class GuidedMethod:
    """A strategy whose start, moves or restarts follow a guide.

    Queries are scored together, ``batch_size`` at a time; a query's clock counts its own search and its
    share of the batch's set-up and of every scoring.
    """

    name: str
    guide: Guide
    strategy: Strategy
    baseline: str | None
    use: GuideUse = field(default_factory=GuideUse)
    batch_size: int = 100
    propagate: bool = False
    facts: dict[str, Any] = field(default_factory=dict)
    """Where the guide comes from, for the record."""

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        check_count("batch_size", self.batch_size, 1)

    @property
    def weight(self) -> float | None:
        """λ; None where the guide chooses no moves."""
        return self.use.weight or None

    def settings(self) -> dict[str, Any]:
        """The strategy's settings and the guide's."""
        own = {"batch_size": self.batch_size, "propagate": self.propagate, "guide": self.facts}
        return {**strategy_settings(self.strategy), **self.use.to_dict(), **own}

    def prepare(self, network: Network) -> None:
        """Load the kernels, and let the guide warm up on one state."""
        load_kernels(self.strategy, self.use)
        sizes = (1, network.model.num_variables)
        self.guide.score(States(np.zeros(sizes, np.int64), np.zeros(sizes, np.bool_)))

    def run(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[tuple[Query, Run]]:
        """A batch of queries after another. One that needs no guide after its start is searched by itself."""
        for first in range(0, len(queries), self.batch_size):
            some = queries[first : first + self.batch_size]
            if is_asked_first(self.guide, self.use):
                yield from zip(some, self._lone_runs(network, some, budget, seed, threads), strict=True)
                continue
            guided = self.begin(network, some, seed, threads)
            guided.run_until(MaxSteps(budget.max_steps))
            if budget.seconds:
                guided.run_until(MaxRuntime(budget.max_seconds))
            yield from zip(some, self.runs(guided), strict=True)

    def _lone_runs(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[Run]:
        began, flat = perf_counter(), network.flat
        evidences, given = [query.evidence for query in queries], np.array([query.start for query in queries])
        scored = None
        if self.use.start == "guide":
            scored = ScoredStarts.ask(network.model, flat, evidences, self.guide, given, began)
        strategy = self.strategy.fitted(flat)
        searches = LoneSearches(flat, evidences, strategy, self.use, given, scored, seed, self.propagate)
        stops = [MaxSteps(budget.max_steps), MaxRuntime(budget.max_seconds)][: 2 if budget.seconds else 1]
        for run in searches.run(stops, threads):
            seconds, proved = run.seconds - run.setup_seconds, run.stop == "optimal"
            yield Run(run.trace, run.assignment, run.steps, run.setup_seconds, seconds, run.stop, proved)

    def begin(self, network: Network, queries: Sequence[Query], seed: int, threads: int) -> GuidedBatch:
        """The searches at their starts."""
        return GuidedBatch(
            network.model,
            [query.evidence for query in queries],
            self.guide,
            self.use,
            self.strategy,
            np.array([query.start for query in queries]),
            seed,
            propagate=self.propagate,
            log_zero=network.flat.log_zero,
            threads=threads,
            yielding_start=True,
        )

    def runs(self, guided: GuidedBatch) -> list[Run]:
        """What each search has left behind so far."""
        return [
            Run(
                trace=trace,
                assignment=search.best_assignment,
                steps=search.steps,
                setup_seconds=guided.setup_seconds,
                seconds=search.seconds - guided.setup_seconds,
                stop=result.stop,
                proved=result.is_optimal,
            )
            for search, trace, result in zip(
                guided.batch.searches, guided.traces, guided.results, strict=True
            )
        ]
