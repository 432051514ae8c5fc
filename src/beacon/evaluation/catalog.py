"""Methods by name, as tables and the command line call them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from beacon.errors import UsageError
from beacon.evaluation.engine_method import EngineMethod
from beacon.evaluation.guided_method import GuidedMethod
from beacon.evaluation.method import Method
from beacon.evaluation.peer_method import PeerMethod
from beacon.guide.checkpoint import load_guide
from beacon.model.graphical_model import GraphicalModel
from beacon.solver import default_strategy, tuned_use
from beacon.strategies.strategy import make_strategy, strategy_names

SOLVERS = ("toulbar2", "daoopt")
GUIDED = ("beacon-greedy", "beacon-gls+", "beacon")
"""The paper's two methods, and the guide's own tuned settings."""
DEFAULT_WEIGHT = 0.5


def known_methods() -> list[str]:
    """Every name that :func:`make_methods` takes."""
    return [*strategy_names(), *GUIDED, *SOLVERS]


def check_names(names: Sequence[str]) -> None:
    """Refuse unknown names and repeats before any work."""
    known = known_methods()
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known)}"
            raise UsageError(f"no method is called {name!r}; {hint}")
        if list(names).count(name) > 1:
            raise UsageError(f"method {name!r} is listed twice")
    if not names:
        raise UsageError(f"no method to measure; there are: {', '.join(known)}")


def make_methods(
    names: Sequence[str],
    model: GraphicalModel,
    *,
    guide: str | None = None,
    weights: Sequence[float] = (),
    propagate: bool = False,
    programs: Mapping[str, str] | None = None,
) -> list[Method]:
    """The methods of a comparison on one model; ``weights`` adds a variant of every guided one for each λ."""
    methods: list[Method] = []
    for name in names:
        if name in SOLVERS:
            methods.append(PeerMethod(name, _peer(name, (programs or {}).get(name))))
        elif name in GUIDED:
            if guide is None:
                raise UsageError(f"{name} needs a guide; give its folder after the queries")
            methods.append(_guided(name, model, guide, propagate, None))
            if name != "beacon":
                methods += [_guided(name, model, guide, propagate, weight) for weight in weights]
        else:
            methods.append(EngineMethod.named(name, propagate))
    return methods


def _guided(
    name: str, model: GraphicalModel, path: str, propagate: bool, weight: float | None
) -> GuidedMethod:
    """A guided method with the guide's tuned settings, or the paper's rule with a λ of its own."""
    guide = load_guide(path, model)
    use = tuned_use(guide)
    if name == "beacon":
        strategy = default_strategy(guide, use)
    else:
        strategy = name.removeprefix("beacon-")
        use = replace(use, start="random", weight=use.weight or DEFAULT_WEIGHT)
    return GuidedMethod(
        name=name if weight is None else f"{name} λ={weight:g}",
        guide=guide,
        strategy=make_strategy(strategy),
        baseline=strategy,
        use=use if weight is None else replace(use, weight=weight),
        propagate=propagate,
        facts={"folder": str(path)},
    )


def _peer(name: str, path: str | None) -> Any:
    try:
        peers = import_module("beacon.peers.peer")
    except ModuleNotFoundError:
        raise UsageError(f"{name} cannot be run by this version of Beacon; leave it out") from None
    return peers.find_peer(name, path)
