"""Beacon's own strategies as methods to be measured, by themselves or with a guide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, cast

import numpy as np

from beacon.errors import check_count
from beacon.evaluation.method import Budget, Network, Query, Run
from beacon.guided.guidance import GuideUse
from beacon.guided.guide import Guide, States
from beacon.runner.result import Outcome
from beacon.runner.runner import Query as RunnerQuery
from beacon.runner.runner import Runner
from beacon.runner.stop import MaxRuntime, MaxSteps, Stop
from beacon.strategies.strategy import Strategy, make_strategy


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
        self.runner(network)

    def run(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[tuple[Query, Run]]:
        """One search a query, as many at once as there are threads."""
        return _run_all(self.runner(network, seed, threads), queries, budget)

    def runner(self, network: Network, seed: int = 0, threads: int | None = None) -> Runner:
        """What runs the searches."""
        return Runner(
            network.model,
            self.strategy,
            seed=seed,
            propagate=self.propagate,
            flat=network.flat,
            threads=threads,
        )


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
        self.runner(network)
        sizes = (1, network.model.num_variables)
        self.guide.score(States(np.zeros(sizes, np.int64), np.zeros(sizes, np.bool_)))

    def run(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[tuple[Query, Run]]:
        """A batch of queries after another. One that needs no guide after its start is searched by itself."""
        return _run_all(self.runner(network, seed, threads), queries, budget)

    def runner(self, network: Network, seed: int = 0, threads: int | None = None) -> Runner:
        """What runs the searches."""
        return Runner(
            network.model,
            self.strategy,
            self.guide,
            self.use,
            seed=seed,
            propagate=self.propagate,
            flat=network.flat,
            threads=threads,
            batch_size=self.batch_size,
        )


def strategy_settings(strategy: Strategy) -> dict[str, Any]:
    """A strategy's name and settings; those that are left to the model are null."""
    values: dict[str, Any] = asdict(cast("Any", strategy)) if is_dataclass(strategy) else {}
    if "arms" in values:  # a mix: the settings of its parts, by name
        values["arms"] = [strategy_settings(arm) for arm in getattr(strategy, "arms", ())]
    return {"strategy": strategy.name, **values}


def _run_all(runner: Runner, queries: Sequence[Query], budget: Budget) -> Iterator[tuple[Query, Run]]:
    """Search all queries from their starts, which give way to what the evidence implies."""
    stops: list[Stop] = [MaxSteps(budget.max_steps)]
    if budget.seconds:
        stops.append(MaxRuntime(budget.max_seconds))
    asked = [RunnerQuery(query.evidence, query.start, yields=True) for query in queries]
    for k, outcome in runner.run(asked, stops, lambda _, outcome: outcome):
        yield queries[k], _run_of(outcome)


def _run_of(outcome: Outcome) -> Run:
    return Run(
        trace=outcome.trace,
        assignment=outcome.assignment,
        steps=outcome.steps,
        setup_seconds=outcome.setup_seconds,
        seconds=outcome.seconds - outcome.setup_seconds,
        stop=outcome.stop,
        proved=outcome.proof is not None,
    )
