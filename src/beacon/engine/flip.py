"""The flip: give one variable another value and bring everything that depends on it up to date."""

from __future__ import annotations

from typing import Any

from beacon.engine.core import SearchState, best_gain, rebuild
from beacon.engine.incumbent import is_better, note_best, note_change, save_best
from beacon.engine.limits import EPSILON
from beacon.engine.max_tree import LOWEST, pick_top, set_leaf
from beacon.jit import inlined
from beacon.model.flat import FlatModel
from beacon.rng import random_below

REFRESH_STEPS = 1 << 20  # recompute what flips update, before rounding errors can add up


@inlined
def best_value(model: FlatModel, state: SearchState, variable: int) -> int:
    """The best value of a variable other than its current one, ties at random."""
    if model.domain_sizes[variable] == 2:
        return 1 - state.assignment[variable]  # type: ignore[no-any-return]
    start, ties, chosen, top = model.move_starts[variable], 0, -1, LOWEST
    for value in range(model.domain_sizes[variable]):
        if value == state.assignment[variable]:
            continue
        score = state.local_scores[start + value]
        if score > top + EPSILON:
            ties, chosen, top = 1, value, score
        elif score >= top - EPSILON:
            ties += 1
            if random_below(state.rng, ties) == 0:
                chosen = value
    return chosen


@inlined
def _move_factor(
    model: FlatModel, state: SearchState, part: Any, factor: int, old: int, new: int, penalising: bool
) -> None:
    """Move a factor's current entry, with the score and the utility that hang on it."""
    before, after = model.log_table[old], model.log_table[new]
    was_zero, is_zero = before == model.log_zero, after == model.log_zero
    part["score"] += (0.0 if is_zero else after) - (0.0 if was_zero else before)
    part["zeros"] += is_zero * 1 - was_zero * 1
    state.entries[factor] = new
    if penalising:
        set_leaf(state.factor_utilities, state.utility_levels, factor, state.utilities[new])


@inlined
def _shift_local_scores(
    model: FlatModel, state: SearchState, variable: int, stride: int, old: int, new: int
) -> None:
    """A factor moved from one entry to another: change the local scores of one of its variables."""
    value = state.assignment[variable]
    table, first = state.penalised_table, model.move_starts[variable]
    old -= value * stride
    new -= value * stride
    if model.move_starts[variable + 1] - first == 2:
        state.local_scores[first] += table[new] - table[old]
        state.local_scores[first + 1] += table[new + stride] - table[old + stride]
        return
    for other in range(model.move_starts[variable + 1] - first):
        state.local_scores[first + other] += table[new + other * stride] - table[old + other * stride]


@inlined
def _flip_pairs(
    model: FlatModel, state: SearchState, part: Any, variable: int, change: int, penalising: bool
) -> None:
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        factor = model.pairs[link, 0]
        old = state.entries[factor]
        new = old + change * model.pairs[link, 1]
        _move_factor(model, state, part, factor, old, new, penalising)
        other = model.pairs[link, 2]
        if other >= 0 and state.gains[other] > LOWEST:
            _shift_local_scores(model, state, other, model.pairs[link, 3], old, new)
            set_leaf(state.gains, state.gain_levels, other, best_gain(model, state, other))


@inlined
def _flip_wides(
    model: FlatModel, state: SearchState, part: Any, variable: int, change: int, penalising: bool
) -> None:
    counters = state.counters[0]
    counters["stamp"] += 1
    stamp, num_touched = counters["stamp"], 0
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor = model.wides[link, 0]
        old = state.entries[factor]
        new = old + change * model.wides[link, 1]
        _move_factor(model, state, part, factor, old, new, penalising)
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            other = model.scopes[place, 0]
            if other != variable and state.gains[other] > LOWEST:
                _shift_local_scores(model, state, other, model.scopes[place, 1], old, new)
                if state.stamps[other] != stamp:
                    state.stamps[other] = stamp
                    state.touched[num_touched] = other
                    num_touched += 1
    for k in range(num_touched):
        other = state.touched[k]
        set_leaf(state.gains, state.gain_levels, other, best_gain(model, state, other))


@inlined
def flip(model: FlatModel, state: SearchState, variable: int, value: int, penalising: bool) -> None:
    """Make one step. Cost: the variable's factors, their other variables and those variables' values."""
    counters = state.counters[0]
    part = state.parts[state.part_of[variable]]
    if part["best_is_current"]:
        save_best(state, part)
    change = value - state.assignment[variable]
    _flip_pairs(model, state, part, variable, change, penalising)
    _flip_wides(model, state, part, variable, change, penalising)
    state.assignment[variable] = value
    set_leaf(state.gains, state.gain_levels, variable, best_gain(model, state, variable))
    counters["steps"] += 1
    counters["work"] += 2 + model.pair_starts[variable + 1] - model.pair_starts[variable]
    counters["work"] += 2 * (model.wide_starts[variable + 1] - model.wide_starts[variable])
    note_change(state, part, variable)
    if is_better(part):
        note_best(state, part)


@inlined
def climb(model: FlatModel, state: SearchState, penalising: bool) -> None:
    """Make the best move there is, ties at random."""
    variable = pick_top(state.gains, state.gain_levels, EPSILON, state.rng)
    flip(model, state, variable, best_value(model, state, variable), penalising)
    if state.counters[0]["steps"] % REFRESH_STEPS == 0:
        rebuild(model, state)
