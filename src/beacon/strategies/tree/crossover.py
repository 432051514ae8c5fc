"""Joining two assignments: where they differ, the better of each cluster of differences.

Clusters are differing variables that factors join. No factor touches two of them, so each can be judged by
itself, and the outcome is at least as good as both parents.
"""

from __future__ import annotations

from beacon.engine.core import SearchState
from beacon.engine.incumbent import is_better, note_best, note_change
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.strategies.tree.region import region_worth
from beacon.strategies.tree.state import next_stamp


@inlined
def _reach(state: SearchState, variable: int, seen: int, length: int) -> int:
    trees = state.trees
    differs = trees.saved[variable] != state.assignment[variable]
    if state.is_free[variable] and differs and trees.visit_stamps[variable] != seen:
        trees.visit_stamps[variable] = seen
        trees.region[length] = variable
        length += 1
    return length


@inlined
def _grow_cluster(model: FlatModel, state: SearchState, seed: int, seen: int) -> int:
    """Fill the region with the cluster of a variable; 0 if it does not differ or was seen before."""
    head, length = 0, _reach(state, seed, seen, 0)
    while head < length:
        variable = state.trees.region[head]
        head += 1
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            if model.pairs[link, 2] >= 0:
                length = _reach(state, model.pairs[link, 2], seen, length)
        for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
            factor = model.wides[link, 0]
            for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
                length = _reach(state, model.scopes[place, 0], seen, length)
    return length


@inlined
def _swap_values(state: SearchState, length: int) -> None:
    trees = state.trees
    for k in range(length):
        variable = trees.region[k]
        value = state.assignment[variable]
        state.assignment[variable] = trees.saved[variable]
        trees.saved[variable] = value


@inlined
def _take_if_better(model: FlatModel, state: SearchState, length: int) -> None:
    """Give a cluster the values of the other parent if that is better."""
    part = state.parts[state.part_of[state.trees.region[0]]]
    total, zeros, _ = region_worth(model, state, length)
    _swap_values(state, length)
    new_total, new_zeros, _ = region_worth(model, state, length)
    if new_zeros < zeros or (new_zeros == zeros and new_total > total):
        part["score"] += new_total - total
        part["zeros"] += new_zeros - zeros
        for k in range(length):
            note_change(state, part, state.trees.region[k])
    else:
        _swap_values(state, length)


@kernel
def cross_with_best(model: FlatModel, state: SearchState) -> None:
    """Go on from the best assignment, improved by whatever clusters of the current one are better.

    Cost: the links of the variables in which the two differ, and the number of variables.
    """
    for variable in range(len(state.assignment)):
        state.trees.saved[variable] = state.assignment[variable]
        state.assignment[variable] = state.best[variable]
        state.is_changed[variable] = False
    for k in range(len(state.parts)):
        part = state.parts[k]
        part["score"] = part["best_score"]
        part["zeros"] = part["best_zeros"]
        part["num_changed"] = 0
    seen = next_stamp(state.trees)
    for variable in range(len(state.assignment)):
        length = _grow_cluster(model, state, variable, seen)
        if length > 0:
            _take_if_better(model, state, length)
    for k in range(len(state.parts)):
        if is_better(state.parts[k]):
            note_best(state, state.parts[k])
