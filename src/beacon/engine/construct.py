"""A constructed start: one pass that gives each variable the value with the best prospects.

A value's prospects are the sum, over the variable's factors, of the best entry that the values given before
leave possible. Variables with many neighbours come first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import CoreState
from beacon.engine.incumbent import EPSILON
from beacon.engine.rows import Rows, first_row, row_tops
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel, once_per_model
from beacon.rng import random_below


class Room(NamedTuple):
    """What one pass works on."""

    sums: NDArray[np.float64]
    """[values] prospects of one variable."""
    tops: NDArray[np.float64]
    """[values] the best possible entries of one factor."""
    digits: NDArray[np.int32]
    """[places] values of one factor's variables."""
    row_tops: NDArray[np.float64]
    """[rows] the largest entry of each; empty where the model has no rows."""


def construct_assignment(model: FlatModel, core: CoreState) -> None:
    """Put a constructed assignment in place.

    Cost: about twice the table entries; where the model has rows, the links and their values.
    """
    _construct(model, core, _order(model), new_room(model))


def new_room(model: FlatModel) -> Room:
    """Room for the largest variable and the widest factor."""
    num_values = int(model.domain_sizes.max(initial=1))
    num_places = int(np.diff(model.scope_starts).max(initial=1))
    digits = np.empty(num_places, dtype=np.int32)
    return Room(np.empty(num_values), np.empty(num_values), digits, row_tops(model))


@once_per_model
def _order(model: FlatModel) -> NDArray[np.int32]:
    """All variables, those with the most neighbours first."""
    return np.argsort(-np.diff(model.neighbour_starts), kind="stable").astype(np.int32)


@inlined
def _is_open(core: CoreState, variable: int, stamp: int) -> bool:
    """Is a variable free and without a value so far?"""
    return bool(core.is_free[variable] and core.stamps[variable] != stamp)


@inlined
def _add_row_tops(model: FlatModel, rows: Rows | None, room: Room, variable: int, link: int) -> bool:
    """The same for an open neighbour, where the best entries of rows are known; False: they are not."""
    if rows is None:
        return False
    row = first_row(model, rows, variable, link)
    for value in range(model.domain_sizes[variable]):
        room.sums[value] += room.row_tops[row + value]
    return True


@inlined
def _add_pair(model: FlatModel, core: CoreState, room: Room, variable: int, link: int, stamp: int) -> None:
    """Add the best possible entries of a factor of one or two variables. Cost: the entries it leaves."""
    at, by = model.bases[model.pairs[link, 0]], model.pairs[link, 1]
    other, step, count = model.pairs[link, 2], model.pairs[link, 3], 1
    if other >= 0:
        if not _is_open(core, other, stamp):
            at += core.assignment[other] * step
        elif _add_row_tops(model, core.rows, room, variable, link):
            return
        else:
            count = model.domain_sizes[other]
    for value in range(model.domain_sizes[variable]):
        entry = at + value * by
        top = model.log_table[entry]
        for its in range(1, count):
            top = max(top, model.log_table[entry + its * step])
        room.sums[value] += top


@inlined
def _next_entry(model: FlatModel, core: CoreState, room: Room, factor: int, entry: int, stamp: int) -> int:
    """The next entry over the open variables of a factor, whose values count up like digits."""
    begin = model.scope_starts[factor]
    for place in range(model.scope_starts[factor + 1] - 1, begin - 1, -1):
        other, stride = model.scopes[place, 0], model.scopes[place, 1]
        if _is_open(core, other, stamp):
            digit = room.digits[place - begin] + 1
            if digit < model.domain_sizes[other]:
                room.digits[place - begin] = digit
                return entry + stride  # type: ignore[no-any-return]
            room.digits[place - begin] = 0
            entry -= (digit - 1) * stride
    return entry


@inlined
def _add_wide(
    model: FlatModel, core: CoreState, room: Room, variable: int, factor: int, by: int, stamp: int
) -> None:
    """The same for a wider factor; ``stamp`` closes the variable itself while the others count up."""
    entry, count, domain = model.bases[factor], 1, model.domain_sizes[variable]
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        other = model.scopes[place, 0]
        room.digits[place - model.scope_starts[factor]] = 0
        if _is_open(core, other, stamp):
            count *= model.domain_sizes[other]
        elif other != variable:
            entry += core.assignment[other] * model.scopes[place, 1]
    for value in range(domain):
        room.tops[value] = model.log_table[entry + value * by]
    for _ in range(count - 1):
        entry = _next_entry(model, core, room, factor, entry, stamp)
        for value in range(domain):
            room.tops[value] = max(room.tops[value], model.log_table[entry + value * by])
    for value in range(domain):
        room.sums[value] += room.tops[value]


@inlined
def _best_value(core: CoreState, sums: NDArray[np.float64], domain: int) -> int:
    """The value with the largest sum, ties at random."""
    chosen, ties = 0, 1
    for value in range(1, domain):
        if sums[value] > sums[chosen] + EPSILON:
            chosen, ties = value, 1
        elif sums[value] >= sums[chosen] - EPSILON:
            ties += 1
            if random_below(core.rng, ties) == 0:
                chosen = value
    return chosen


@inlined
def add_prospects(model: FlatModel, core: CoreState, room: Room, variable: int, stamp: int) -> None:
    """Put the prospects of a variable's values into ``sums``; variables with the stamp have values."""
    for value in range(model.domain_sizes[variable]):
        room.sums[value] = 0.0
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        _add_pair(model, core, room, variable, link, stamp)
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        _add_wide(model, core, room, variable, model.wides[link, 0], model.wides[link, 1], stamp)


@kernel
def _construct(model: FlatModel, core: CoreState, order: NDArray[np.int32], room: Room) -> None:
    """Give every free variable a value, in this order."""
    core.counters[0]["stamp"] += 1
    stamp = core.counters[0]["stamp"]
    for k in range(len(order)):
        variable = order[k]
        if core.is_free[variable]:
            core.stamps[variable] = stamp
            add_prospects(model, core, room, variable, stamp)
            core.assignment[variable] = _best_value(core, room.sums, model.domain_sizes[variable])
