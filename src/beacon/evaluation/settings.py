"""What an evaluation measures: methods by name, budgets and queries."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from beacon.errors import UsageError, check_count, shown
from beacon.evaluation.method import Budget, EngineMethod, GuidedMethod, Method, PeerMethod
from beacon.guide.checkpoint import load_guide
from beacon.guided.guide import Guide
from beacon.io.settings import check_known
from beacon.model.graphical_model import GraphicalModel
from beacon.peers.peer import Peer, find_peer
from beacon.plugins import load_object
from beacon.query.query_set import SPLITS
from beacon.solver import default_strategy, tuned_use
from beacon.strategies.strategy import Strategy, make_strategy, strategy_names

MOST_SEEDS = 1_000_000


@dataclass(frozen=True)
class EvaluateSettings:
    """Methods, budgets and queries of an evaluation.

    >>> import beacon
    >>> beacon.EvaluateSettings(methods=("gls+",), seconds=(1, 0.1)).budget.seconds
    (0.1, 1)
    """

    methods: tuple[str, ...] = ("greedy", "gls+", "tree", "auto")
    """What to compare: greedy, gls+, tree, auto; with a guide also beacon-greedy, beacon-gls+ and beacon (the
    guide's tuned settings); and objects of your own as package.module:name."""
    lambdas: tuple[float, ...] = ()
    """Measure beacon-greedy and beacon-gls+ with each of these weights, too."""
    propagate: bool = False
    """First fix what the evidence implies; off in the published protocol."""
    steps: tuple[int, ...] = (500, 1000, 2000, 4000)
    """Budgets in steps."""
    seconds: tuple[float, ...] = ()
    """Budgets in seconds."""
    split: str = "test"
    """Queries of a query set to use: test, validation or train."""
    limit: int | None = None
    """Only the first N of these queries."""
    count: int = 100
    """Queries to sample for a network that has no query set."""
    seeds: int = 1
    """Repeat with this many seeds: S, S + 1, …; each has starts of its own."""

    def __post_init__(self) -> None:
        check_names(self.methods)
        _ = self.budget
        check_count("seeds", self.seeds, 1, MOST_SEEDS)
        check_count("count", self.count, 1)
        if self.limit is not None:
            check_count("limit", self.limit, 1)
        if self.split not in SPLITS:
            raise UsageError(f"split must be {', '.join(SPLITS[:-1])} or {SPLITS[-1]}; found {self.split!r}")

    @property
    def budget(self) -> Budget:
        """Both kinds of budgets."""
        return Budget(self.steps, self.seconds)

    def extended(self, methods: tuple[str, ...], seconds: float | None = None) -> EvaluateSettings:
        """With more methods, and one more budget in seconds, the limit of other solvers."""
        more = () if seconds is None else (seconds,)
        return replace(self, methods=self.methods + methods, seconds=self.seconds + more)


AnyMethod = str | Strategy | Peer | Method
AnyGuide = Guide | str | os.PathLike[str]

SOLVERS = ("toulbar2", "daoopt")
GUIDED = ("beacon-greedy", "beacon-gls+", "beacon")
"""The paper's two methods, and the guide's own tuned settings."""
WEIGHTED = GUIDED[:2]
DEFAULT_WEIGHT = 0.5


def check_names(names: Sequence[str]) -> None:
    """Refuse unknown names and repeats before any work."""
    known = [*strategy_names(), *GUIDED, *SOLVERS]
    for name in names:
        if ":" in name:
            load_object(name)
        else:
            check_known(name, known, f"no method is called {name!r}")
        if list(names).count(name) > 1:
            raise UsageError(f"method {name!r} is listed twice")
    if not names:
        raise UsageError(f"no method to measure; there are: {', '.join(known)}")


def check_weights(weights: Sequence[float], methods: Sequence[Any]) -> None:
    """Refuse weights of the guide that no method would use."""
    if weights and not any(isinstance(one, str) and one in WEIGHTED for one in methods):
        raise UsageError(f"lambdas are weights of {' and '.join(WEIGHTED)}; found neither among the methods")


@dataclass(frozen=True)
class Catalog:
    """Makes the methods of a comparison on one model."""

    model: GraphicalModel
    guide: AnyGuide | None = None
    weights: Sequence[float] = ()
    """Adds a variant of the paper's guided methods for each λ."""
    propagate: bool = False
    programs: Mapping[str, str] = field(default_factory=dict)
    """Where the programs of other solvers are, by the solver's name."""

    def methods(self, wanted: Sequence[AnyMethod]) -> list[Method]:
        """Methods of all kinds, each with a name of its own."""
        names = [name for name in wanted if isinstance(name, str)]
        if names or not wanted:
            check_names(names)
        check_weights(self.weights, wanted)
        made = [method for one in wanted for method in self._methods(one)]
        names = [method.name for method in made]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(
                    f"two methods are called {name!r}; give one another name with EngineMethod(name, …)"
                )
        return made

    def _methods(self, wanted: AnyMethod) -> list[Method]:
        if not isinstance(wanted, str):
            return [self._of_object(wanted)]
        if ":" in wanted:
            return [self._of_object(load_object(wanted))]
        if wanted in SOLVERS:
            return [PeerMethod(wanted, find_peer(wanted, self.programs.get(wanted)))]
        if wanted not in GUIDED:
            return [EngineMethod.named(wanted, self.propagate)]
        weights = [None, *self.weights] if wanted in WEIGHTED else [None]
        return [self._guided(wanted, weight) for weight in weights]

    def _of_object(self, wanted: Any) -> Method:
        if hasattr(wanted, "prepare") and hasattr(wanted, "run"):
            return cast("Method", wanted)
        if hasattr(wanted, "advance"):
            return EngineMethod(wanted.name, wanted, self.propagate)
        if hasattr(wanted, "solve"):
            return PeerMethod(wanted.name, wanted)
        raise UsageError(f"expected a method: a name, a strategy or a solver; found {shown(wanted)}")

    def _guided(self, name: str, weight: float | None) -> GuidedMethod:
        """A guided method with the guide's tuned settings, or the paper's rule with a λ of its own."""
        if self.guide is None:
            raise UsageError(f"{name} needs a guide; give its folder after the queries")
        is_path = isinstance(self.guide, str | os.PathLike)
        guide = load_guide(self.guide, self.model) if is_path else cast("Guide", self.guide)  # type: ignore[arg-type]
        use = tuned_use(guide)
        if name == "beacon":
            strategy = make_strategy(default_strategy(guide, use))
        else:
            strategy = make_strategy(name.removeprefix("beacon-"))
            use = replace(use.whatever_the_time(), start="random", weight=use.weight or DEFAULT_WEIGHT)
        return GuidedMethod(
            name=name if weight is None else f"{name} λ={weight:g}",
            guide=guide,
            strategy=strategy,
            baseline=strategy.name,
            use=use if weight is None else replace(use, weight=weight),
            propagate=self.propagate,
            facts={"folder": os.fspath(self.guide)} if is_path else {},  # type: ignore[arg-type]
        )
