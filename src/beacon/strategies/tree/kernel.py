"""Tree moves: iterated local search whose moves are exact on random blocks of bounded width.

A region around a random variable is perturbed at its core, a few blocks inside it are given their best joint
assignments, and the outcome is kept if it is not worse. A search that stagnates begins afresh at random, and
when that stagnates too, crosses what it has found with the best.

A step is a variable given another value, by a perturbation or a block, kept or not: step budgets then mean
about the same work as flips. One region is not interrupted, so a step limit may be passed by a few.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from beacon.engine.core import CoreState, randomise, recount
from beacon.engine.incumbent import (
    RUNNING,
    Limits,
    harvest_clusters,
    is_better,
    may_continue,
    note_all_changed,
    note_best,
    note_change,
    outcome,
    save_all_best,
    save_best,
)
from beacon.engine.rows import VALUES_A_LINK
from beacon.jit import called, inlined, kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.block import grow_block
from beacon.strategies.tree.descent import begin_descent, best_value_alone, end_sweep_if_due, next_of_descent
from beacon.strategies.tree.elimination import best_on_block
from beacon.strategies.tree.region import grow_region, perturb, region_worth
from beacon.strategies.tree.state import TreeState, next_stamp, renew_stamps

SWEEP_WORK = 8  # a sweep may cost this many times the links of the model
_UNITS = 1 << 30


class TreeConstants(NamedTuple):
    """The numbers of the tree strategy as its kernel takes them."""

    min_region: int
    """Fewest variables of a region."""
    max_region: int
    """Most variables of a region."""
    block_entries: int
    """Most entries of a table that eliminates a variable of a block."""
    blocks: int
    """Blocks tried in each region."""
    first_sweeps: int
    """Sweeps of blocks over all free variables at the beginning."""
    restart_idle: float
    """Begin afresh after this many steps per free variable without a gain; 0: never."""
    hard_zero: float
    """What a zero factor counts: less than all else together."""


@inlined
def _uniform(core: CoreState) -> float:
    return random_below(core.rng, _UNITS) / _UNITS


@inlined
def _region_size(core: CoreState, constants: TreeConstants) -> int:
    """Small regions as often as large ones, on a logarithmic scale."""
    span = math.log(constants.max_region / constants.min_region)
    return int(constants.min_region * math.exp(_uniform(core) * span))


@inlined
def _move_block(
    model: FlatModel, core: CoreState, own: TreeState, constants: TreeConstants, length: int, held: int
) -> tuple[int, int]:
    """Give a block in the region its best joint assignment; return the changes, and its members."""
    count = grow_block(model, core, own, constants.block_entries, length, held)
    changes, entries = best_on_block(model, core, own, constants.hard_zero, count)
    core.counters[0]["work"] += entries // VALUES_A_LINK
    return changes, count


@inlined
def _rearrange(
    model: FlatModel, core: CoreState, own: TreeState, constants: TreeConstants, length: int, shakes: bool
) -> int:
    """Give blocks in the region their best joint assignments: after a perturbation, or one block of a sweep.

    The first block after a perturbation leaves alone what was perturbed, since it would only put it back; the
    later ones may change it. Return the changes made.
    """
    inner, num_blocks, count = 0, 1, 0
    if shakes:
        inner = max(1, int(length * (0.1 + 0.4 * _uniform(core))))
        num_blocks = constants.blocks
    changes = perturb(model, core, own, inner)
    for k in range(num_blocks):
        more, count = _move_block(model, core, own, constants, length, inner if k == 0 else 0)
        changes += more
    if not shakes:
        _mark_swept(own, constants, count)
    return changes


@inlined
def _mark_swept(own: TreeState, constants: TreeConstants, count: int) -> None:
    """A sweep has put the members of a block to their best: the next block is to begin elsewhere."""
    counters = own.counters[0]
    for k in range(count):
        own.marks[own.blocks.members[k]["variable"]]["swept"] = counters["sweep_stamp"]
    counters["sweep_size"] = min(constants.max_region, max(constants.min_region, 2 * count))


@inlined
def _keep(core: CoreState, own: TreeState, length: int, gain: float, zeros: int) -> None:
    """Go on from the outcome of a move, which gains so much and has so many zero factors more."""
    part = core.parts[core.part_of[own.region[0]]]
    if zeros < 0 or gain > 1e-9:
        own.counters[0]["last_gain"] = core.counters[0]["steps"]
    part["score"] += gain
    part["zeros"] += zeros
    for k in range(length):
        variable = own.region[k]
        if own.marks[variable]["saved"] != core.assignment[variable]:
            note_change(core, part, variable)
    if is_better(part):
        note_best(core, part)


@called
def _move_region(
    model: FlatModel,
    core: CoreState,
    own: TreeState,
    constants: TreeConstants,
    centre: int,
    size: int,
    shakes: bool,
) -> None:
    """Change one region, by a perturbation and blocks or by one block alone; keep it if it is not worse."""
    counters = core.counters[0]
    length = grow_region(model, core, own, centre, size)
    save_best(core, core.parts[core.part_of[centre]])
    total, zeros, links = region_worth(model, core, own, length)
    for k in range(length):
        own.marks[own.region[k]]["saved"] = core.assignment[own.region[k]]
    changes = _rearrange(model, core, own, constants, length, shakes)
    new_total, new_zeros, _ = region_worth(model, core, own, length)
    counters["steps"] += changes
    counters["local_optima"] += 1
    links *= 1 + model.domain_sizes[centre] // VALUES_A_LINK
    counters["work"] += links * (1 + constants.blocks) // 2
    if new_zeros < zeros or (new_zeros == zeros and new_total - total >= -1e-12):
        _keep(core, own, length, new_total - total, new_zeros - zeros)
    else:
        for k in range(length):
            core.assignment[own.region[k]] = own.marks[own.region[k]]["saved"]


@called
def _descend(model: FlatModel, core: CoreState, own: TreeState, constants: TreeConstants) -> None:
    """Look at one variable more in the first descent, and move it if that gains enough now."""
    counters, tree = core.counters[0], own.counters[0]
    variable = next_of_descent(core, own)
    value, gain = best_value_alone(model, core, own, constants.hard_zero, variable)
    links = model.neighbour_starts[variable + 1] - model.neighbour_starts[variable]
    counters["work"] += links * (1 + model.domain_sizes[variable] // VALUES_A_LINK)
    if gain > tree["threshold"]:
        save_best(core, core.parts[core.part_of[variable]])
        own.region[0] = variable
        total, zeros, _ = region_worth(model, core, own, 1)
        own.marks[variable]["saved"] = core.assignment[variable]
        core.assignment[variable] = value
        new_total, new_zeros, _ = region_worth(model, core, own, 1)
        counters["steps"] += 1
        _keep(core, own, 1, new_total - total, new_zeros - zeros)
    else:
        tree["left"] = max(tree["left"], gain)
    end_sweep_if_due(own)


@inlined
def _is_sweeping(model: FlatModel, own: TreeState, constants: TreeConstants) -> bool:
    """Are the first sweeps still going on? On dense models, where blocks are small, they end early."""
    counters, most_work = own.counters[0], SWEEP_WORK * constants.first_sweeps * len(model.scopes)
    return bool(counters["sweeps"] < constants.first_sweeps and counters["sweep_work"] < most_work)


@inlined
def _next_centre(core: CoreState, own: TreeState, sweeps: bool) -> int:
    """A random free variable, or the next one that the sweep has not put into a block yet; -1 at its end."""
    counters, num_free = own.counters[0], len(own.free)
    if not sweeps:
        return own.free[random_below(core.rng, num_free)]  # type: ignore[no-any-return]
    if counters["sweep_at"] == 0:
        counters["sweep_stamp"] = next_stamp(own)
        counters["sweep_first"] = random_below(core.rng, num_free)
    while counters["sweep_at"] < num_free:
        variable = own.free[(counters["sweep_first"] + counters["sweep_at"]) % num_free]
        counters["sweep_at"] += 1
        if own.marks[variable]["swept"] != counters["sweep_stamp"]:
            return variable  # type: ignore[no-any-return]
    counters["sweep_at"] = 0
    counters["sweeps"] += 1
    return -1


@inlined
def _cross_with_best(model: FlatModel, core: CoreState, own: TreeState) -> None:
    """Give the best assignment every cluster of the current one that is better, and go on from there."""
    harvest_clusters(model, core, own.region)
    for k in range(len(core.parts)):
        part = core.parts[k]
        for place in range(part["first_changed"], part["first_changed"] + part["num_changed"]):
            variable = core.changed[place]
            core.assignment[variable] = core.best[variable]
            core.is_changed[variable] = False
        part["num_changed"] = 0
        part["score"] = part["best_score"]
        part["zeros"] = part["best_zeros"]


@called
def _change_course(model: FlatModel, core: CoreState, own: TreeState) -> None:
    """After stagnation: from the best to a fresh start, or from a fresh start back, crossed with the best."""
    counters = own.counters[0]
    save_all_best(core)
    if counters["is_fresh"]:
        _cross_with_best(model, core, own)
    else:
        randomise(model, core)
        recount(model, core)
        note_all_changed(core)
        core.counters[0]["work"] += len(model.scopes)
        begin_descent(own)
        counters["sweeps"] = 0
        counters["sweep_work"] = 0
    counters["is_fresh"] = not counters["is_fresh"]
    counters["last_gain"] = core.counters[0]["steps"]


@inlined
def _is_idle(core: CoreState, own: TreeState, constants: TreeConstants) -> bool:
    limit = constants.restart_idle * len(own.free)
    return bool(limit > 0 and core.counters[0]["steps"] - own.counters[0]["last_gain"] >= limit)


@inlined
def _sweep_or_shake(model: FlatModel, core: CoreState, own: TreeState, constants: TreeConstants) -> None:
    """Move one region: the next block of the first sweeps, or a random region perturbed."""
    counters, tree = core.counters[0], own.counters[0]
    sweeps = _is_sweeping(model, own, constants)
    if not sweeps and _is_idle(core, own, constants):
        _change_course(model, core, own)
        return
    work, centre, size = counters["work"], _next_centre(core, own, sweeps), tree["sweep_size"]
    if not sweeps:
        size = _region_size(core, constants)
    if centre >= 0:
        _move_region(model, core, own, constants, centre, size, not sweeps)
    if sweeps:
        tree["sweep_work"] += counters["work"] - work


@kernel
def run_tree(
    model: FlatModel, core: CoreState, own: TreeState, constants: TreeConstants, limits: Limits
) -> int:
    """Descend, sweep everything a few times, then region after region until a limit is reached."""
    counters = core.counters[0]
    verdict = outcome(core, limits)
    while verdict == RUNNING and may_continue(core, limits):
        renew_stamps(own)
        if own.counters[0]["descents"] > 0:
            _descend(model, core, own, constants)
        else:
            _sweep_or_shake(model, core, own, constants)
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(core, limits)
    return verdict
