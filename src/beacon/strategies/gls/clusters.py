"""Bettering the best assignment by clusters of the current one, without leaving the current one.

A cluster is a set of variables in which the two differ and that factors join. No factor touches two of them,
so each is judged by itself: where the current values are better, the best assignment takes them over. As with
parts, a search need not be at its best everywhere at once to be remembered where it is.
"""

from __future__ import annotations

from typing import Any

from beacon.engine.core import SearchState
from beacon.engine.incumbent import note_improvement, save_best
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel


@inlined
def _differs(state: SearchState, variable: int) -> bool:
    return bool(state.assignment[variable] != state.best[variable])


@inlined
def _reach(state: SearchState, variable: int, stamp: int, length: int) -> int:
    """Put a variable into the cluster if it differs and is in none yet; return the cluster's new length."""
    if _differs(state, variable) and state.stamps[variable] != stamp:
        state.stamps[variable] = stamp
        state.touched[length] = variable
        length += 1
    return length


@inlined
def _grow_cluster(model: FlatModel, state: SearchState, seed: int, stamp: int) -> int:
    """Write the cluster of a variable into ``touched``; 0 if it does not differ or was seen before."""
    head, length = 0, _reach(state, seed, stamp, 0)
    while head < length:
        variable = state.touched[head]
        head += 1
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            if model.pairs[link, 2] >= 0:
                length = _reach(state, model.pairs[link, 2], stamp, length)
        for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
            factor = model.wides[link, 0]
            for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
                length = _reach(state, model.scopes[place, 0], stamp, length)
    return length


@inlined
def _change(model: FlatModel, current: int, best: int) -> tuple[float, int]:
    """What a factor's current entry has over its entry in the best assignment: score, and zeros."""
    is_zero, was_zero = model.log_table[current] == model.log_zero, model.log_table[best] == model.log_zero
    score = (0.0 if is_zero else model.log_table[current]) - (0.0 if was_zero else model.log_table[best])
    return score, is_zero * 1 - was_zero * 1


@inlined
def _wide_best_entry(model: FlatModel, state: SearchState, factor: int, variable: int) -> int:
    """A factor's entry in the best assignment; -1 if another variable, first in its scope, counts it."""
    entry, is_first = state.entries[factor], True
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        other = model.scopes[place, 0]
        change = state.best[other] - state.assignment[other]
        if change != 0:
            if is_first and other != variable:
                return -1
            is_first = False
            entry += change * model.scopes[place, 1]
    return entry  # type: ignore[no-any-return]


@inlined
def _cluster_gain(model: FlatModel, state: SearchState, length: int) -> tuple[float, int]:
    """What the best assignment would gain by the cluster's current values: score, and zeros."""
    score, zeros = 0.0, 0
    for k in range(length):
        variable = state.touched[k]
        change = state.best[variable] - state.assignment[variable]
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            factor, other = model.pairs[link, 0], model.pairs[link, 2]
            entry = state.entries[factor] + change * model.pairs[link, 1]
            if other >= 0:
                if other < variable and _differs(state, other):
                    continue  # counted there
                entry += (state.best[other] - state.assignment[other]) * model.pairs[link, 3]
            more, more_zeros = _change(model, state.entries[factor], entry)
            score += more
            zeros += more_zeros
        for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
            factor = model.wides[link, 0]
            entry = _wide_best_entry(model, state, factor, variable)
            if entry >= 0:
                more, more_zeros = _change(model, state.entries[factor], entry)
                score += more
                zeros += more_zeros
    return score, zeros


@inlined
def _work(model: FlatModel, state: SearchState, length: int) -> int:
    """What it took to grow a cluster and judge it, in the measure of flips."""
    links = 0
    for k in range(length):
        variable = state.touched[k]
        links += model.pair_starts[variable + 1] - model.pair_starts[variable]
        links += 2 * (model.wide_starts[variable + 1] - model.wide_starts[variable])
    return links


@inlined
def _harvest_part(model: FlatModel, state: SearchState, part: Any, stamp: int) -> int:
    """Look at all clusters of a part; return the work done."""
    work = part["num_changed"]
    for k in range(part["first_changed"], part["first_changed"] + part["num_changed"]):
        length = _grow_cluster(model, state, state.changed[k], stamp)
        if length > 0:
            work += _work(model, state, length)
            score, zeros = _cluster_gain(model, state, length)
            if zeros < 0 or (zeros == 0 and score > part["tolerance"]):
                for place in range(length):
                    state.best[state.touched[place]] = state.assignment[state.touched[place]]
                note_improvement(state, part, score, zeros)
    return work  # type: ignore[no-any-return]


@kernel
def harvest_clusters(model: FlatModel, state: SearchState) -> int:
    """Give the best assignment every cluster of the current one that is better; return the work done.

    Cost: the links of the variables in which the two differ, and the number of changed variables.
    """
    counters, work = state.counters[0], len(state.parts)
    counters["stamp"] += 1
    for k in range(len(state.parts)):
        part = state.parts[k]
        if part["best_is_current"]:
            save_best(state, part)
        else:
            work += _harvest_part(model, state, part, counters["stamp"])
    return work
