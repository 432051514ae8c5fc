"""What is measured: methods (strategies, guided or not, and other solvers), their budgets, and their runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError, check_count
from beacon.guided.guidance import GuideUse
from beacon.guided.guide import Guide, States
from beacon.model.flat import FlatModel, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.peers.peer import Peer, PeerAnswer
from beacon.runner.result import Outcome
from beacon.runner.runner import Query as RunnerQuery
from beacon.runner.runner import Runner
from beacon.runner.search import Trace
from beacon.runner.stop import MaxRuntime, MaxSteps, Stop
from beacon.strategies.strategy import Strategy, make_strategy


@dataclass(frozen=True)
class Budget:
    """Every search runs until both the largest number of steps and the largest time are used up."""

    steps: tuple[int, ...] = (500, 1000, 2000, 4000)
    seconds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Sort, without repeats; refuse to measure nothing, and budgets that make no sense."""
        object.__setattr__(self, "steps", tuple(sorted(set(self.steps))))
        object.__setattr__(self, "seconds", tuple(sorted(set(self.seconds))))
        if not self.steps and not self.seconds:
            raise UsageError("nothing to measure; give budgets in steps, in seconds or both")
        if self.steps and self.steps[0] < 1:
            raise UsageError(f"budgets in steps must be at least 1; found {self.steps[0]}")
        if self.seconds and not 0 < self.seconds[0] <= self.seconds[-1] < np.inf:
            raise UsageError(f"budgets in seconds must be positive numbers; found {self.seconds}")


@dataclass(frozen=True, eq=False)
class Query:
    """One problem: evidence, and where every method of the comparison begins."""

    index: int
    """Its place in the query set."""
    evidence: dict[int, int]
    start: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Network:
    """A model and its compiled form, shared by all methods."""

    name: str
    model: GraphicalModel
    flat: FlatModel

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process compiles the model anew."""
        return _network, (self.name, self.model, self.flat.log_zero)

    def floored_score(self, assignment: NDArray[np.int64] | None) -> tuple[float, int]:
        """An assignment's floored score and zero factors, recomputed from the model; -inf for none."""
        if assignment is None:
            return -np.inf, 0
        score = self.model.floored_log_score(assignment, self.flat.log_zero)
        return score, self.model.num_zero_factors(assignment)


def _network(name: str, model: GraphicalModel, log_zero: float) -> Network:
    return Network(name, model, compile_model(model, log_zero))


@dataclass(frozen=True, eq=False)
class Run:
    """What a method did on one query."""

    trace: Trace
    """Improvements, timed from the moment the method got the query; empty if nothing was found."""
    assignment: NDArray[np.int64] | None
    steps: int
    setup_seconds: float
    """Time before the first step."""
    seconds: float
    """Time of the steps themselves (for solvers without steps: all of it)."""
    stop: str
    proved: bool
    """Is the assignment proved optimal?"""
    upper_bound: float | None = None
    """Proved not to be below the optimum; None: nothing is known."""


class Method(Protocol):
    """A way to answer queries, ready to be measured.

    It may also have ``baseline`` (the name of the method it is meant to improve on), ``weight`` (λ of a
    guided method), ``counts_steps`` (False if budgets in steps mean nothing to it) and ``settings()`` (all
    that makes its results what they are, for the record).
    """

    @property
    def name(self) -> str:
        """What tables call it; every method of an evaluation has a name of its own."""

    def prepare(self, network: Network) -> None:
        """Whatever may be done once per model, before any clock runs."""

    def run(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[tuple[Query, Run]]:
        """Answer queries, each as soon as it is done; closing the iterator abandons the rest."""


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
        """One search a query from its start, which gives way to what the evidence implies."""
        stops: list[Stop] = [MaxSteps(max(budget.steps, default=0))]
        if budget.seconds:
            stops.append(MaxRuntime(budget.seconds[-1]))
        given = self._takes_starts(stops[-1].seconds)
        asked = [
            RunnerQuery(query.evidence, query.start if given else None, yields=True) for query in queries
        ]
        for k, outcome in self.runner(network, seed, threads).run(asked, stops, lambda _, outcome: outcome):
            trace = outcome.trace if given else outcome.trace.not_before(outcome.setup_seconds)
            yield queries[k], _run_of(replace(outcome, trace=trace))

    def _takes_starts(self, seconds: float) -> bool:
        """Do searches with this time limit begin where all methods do? Else at a start of their own."""
        return True

    def runner(self, network: Network, seed: int = 0, threads: int | None = None) -> Runner:
        """What runs the searches."""
        return Runner(
            network.model,
            self.strategy,
            seed=seed,
            propagate=self.propagate,
            flat=network.flat,
            threads=threads,
            **self._guided(),
        )

    def _guided(self) -> dict[str, Any]:
        """What the runner is told of a guide."""
        return {}


@dataclass(frozen=True, kw_only=True)
class GuidedMethod(EngineMethod):
    """A strategy whose start, moves or restarts follow a guide.

    Queries are scored together, ``batch_size`` at a time; a query's clock counts its own search and its
    share of the batch's set-up and of every scoring.
    """

    guide: Guide
    use: GuideUse = field(default_factory=GuideUse)
    batch_size: int = 100
    facts: dict[str, Any] = field(default_factory=dict)
    """Where the guide comes from, for the record."""

    def __post_init__(self) -> None:
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
        super().prepare(network)
        sizes = (1, network.model.num_variables)
        self.guide.score(States(np.zeros(sizes, np.int64), np.zeros(sizes, np.bool_)))

    def run(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[tuple[Query, Run]]:
        """The same. Budgets are read from one search: a guide that is for one of them is asked for all."""
        is_asked = any(map(self.use.is_for, budget.seconds))
        method = replace(self, use=self.use.whatever_the_time()) if is_asked else self
        return EngineMethod.run(method, network, queries, budget, seed, threads)

    def _takes_starts(self, seconds: float) -> bool:
        use = self.use.within(seconds)
        return use is None or not use.is_own_start

    def _guided(self) -> dict[str, Any]:
        return {"guide": self.guide, "use": self.use, "batch_size": self.batch_size}


def strategy_settings(strategy: Strategy) -> dict[str, Any]:
    """A strategy's name and settings; those that are left to the model are null."""
    values: dict[str, Any] = asdict(cast("Any", strategy)) if is_dataclass(strategy) else {}
    if "arms" in values:  # a mix: the settings of its parts, by name
        values["arms"] = [strategy_settings(arm) for arm in getattr(strategy, "arms", ())]
    return {"strategy": strategy.name, **values}


def _run_of(outcome: Outcome) -> Run:
    return Run(
        trace=outcome.trace,
        assignment=outcome.assignment,
        steps=outcome.steps,
        setup_seconds=outcome.setup_seconds,
        seconds=outcome.seconds - outcome.setup_seconds,
        stop=outcome.stop,
        proved=outcome.proof is not None,
        upper_bound=outcome.upper_bound,
    )


@dataclass(frozen=True)
class PeerMethod:
    """A solver under the largest time budget.

    What it finds before it ends is not known: its answer counts from the moment it returns.
    """

    name: str
    peer: Peer
    counts_steps: bool = field(default=False, init=False)

    def settings(self) -> dict[str, Any]:
        """The kind of solver."""
        return {"solver": type(self.peer).__name__}

    def prepare(self, network: Network) -> None:
        """Nothing: a solver reads the model anew for every query."""

    def run(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[tuple[Query, Run]]:
        """One query after another, so that none shares the machine with another."""
        if not budget.seconds:
            raise UsageError(f"{self.name} needs a time limit; add a budget in seconds (--time S, --seconds)")
        limit = budget.seconds[-1]
        for query in queries:
            yield query, _run_of_answer(network, self.peer.solve(network.model, query.evidence, limit), limit)


def _run_of_answer(network: Network, answer: PeerAnswer, limit: float) -> Run:
    found = answer.assignment is not None
    assignment = None if answer.assignment is None else np.asarray(answer.assignment, dtype=np.int64)
    score, zeros = network.floored_score(assignment)
    seconds = min(answer.seconds, limit)  # what it had at the limit is read and checked a moment later
    is_bound = answer.proved_optimal and not zeros
    trace = Trace(
        np.zeros(int(found), np.int64),
        np.full(int(found), seconds),
        np.full(int(found), score),
        np.full(int(found), zeros, np.int64),
    )
    return Run(
        trace=trace.with_bounds([(seconds, score)] if is_bound else []),
        assignment=assignment,
        steps=0,
        setup_seconds=0.0,
        seconds=answer.seconds,
        stop="optimal" if answer.proved_optimal else "seconds",
        proved=answer.proved_optimal,
        upper_bound=score if is_bound else None,
    )
