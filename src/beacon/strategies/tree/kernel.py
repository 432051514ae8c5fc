"""Tree moves: iterated local search whose moves are exact on random blocks of bounded width, or forests.

A region around a random variable is perturbed at its core, a few blocks or forests inside it are given their
best joint assignments, and the outcome is kept if it is not worse. A search that stagnates begins afresh at
random, and when that stagnates too, crosses what it has found with the best.

A step is a variable given another value, by a perturbation, a block or a forest, kept or not: step budgets
then mean about the same work as flips. One region is not interrupted, so a step limit may be passed by a few.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from beacon.engine.core import SearchState, randomise, recount
from beacon.engine.incumbent import (
    is_better,
    note_all_changed,
    note_best,
    note_change,
    save_all_best,
    save_best,
)
from beacon.engine.limits import RUNNING, Limits, may_continue, outcome
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.block_moves import shake_by_blocks
from beacon.strategies.tree.crossover import cross_with_best
from beacon.strategies.tree.forest import grow_forest
from beacon.strategies.tree.max_product import best_on_forest
from beacon.strategies.tree.region import grow_region, perturb_region, region_worth
from beacon.strategies.tree.state import renew_stamps

_UNITS = 1 << 30


class TreeConstants(NamedTuple):
    """The numbers of the tree strategy as its kernel takes them."""

    min_region: int
    """Fewest variables of a region."""
    max_region: int
    """Most variables of a region."""
    block_entries: int
    """Most entries of a table that eliminates a variable of a block; 0: forests instead of blocks."""
    sweeps: int
    """Blocks or forests tried in each region."""
    first_sweeps: int
    """Forests over all free variables at the beginning."""
    acceptance: float
    """How readily worse outcomes of a region are kept, in nats; 0: never."""
    restart_idle: float
    """Begin afresh after so many steps per free variable without a gain; 0: never."""
    hard_zero: float
    """What a zero factor counts: less than all else together."""


@inlined
def _uniform(state: SearchState) -> float:
    return random_below(state.rng, _UNITS) / _UNITS


@inlined
def _sweep(model: FlatModel, state: SearchState, constants: TreeConstants, length: int) -> int:
    """One forest inside the region; return the changes made."""
    forest = grow_forest(model, state, length)
    return best_on_forest(model, state, constants.hard_zero, length, forest)


@inlined
def _sweep_everything(model: FlatModel, state: SearchState, constants: TreeConstants) -> None:
    """One forest over all free variables. Cost: the links of the model."""
    counters, length = state.counters[0], 0
    save_all_best(state)
    for variable in range(len(state.assignment)):
        if state.is_free[variable]:
            state.trees.region[length] = variable
            length += 1
    counters["steps"] += _sweep(model, state, constants, length)
    counters["sweeps"] += 1
    counters["work"] += len(model.pairs) + 3 * len(model.wides)
    recount(model, state)
    note_all_changed(state)


@inlined
def _random_free(state: SearchState) -> int:
    """A free variable: one of those listed at the beginning."""
    return state.touched[random_below(state.rng, state.counters[0]["num_free"])]  # type: ignore[no-any-return]


@inlined
def _region_size(state: SearchState, constants: TreeConstants) -> int:
    """Small regions as often as large ones, on a logarithmic scale."""
    span = math.log(constants.max_region / constants.min_region)
    return int(constants.min_region * math.exp(_uniform(state) * span))


@inlined
def _shake(model: FlatModel, state: SearchState, constants: TreeConstants, length: int, core: int) -> int:
    """Perturb the region's core and sweep it all; return the changes made."""
    if constants.block_entries > 0:
        return shake_by_blocks(
            model, state, constants.block_entries, constants.sweeps, constants.hard_zero, length, core
        )
    perturb_region(model, state, core)
    changes = core
    for _ in range(constants.sweeps):
        changes += _sweep(model, state, constants, length)
    return changes


@inlined
def _is_kept(state: SearchState, constants: TreeConstants, gain: float) -> bool:
    """Is an outcome with as many zero factors good enough? A worse one may be, as chance will have it."""
    if gain >= -1e-12:
        return True
    return bool(constants.acceptance > 0.0 and _uniform(state) < math.exp(gain / constants.acceptance))


@inlined
def _note_progress(state: SearchState, gain: float, has_fewer_zeros: bool) -> None:
    """Note when the search was last higher than ever on this course: to regain what was lost is no gain."""
    counters = state.counters[0]
    if has_fewer_zeros or gain > counters["lost"] + 1e-9:
        counters["last_gain"] = counters["steps"]
        counters["lost"] = 0.0
    elif abs(gain) > 1e-9:
        counters["lost"] = max(0.0, counters["lost"] - gain)


@inlined
def _improve_region(model: FlatModel, state: SearchState, constants: TreeConstants) -> None:
    """Perturb one region, sweep it, and keep the outcome if it is good enough."""
    counters, trees = state.counters[0], state.trees
    length = grow_region(model, state, _random_free(state), _region_size(state, constants))
    part = state.parts[state.part_of[trees.region[0]]]
    save_best(state, part)
    total, zeros, links = region_worth(model, state, length)
    for k in range(length):
        trees.saved[trees.region[k]] = state.assignment[trees.region[k]]
    core = max(1, int(length * (0.1 + 0.4 * _uniform(state))))
    changes = _shake(model, state, constants, length, core)
    new_total, new_zeros, _ = region_worth(model, state, length)
    counters["steps"] += changes
    counters["local_optima"] += 1
    counters["work"] += links * (1 + constants.sweeps) // 2
    gain = new_total - total
    if new_zeros < zeros or (new_zeros == zeros and _is_kept(state, constants, gain)):
        _note_progress(state, gain, new_zeros < zeros)
        part["score"] += gain
        part["zeros"] += new_zeros - zeros
        for k in range(length):
            if trees.saved[trees.region[k]] != state.assignment[trees.region[k]]:
                note_change(state, part, trees.region[k])
        if is_better(part):
            note_best(state, part)
    else:
        for k in range(length):
            state.assignment[trees.region[k]] = trees.saved[trees.region[k]]


@inlined
def _is_idle(state: SearchState, constants: TreeConstants) -> bool:
    counters = state.counters[0]
    limit = constants.restart_idle * counters["num_free"]
    return bool(limit > 0 and counters["steps"] - counters["last_gain"] >= limit)


@inlined
def _change_course(model: FlatModel, state: SearchState) -> None:
    """After stagnation: from the best to a fresh start, or from a fresh start back, crossed with the best."""
    counters = state.counters[0]
    save_all_best(state)
    if counters["is_fresh"]:
        cross_with_best(model, state)
    else:
        randomise(model, state)
        recount(model, state)
        note_all_changed(state)
        counters["work"] += len(model.scopes)
        counters["sweeps"] = 0
    counters["is_fresh"] = not counters["is_fresh"]
    counters["last_gain"] = counters["steps"]
    counters["lost"] = 0.0


@kernel
def run_tree(model: FlatModel, state: SearchState, constants: TreeConstants, limits: Limits) -> int:
    """Sweep everything a few times, then region after region until a limit is reached."""
    counters, length = state.counters[0], 0
    for variable in range(len(state.assignment)):
        if state.is_free[variable]:
            state.touched[length] = variable
            length += 1
    verdict = outcome(state, limits)
    while verdict == RUNNING and may_continue(state, limits):
        renew_stamps(state.trees)
        if counters["sweeps"] < constants.first_sweeps:
            _sweep_everything(model, state, constants)
        elif _is_idle(state, constants):
            _change_course(model, state)
        else:
            _improve_region(model, state, constants)
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(state, limits)
    return verdict
