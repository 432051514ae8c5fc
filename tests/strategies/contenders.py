"""Every strategy that must keep the contract: Beacon's own, one made here, and mixes with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.extend import (
    RUNNING,
    CoreState,
    FlatModel,
    Limits,
    Strategy,
    flip,
    kernel,
    may_continue,
    outcome,
    random_below,
)
from beacon.strategies.auto import Auto
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import STRATEGIES, make_strategy
from beacon.strategies.tree import Tree


class TurnsState(NamedTuple):
    """What taking turns remembers."""

    turn: NDArray[np.int64]
    """[1] whose turn it is: counts on for ever."""
    flips: NDArray[np.int64]
    """[variables] flips made, by variable."""


@kernel
def run_turns(model: FlatModel, core: CoreState, own: TurnsState, limits: Limits) -> int:
    """Variable after variable: a random other value, kept if it gains, and one time in four anyway."""
    counters = core.counters[0]
    verdict = outcome(core, limits)
    while verdict == RUNNING and may_continue(core, limits):
        counters["work"] += 1
        variable = own.turn[0] % len(core.assignment)
        own.turn[0] += 1
        if not core.is_free[variable]:
            continue
        size, first = model.domain_sizes[variable], model.move_starts[variable]
        value = (core.assignment[variable] + 1 + random_below(core.rng, size - 1)) % size
        gain = core.local_scores[first + value] - core.local_scores[first + core.assignment[variable]]
        if gain > 0 or random_below(core.rng, 4) == 0:
            flip(model, core, variable, value)
            own.flips[variable] += 1
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(core, limits)
    return verdict


@dataclass(frozen=True)
class Turns(Strategy):
    """A strategy of the tests, with a state of its own."""

    name: ClassVar[str] = "turns"

    def new_state(self, model: FlatModel, core: CoreState) -> TurnsState:
        """Begin with the first variable."""
        return TurnsState(np.zeros(1, dtype=np.int64), np.zeros(model.num_variables, dtype=np.int64))

    def advance(self, model: FlatModel, core: CoreState, own: TurnsState, limits: Limits) -> int:
        """Run the kernel."""
        return run_turns(model, core, own, limits)


SMALL_ROUND = 300  # work: on small models every arm has many turns
MIXES: dict[str, Auto] = {
    "three arms": Auto((GlsPlus(), Tree(), Greedy()), first_round=SMALL_ROUND, exact=False),
    "own arm": Auto((GlsPlus(), Tree(), Turns()), first_round=SMALL_ROUND, exact=False),
    "own arm first": Auto((Turns(), Greedy()), first_round=SMALL_ROUND, exact=False),
    "one arm": Auto((GlsPlus(),), first_round=SMALL_ROUND, exact=False),
    "a mix as an arm": Auto(
        (Auto((Greedy(), Turns()), first_round=SMALL_ROUND // 3), GlsPlus()),
        first_round=SMALL_ROUND,
        exact=False,
    ),
}
CONTENDERS: dict[str, Strategy] = {
    **{name: make_strategy(name) for name in STRATEGIES},
    "auto": Auto(exact=False),  # what it finds by searching
    "turns": Turns(),
    **MIXES,
}
FLIPS_ONLY = ["greedy", "gls+", "turns", "own arm first", "one arm", "a mix as an arm"]
"""Those that can stop after any step: a region of tree moves is not interrupted."""
