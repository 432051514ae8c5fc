"""The first descent: sweeps over single variables that make the largest gains first.

Blocks set in any order lead from a random assignment to a poor local optimum where variables have many
factors. A sweep of the descent makes the moves that gain more than half of the best move that the last sweep
left, so that large gains come before the small ones that would spoil them.
"""

from __future__ import annotations

import numpy as np

from beacon.engine.core import CoreState
from beacon.jit import called, inlined
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.elimination import sum_alone
from beacon.strategies.tree.state import MAX_DESCENTS, TreeState

LEAST_GAIN = 1e-9


@called
def best_value_alone(
    model: FlatModel, core: CoreState, own: TreeState, hard_zero: float, variable: int
) -> tuple[int, float]:
    """The best value of a variable, all else fixed, and what it gains. Cost: its links and their values."""
    sum_alone(model, core, own, hard_zero, variable)
    sums, current = own.blocks.own, core.assignment[variable]
    best = current
    for value in range(model.domain_sizes[variable]):
        if sums[value] > sums[best]:
            best = value
    return best, sums[best] - sums[current]


@inlined
def next_of_descent(core: CoreState, own: TreeState) -> int:
    """The next variable to look at; the end of a sweep sets the threshold of the next one."""
    counters, num_free = own.counters[0], len(own.free)
    if counters["sweep_at"] == 0:
        counters["sweep_first"] = random_below(core.rng, num_free)
    variable = own.free[(counters["sweep_first"] + counters["sweep_at"]) % num_free]
    counters["sweep_at"] += 1
    return variable  # type: ignore[no-any-return]


@inlined
def end_sweep_if_due(own: TreeState) -> None:
    """After the last variable of a sweep: half of the best gain left is the least that the next one makes."""
    counters = own.counters[0]
    if counters["sweep_at"] == len(own.free):
        counters["sweep_at"] = 0
        counters["descents"] = counters["descents"] - 1 if counters["left"] > LEAST_GAIN else 0
        counters["threshold"] = counters["left"] / 4
        counters["left"] = 0.0


@inlined
def begin_descent(own: TreeState) -> None:
    """Descend from here: the first sweep only looks for the best gain."""
    counters = own.counters[0]
    counters["descents"] = MAX_DESCENTS
    counters["threshold"] = np.inf
    counters["left"] = 0.0
    counters["sweep_at"] = 0
