"""The strategies by name: frozen settings that check themselves, and the kernel each one runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from beacon.errors import UsageError
from beacon.model.flat import FlatModel
from beacon.search.gls import GlsConstants, clear_penalties, run_gls
from beacon.search.greedy import run_greedy
from beacon.search.limits import Limits
from beacon.search.state import SearchState


class Strategy(Protocol):
    """A way to search: settings, and how they act on a state."""

    name: ClassVar[str]
    penalising: ClassVar[bool]

    def prepare(self, model: FlatModel, state: SearchState) -> None:
        """Set up what only this strategy needs, before the state is built from its assignment."""

    def advance(self, model: FlatModel, state: SearchState, limits: Limits) -> int:
        """Run until a limit is reached; return RUNNING, OPTIMAL, STALLED or TARGET."""


@dataclass(frozen=True)
class Greedy:
    """Best improvement with a random restart at every local optimum."""

    name: ClassVar[str] = "greedy"
    penalising: ClassVar[bool] = False

    def prepare(self, model: FlatModel, state: SearchState) -> None:
        """Nothing to set up."""

    def advance(self, model: FlatModel, state: SearchState, limits: Limits) -> int:
        """Run the kernel."""
        return run_greedy(model, state, limits)


@dataclass(frozen=True)
class GlsPlus:
    """Guided local search on penalties per table entry; see docs/gls.md for what the settings do."""

    penalty_weight: float | None = None
    """What one unit of penalty costs, in nats; None: scaled to the model."""
    smoothing: float = 0.999
    """Factor on all penalties at each smoothing."""
    smoothing_interval: int = 200
    """Local optima between two smoothings; 0: never."""
    restart_interval: int = 0
    """Steps between two restarts from random; 0: never."""
    relative_utilities: bool = True
    """Count an entry's cost from the best entry of its table rather than from probability one."""

    name: ClassVar[str] = "gls+"
    penalising: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if self.penalty_weight is not None and not 0 < self.penalty_weight < math.inf:
            raise UsageError(f"penalty_weight must be a positive number; found {self.penalty_weight}")
        if not 0 <= self.smoothing <= 1:
            raise UsageError(f"smoothing must lie in 0..1; found {self.smoothing}")
        if self.smoothing_interval < 0 or self.restart_interval < 0:
            raise UsageError("smoothing_interval and restart_interval must be 0 or more")

    def constants(self, model: FlatModel) -> GlsConstants:
        """The settings as the kernel takes them."""
        weight = default_penalty_weight(model) if self.penalty_weight is None else self.penalty_weight
        interval = self.smoothing_interval if self.smoothing < 1 else 0
        return GlsConstants(
            float(weight), float(self.smoothing), interval, self.restart_interval, self.relative_utilities
        )

    def prepare(self, model: FlatModel, state: SearchState) -> None:
        """Start without penalties."""
        clear_penalties(model, state, self.constants(model))

    def advance(self, model: FlatModel, state: SearchState, limits: Limits) -> int:
        """Run the kernel."""
        return run_gls(model, state, self.constants(model), limits)


def default_penalty_weight(model: FlatModel) -> float:
    """w scaled to the model."""
    return 10.0


STRATEGIES: dict[str, type[Greedy] | type[GlsPlus]] = {kind.name: kind for kind in (Greedy, GlsPlus)}


def make_strategy(strategy: str | Strategy) -> Strategy:
    """A strategy by name, with its default settings; a strategy passes through."""
    if not isinstance(strategy, str):
        return strategy
    if strategy not in STRATEGIES:
        raise UsageError(f"no strategy is called {strategy!r}; there are: {', '.join(STRATEGIES)}")
    return STRATEGIES[strategy]()
