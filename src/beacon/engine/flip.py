"""The flip: give one variable another value and bring everything that depends on it up to date."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import CoreState, best_gain, model_entry, rebuild
from beacon.engine.incumbent import EPSILON, is_better, note_best, note_change, save_best
from beacon.engine.max_tree import LOWEST, pick_top, set_leaf
from beacon.engine.rows import VALUES_A_LINK, Rows, potential_by_row, shift_by_rows
from beacon.jit import inlined
from beacon.model.flat import FlatModel
from beacon.rng import random_below

REFRESH_STEPS = 1 << 20  # recompute what flips update, before rounding errors can add up


class Utilities(NamedTuple):
    """What penalising each factor's current entry would be worth: flips keep it up to date."""

    tops: NDArray[np.float64]
    """[factors] what costs are counted from."""
    penalties: NDArray[np.float32]
    """[entries of the search's table, or of the model's where it keeps rows]"""
    tree: NDArray[np.float32]
    """Max tree over factors: the utility of each current entry."""
    levels: NDArray[np.int32]
    """Level starts of ``tree``."""


@inlined
def best_value(model: FlatModel, core: CoreState, variable: int) -> int:
    """The best value of a variable other than its current one, ties at random."""
    if model.domain_sizes[variable] == 2:
        return 1 - core.assignment[variable]  # type: ignore[no-any-return]
    start, ties, chosen, top = model.move_starts[variable], 0, -1, LOWEST
    for value in range(model.domain_sizes[variable]):
        if value == core.assignment[variable]:
            continue
        score = core.local_scores[start + value]
        if score > top + EPSILON:
            ties, chosen, top = 1, value, score
        elif score >= top - EPSILON:
            ties += 1
            if random_below(core.rng, ties) == 0:
                chosen = value
    return chosen


@inlined
def utility(model: FlatModel, core: CoreState, utilities: Utilities, factor: int, entry: int) -> np.float32:
    """Cost of an entry over 1 + its penalty."""
    log_potential = model.log_table[model_entry(model, core, factor, entry)]
    penalty = utilities.penalties[entry]
    return _worth(utilities, factor, log_potential, penalty)


@inlined
def _worth(utilities: Utilities, factor: int, log_potential: float, penalty: np.float32) -> np.float32:
    """A utility in single precision, so that equal costs tie exactly."""
    cost = max(0.0, utilities.tops[factor] - log_potential)
    return np.float32(cost if penalty == 0 else cost / (1.0 + float(penalty)))  # few entries are penalised


@inlined
def _change_score(model: FlatModel, part: Any, before: float, after: float) -> None:
    """A factor has moved from one log-potential to another."""
    was_zero, is_zero = before == model.log_zero, after == model.log_zero
    part["score"] += (0.0 if is_zero else after) - (0.0 if was_zero else before)
    part["zeros"] += is_zero * 1 - was_zero * 1


@inlined
def _move_factor(
    model: FlatModel,
    core: CoreState,
    utilities: Utilities | None,
    part: Any,
    factor: int,
    old: int,
    new: int,
) -> None:
    """Move a factor's current entry, with the score and the utility that hang on it."""
    before = model.log_table[model_entry(model, core, factor, old)]
    after = model.log_table[model_entry(model, core, factor, new)]
    _change_score(model, part, before, after)
    core.entries[factor] = new
    if utilities is not None:
        worth = _worth(utilities, factor, after, utilities.penalties[new])
        set_leaf(utilities.tree, utilities.levels, factor, worth)


@inlined
def _shift_local_scores(
    model: FlatModel, core: CoreState, variable: int, stride: int, old: int, new: int
) -> None:
    """A factor moved from one entry to another: change the local scores of one of its variables."""
    value = core.assignment[variable]
    table, first = core.table, model.move_starts[variable]
    old -= value * stride
    new -= value * stride
    if model.move_starts[variable + 1] - first == 2:
        core.local_scores[first] += table[new] - table[old]
        core.local_scores[first + 1] += table[new + stride] - table[old + stride]
        return
    for other in range(model.move_starts[variable + 1] - first):
        core.local_scores[first + other] += table[new + other * stride] - table[old + other * stride]


@inlined
def _flip_pairs(
    model: FlatModel, core: CoreState, utilities: Utilities | None, part: Any, variable: int, change: int
) -> None:
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        factor = model.pairs[link, 0]
        old = core.entries[factor]
        new = old + change * model.pairs[link, 1]
        _move_factor(model, core, utilities, part, factor, old, new)
        other = model.pairs[link, 2]
        if other >= 0 and core.gains[other] > LOWEST:
            _shift_local_scores(model, core, other, model.pairs[link, 3], old, new)
            set_leaf(core.gains, core.gain_levels, other, best_gain(model, core, core.rows, other))


@inlined
def _flip_rows(
    model: FlatModel,
    core: CoreState,
    rows: Rows,
    utilities: Utilities | None,
    part: Any,
    variable: int,
    value: int,
) -> None:
    """The same by rows. Penalties are read only where a row has some: their memory may be untouched."""
    old_value, row, work = core.assignment[variable], rows.starts[variable], 0
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        factor, other = model.pairs[link, 0], model.pairs[link, 2]
        old = core.entries[factor]
        new = old + (value - old_value) * model.pairs[link, 1]
        if other >= 0 and core.gains[other] > LOWEST:
            shift_by_rows(model, core, rows, link, row, old_value, value, old, new)
            work += model.domain_sizes[other] // VALUES_A_LINK
            set_leaf(core.gains, core.gain_levels, other, best_gain(model, core, core.rows, other))
        its_value = core.assignment[other] if other >= 0 else 0
        after = potential_by_row(model, core, rows, row + value, its_value, new)
        _change_score(
            model, part, potential_by_row(model, core, rows, row + old_value, its_value, old), after
        )
        core.entries[factor] = new
        if utilities is not None:
            penalty = np.float32(0)
            if rows.places[row + value] > 0:
                penalty = utilities.penalties[new]
            set_leaf(utilities.tree, utilities.levels, factor, _worth(utilities, factor, after, penalty))
        row += model.domain_sizes[variable]
    core.counters[0]["work"] += work


@inlined
def _flip_links(
    model: FlatModel,
    core: CoreState,
    rows: Rows | None,
    utilities: Utilities | None,
    part: Any,
    variable: int,
    value: int,
) -> None:
    if rows is None:
        _flip_pairs(model, core, utilities, part, variable, value - core.assignment[variable])
    else:
        _flip_rows(model, core, rows, utilities, part, variable, value)


@inlined
def _flip_wides(
    model: FlatModel, core: CoreState, utilities: Utilities | None, part: Any, variable: int, change: int
) -> None:
    """Variables that several wide factors touch get their new gain once, after all of them."""
    counters = core.counters[0]
    counters["stamp"] += 1
    stamp, num_touched = counters["stamp"], 0
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor = model.wides[link, 0]
        old = core.entries[factor]
        new = old + change * model.wides[link, 1]
        _move_factor(model, core, utilities, part, factor, old, new)
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            other = model.scopes[place, 0]
            if other != variable and core.gains[other] > LOWEST:
                _shift_local_scores(model, core, other, model.scopes[place, 1], old, new)
                if core.stamps[other] != stamp:
                    core.stamps[other] = stamp
                    core.touched[num_touched] = other
                    num_touched += 1
    for k in range(num_touched):
        other = core.touched[k]
        set_leaf(core.gains, core.gain_levels, other, best_gain(model, core, core.rows, other))


@inlined
def flip(
    model: FlatModel, core: CoreState, variable: int, value: int, utilities: Utilities | None = None
) -> None:
    """Make one step. Cost: the variable's factors, their other variables and those variables' values."""
    counters = core.counters[0]
    part = core.parts[core.part_of[variable]]
    if part["best_is_current"]:
        save_best(core, part)
    _flip_links(model, core, core.rows, utilities, part, variable, value)
    _flip_wides(model, core, utilities, part, variable, value - core.assignment[variable])
    core.assignment[variable] = value
    set_leaf(core.gains, core.gain_levels, variable, best_gain(model, core, core.rows, variable))
    counters["steps"] += 1
    counters["work"] += 2 + model.pair_starts[variable + 1] - model.pair_starts[variable]
    counters["work"] += 2 * (model.wide_starts[variable + 1] - model.wide_starts[variable])
    note_change(core, part, variable)
    if is_better(part):
        note_best(core, part)


@inlined
def refresh_if_due(model: FlatModel, core: CoreState) -> None:
    """Rebuild once in a million steps."""
    if core.counters[0]["steps"] % REFRESH_STEPS == 0:
        rebuild(model, core)


@inlined
def climb(model: FlatModel, core: CoreState, utilities: Utilities | None = None) -> None:
    """Make the best move there is, ties at random."""
    variable = pick_top(core.gains, core.gain_levels, EPSILON, core.rng)
    flip(model, core, variable, best_value(model, core, variable), utilities)
    refresh_if_due(model, core)
