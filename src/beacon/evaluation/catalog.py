"""Methods by name, as tables and the command line call them, and from objects that can be measured."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from beacon.errors import UsageError, shown
from beacon.evaluation.method import Method
from beacon.evaluation.methods import EngineMethod, GuidedMethod, PeerMethod
from beacon.guide.checkpoint import load_guide
from beacon.guided.guide import Guide
from beacon.io.settings import check_known
from beacon.model.graphical_model import GraphicalModel
from beacon.peers.peer import Peer, find_peer
from beacon.plugins import load_object
from beacon.solver import default_strategy, tuned_use
from beacon.strategies.strategy import Strategy, make_strategy, strategy_names

AnyMethod = str | Strategy | Peer | Method
AnyGuide = Guide | str | os.PathLike[str]

SOLVERS = ("toulbar2", "daoopt")
GUIDED = ("beacon-greedy", "beacon-gls+", "beacon")
"""The paper's two methods, and the guide's own tuned settings."""
DEFAULT_WEIGHT = 0.5


def known_methods() -> list[str]:
    """The names of all methods."""
    return [*strategy_names(), *GUIDED, *SOLVERS]


def check_names(names: Sequence[str]) -> None:
    """Refuse unknown names and repeats before any work."""
    known = known_methods()
    for name in names:
        if ":" in name:
            load_object(name)
        else:
            check_known(name, known, f"no method is called {name!r}")
        if list(names).count(name) > 1:
            raise UsageError(f"method {name!r} is listed twice")
    if not names:
        raise UsageError(f"no method to measure; there are: {', '.join(known)}")


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
        weights = [None, *self.weights] if wanted != "beacon" else [None]
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
            use = replace(use, start="random", weight=use.weight or DEFAULT_WEIGHT)
        return GuidedMethod(
            name=name if weight is None else f"{name} λ={weight:g}",
            guide=guide,
            strategy=strategy,
            baseline=strategy.name,
            use=use if weight is None else replace(use, weight=weight),
            propagate=self.propagate,
            facts={"folder": os.fspath(self.guide)} if is_path else {},  # type: ignore[arg-type]
        )
