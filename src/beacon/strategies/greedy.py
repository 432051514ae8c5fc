"""Greedy: best improvement, and a fresh random assignment at every local optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import CoreState
from beacon.engine.flip import climb
from beacon.engine.incumbent import EPSILON, RUNNING, STALLED, Limits, may_continue, outcome, restart
from beacon.engine.max_tree import tree_top
from beacon.jit import kernel
from beacon.model.flat import FlatModel
from beacon.strategies.strategy import Strategy

MAX_IDLE_RESTARTS = 1000  # this many random starts without a single improving move: nothing to search


class GreedyState(NamedTuple):
    """What Greedy remembers."""

    idle_restarts: NDArray[np.int64]
    """[1] restarts since the last flip."""


@kernel
def run_greedy(model: FlatModel, core: CoreState, own: GreedyState, limits: Limits) -> int:
    """Climb and restart until a limit is reached."""
    counters = core.counters[0]
    verdict = outcome(core, limits)
    while verdict == RUNNING and may_continue(core, limits):
        if tree_top(core.gains, core.gain_levels) > EPSILON:
            climb(model, core)
            own.idle_restarts[0] = 0
        else:
            counters["local_optima"] += 1
            own.idle_restarts[0] += 1
            if own.idle_restarts[0] > MAX_IDLE_RESTARTS:
                return STALLED
            restart(model, core)
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(core, limits)
    return verdict


@dataclass(frozen=True)
class Greedy(Strategy):
    """Best improvement with a random restart at every local optimum.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> beacon.solve(ising_grid(4, 4), strategy=beacon.Greedy(), stop=beacon.MaxSteps(50)).method
    'greedy'
    """

    name: ClassVar[str] = "greedy"

    def new_state(self, model: FlatModel, core: CoreState) -> GreedyState:
        """Count restarts."""
        return GreedyState(np.zeros(1, dtype=np.int64))

    def advance(self, model: FlatModel, core: CoreState, own: GreedyState, limits: Limits) -> int:
        """Run the kernel."""
        return run_greedy(model, core, own, limits)
