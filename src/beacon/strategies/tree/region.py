"""Regions: connected sets of free variables around a random one, and what their factors are worth."""

from __future__ import annotations

from beacon.engine.core import SearchState
from beacon.jit import inlined
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.max_product import entry_without
from beacon.strategies.tree.state import next_stamp


@inlined
def _reach(state: SearchState, variable: int, ball: int, length: int) -> int:
    trees = state.trees
    if state.is_free[variable] and trees.region_stamps[variable] != ball:
        trees.region_stamps[variable] = ball
        trees.region[length] = variable
        length += 1
    return length


@inlined
def grow_region(model: FlatModel, state: SearchState, centre: int, size: int) -> int:
    """Fill the region breadth first from a free variable up to a size; return how many it holds."""
    trees = state.trees
    ball, head = next_stamp(trees), 0
    length = _reach(state, centre, ball, 0)
    while head < length < size:
        variable = trees.region[head]
        head += 1
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            if length < size and model.pairs[link, 2] >= 0:
                length = _reach(state, model.pairs[link, 2], ball, length)
        for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
            factor = model.wides[link, 0]
            for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
                if length < size:
                    length = _reach(state, model.scopes[place, 0], ball, length)
    return length


@inlined
def region_worth(model: FlatModel, state: SearchState, length: int) -> tuple[float, int, int]:
    """Of the factors that touch the region: the sum of the non-zero ones, the zeros, the links looked at."""
    trees = state.trees
    count, total, zeros, links = next_stamp(trees), 0.0, 0, 0
    for k in range(length):
        variable = trees.region[k]
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            factor, other = model.pairs[link, 0], model.pairs[link, 2]
            links += 1
            if trees.factor_stamps[factor] != count:
                trees.factor_stamps[factor] = count
                entry = model.table_starts[factor] + state.assignment[variable] * model.pairs[link, 1]
                if other >= 0:
                    entry += state.assignment[other] * model.pairs[link, 3]
                is_zero = model.log_table[entry] == model.log_zero
                zeros += is_zero * 1
                total += 0.0 if is_zero else model.log_table[entry]
        for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
            factor = model.wides[link, 0]
            links += model.scope_starts[factor + 1] - model.scope_starts[factor]
            if trees.factor_stamps[factor] != count:
                trees.factor_stamps[factor] = count
                entry = entry_without(model, state, factor, -1, -1)
                is_zero = model.log_table[entry] == model.log_zero
                zeros += is_zero * 1
                total += 0.0 if is_zero else model.log_table[entry]
    return total, zeros, links


@inlined
def perturb_region(model: FlatModel, state: SearchState, count: int) -> None:
    """Give the first ``count`` variables of the region, its core, random other values."""
    for k in range(count):
        variable = state.trees.region[k]
        shift = 1 + random_below(state.rng, model.domain_sizes[variable] - 1)
        state.assignment[variable] = (state.assignment[variable] + shift) % model.domain_sizes[variable]
