"""Regions: connected sets of free variables around one of them, and what their factors are worth."""

from __future__ import annotations

from beacon.engine.core import CoreState
from beacon.jit import inlined
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.state import TreeState, next_stamp


@inlined
def _reach(core: CoreState, own: TreeState, variable: int, ball: int, length: int) -> int:
    """Put a variable into the region if it is free and not there yet; return the region's new length."""
    if core.is_free[variable] and own.marks[variable]["region"] != ball:
        own.marks[variable]["region"] = ball
        own.region[length] = variable
        length += 1
    return length


@inlined
def grow_region(model: FlatModel, core: CoreState, own: TreeState, centre: int, size: int) -> int:
    """Fill the region breadth first from a free variable up to a size; return how many it holds."""
    ball, head = next_stamp(own), 0
    length = _reach(core, own, centre, ball, 0)
    while head < length < size:
        variable = own.region[head]
        head += 1
        for k in range(model.neighbour_starts[variable], model.neighbour_starts[variable + 1]):
            if length < size:
                length = _reach(core, own, model.neighbours[k], ball, length)
    return length


@inlined
def _entry(model: FlatModel, core: CoreState, factor: int) -> int:
    """A factor's entry at the current assignment."""
    entry = model.bases[factor]
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        entry += core.assignment[model.scopes[place, 0]] * model.scopes[place, 1]
    return entry  # type: ignore[no-any-return]


@inlined
def region_worth(model: FlatModel, core: CoreState, own: TreeState, length: int) -> tuple[float, int, int]:
    """Of the factors that touch the region: the sum of the non-zero ones, the zeros, the links looked at."""
    count, total, zeros, links = next_stamp(own), 0.0, 0, 0
    for k in range(length):
        variable = own.region[k]
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            factor = model.pairs[link, 0]
            links += 1
            if own.factor_stamps[factor] != count:
                own.factor_stamps[factor] = count
                entry = model.bases[factor] + core.assignment[variable] * model.pairs[link, 1]
                other = model.pairs[link, 2]
                if other >= 0:
                    entry += core.assignment[other] * model.pairs[link, 3]
                is_zero = model.log_table[entry] == model.log_zero
                zeros += is_zero * 1
                total += 0.0 if is_zero else model.log_table[entry]
        for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
            factor = model.wides[link, 0]
            links += model.scope_starts[factor + 1] - model.scope_starts[factor]
            if own.factor_stamps[factor] != count:
                own.factor_stamps[factor] = count
                entry = _entry(model, core, factor)
                is_zero = model.log_table[entry] == model.log_zero
                zeros += is_zero * 1
                total += 0.0 if is_zero else model.log_table[entry]
    return total, zeros, links


@inlined
def perturb(model: FlatModel, core: CoreState, own: TreeState, count: int) -> int:
    """Give seven in ten of the first ``count`` variables of the region random other values; how many."""
    changes = 0
    for k in range(count):
        if random_below(core.rng, 10) < 7:
            variable = own.region[k]
            shift = 1 + random_below(core.rng, model.domain_sizes[variable] - 1)
            core.assignment[variable] = (core.assignment[variable] + shift) % model.domain_sizes[variable]
            changes += 1
    return changes
