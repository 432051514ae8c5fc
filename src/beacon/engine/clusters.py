"""Improving the best assignment by clusters of the current one, without leaving the current one.

A cluster is a set of variables in which the two differ and that factors join. No factor touches two of them,
so each is judged by itself: where the current values are better, the best assignment takes them over. As with
parts, a search need not be at its best everywhere at once to be remembered where it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import CoreState
from beacon.engine.incumbent import note_improvement, save_best
from beacon.jit import called, inlined
from beacon.model.flat import FlatModel

Members = NDArray[np.int32]
"""[variables] room for the variables of one cluster."""


@inlined
def _reach(core: CoreState, members: Members, variable: int, stamp: int, length: int) -> int:
    """Put a variable into the cluster if it differs and is in none yet; return the cluster's new length."""
    if core.assignment[variable] != core.best[variable] and core.stamps[variable] != stamp:
        core.stamps[variable] = stamp
        members[length] = variable
        length += 1
    return length


@inlined
def _grow_cluster(model: FlatModel, core: CoreState, members: Members, seed: int, stamp: int) -> int:
    """Fill ``members`` with the cluster of a variable; 0 if it does not differ or was seen before."""
    head, length = 0, _reach(core, members, seed, stamp, 0)
    while head < length:
        variable = members[head]
        head += 1
        for k in range(model.neighbour_starts[variable], model.neighbour_starts[variable + 1]):
            length = _reach(core, members, model.neighbours[k], stamp, length)
    return length


@inlined
def _change(model: FlatModel, current: int, best: int) -> tuple[float, int]:
    """What a factor's current entry has over its entry in the best assignment: score, and zeros."""
    is_zero, was_zero = model.log_table[current] == model.log_zero, model.log_table[best] == model.log_zero
    score = (0.0 if is_zero else model.log_table[current]) - (0.0 if was_zero else model.log_table[best])
    return score, is_zero * 1 - was_zero * 1


@inlined
def _change_of_pair(model: FlatModel, core: CoreState, link: int, variable: int) -> tuple[float, int]:
    """The change of a pair's factor; none if the other variable, which comes first, counts it."""
    other, stride = model.pairs[link, 2], model.pairs[link, 1]
    current = model.table_starts[model.pairs[link, 0]] + core.assignment[variable] * stride
    best = current + (core.best[variable] - core.assignment[variable]) * stride
    if other >= 0:
        change = core.best[other] - core.assignment[other]
        if other < variable and change != 0:
            return 0.0, 0
        current += core.assignment[other] * model.pairs[link, 3]
        best += core.best[other] * model.pairs[link, 3]
    return _change(model, current, best)


@inlined
def _change_of_wide(model: FlatModel, core: CoreState, factor: int, variable: int) -> tuple[float, int]:
    """The change of a wide factor; none if another variable, first in its scope, counts it."""
    current, shift, is_first = model.table_starts[factor], 0, True
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        other, stride = model.scopes[place, 0], model.scopes[place, 1]
        value = core.assignment[other]
        change = core.best[other] - value
        if change != 0:
            if is_first and other != variable:
                return 0.0, 0
            is_first = False
            shift += change * stride
        current += value * stride
    return _change(model, current, current + shift)


@inlined
def _cluster_gain(model: FlatModel, core: CoreState, members: Members, length: int) -> tuple[float, int, int]:
    """What the best assignment would gain by the cluster's current values: score, zeros, and the work."""
    score, zeros, work = 0.0, 0, 0
    for k in range(length):
        variable = members[k]
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            more, more_zeros = _change_of_pair(model, core, link, variable)
            score += more
            zeros += more_zeros
        for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
            more, more_zeros = _change_of_wide(model, core, model.wides[link, 0], variable)
            score += more
            zeros += more_zeros
        work += model.pair_starts[variable + 1] - model.pair_starts[variable]
        work += 2 * (model.wide_starts[variable + 1] - model.wide_starts[variable])
    return score, zeros, work


@inlined
def _harvest_part(model: FlatModel, core: CoreState, members: Members, part: Any, stamp: int) -> int:
    """Look at all clusters of a part; return the work done."""
    work = part["num_changed"]
    for k in range(part["first_changed"], part["first_changed"] + part["num_changed"]):
        length = _grow_cluster(model, core, members, core.changed[k], stamp)
        if length > 0:
            score, zeros, more_work = _cluster_gain(model, core, members, length)
            work += more_work
            if zeros < 0 or (zeros == 0 and score > part["tolerance"]):
                for place in range(length):
                    core.best[members[place]] = core.assignment[members[place]]
                note_improvement(core, part, score, zeros)
    return work  # type: ignore[no-any-return]


@called
def harvest_clusters(model: FlatModel, core: CoreState, members: Members) -> int:
    """Give the best assignment every cluster of the current one that is better; return the work done.

    Cost: the links of the variables in which the two differ, and the number of changed variables.
    """
    counters, work = core.counters[0], len(core.parts)
    counters["stamp"] += 1
    for k in range(len(core.parts)):
        part = core.parts[k]
        if part["best_is_current"]:
            save_best(core, part)
        else:
            work += _harvest_part(model, core, members, part, counters["stamp"])
    return work
