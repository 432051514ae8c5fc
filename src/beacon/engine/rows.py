"""Rows: what a flip reads of the tables where variables have many values.

A flip of a variable reads two rows of each of its tables: the entries with its old and with its new value,
one for every value of the other variable. In half of the tables these lie far apart, each in a cache line of
its own. So a row of that kind is copied when it is first read. Other rows are read where they are until one
of their entries is penalised; then both rows of that entry are copied. A search begins without a copy of the
tables, and takes memory for the rows that it meets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.max_tree import LOWEST
from beacon.jit import called, inlined, kernel
from beacon.model.factors import starts_of
from beacon.model.flat import FlatModel, once_per_model

if TYPE_CHECKING:
    from beacon.engine.core import CoreState

LEAST_ROW = 8  # doubles of a cache line: shorter rows are at hand as they are
VALUES_A_LINK = 16  # entries that lie together take as long as looking at one link


class Layout(NamedTuple):
    """The rows of a model: of every link of a variable to a factor, one for each of the variable's values."""

    starts: NDArray[np.int64]
    """[variables + 1] the first row of each variable; the rows of a link lie together."""
    mirrors: NDArray[np.int32]
    """[pair links] the link of the same factor to its other variable; itself if there is none."""

    @property
    def num_rows(self) -> int:
        """Number of rows; 0: the model is searched without."""
        return int(self.starts[-1]) if len(self.starts) else 0


class Rows(NamedTuple):
    """The rows of a search. Searches without have None instead, and kernels compiled without all this."""

    starts: NDArray[np.int64]
    """[variables + 1] the first row of each variable."""
    mirrors: NDArray[np.int32]
    """[pair links] the link of the same factor to its other variable; itself if there is none."""
    places: NDArray[np.int32]
    """[rows] where the copy of each is in the search's table, plus 1; negative: no penalties; 0: no copy."""


def new_rows(model: FlatModel) -> Rows | None:
    """Rows without copies; None where variables have few values."""
    layout = layout_of(model)
    return Rows(*layout, np.zeros(layout.num_rows, dtype=np.int32)) if layout.num_rows else None


@once_per_model
def layout_of(model: FlatModel) -> Layout:
    """The rows of a model whose rows are long.

    None for other models, where factors are wide, and where they share tables: these are at hand.
    """
    paired = model.pairs[model.pairs[:, 2] >= 0, 2]
    is_plain = not (len(model.wides) or model.is_shared) and 2 * model.num_entries < 2**31
    if not is_plain or not len(paired) or model.domain_sizes[paired].mean() <= LEAST_ROW:
        return Layout(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))
    order = np.argsort(model.pairs[:, 0], kind="stable").astype(np.int32)
    is_pair = np.diff(model.pairs[order, 0]) == 0
    first, second = order[:-1][is_pair], order[1:][is_pair]
    mirrors = np.arange(len(order), dtype=np.int32)
    mirrors[first], mirrors[second] = second, first
    counts = np.diff(model.pair_starts).astype(np.int64) * model.domain_sizes
    return Layout(starts_of(counts), mirrors)


@once_per_model
def row_tops(model: FlatModel) -> NDArray[np.float64]:
    """[rows] the largest entry of each row. Cost: all table entries, once."""
    layout = layout_of(model)
    tops = np.full(layout.num_rows, LOWEST)
    _find_tops(model, layout, tops)
    return tops


@kernel
def _find_tops(model: FlatModel, layout: Layout, tops: NDArray[np.float64]) -> None:
    """Every table is read once, in the order in which it lies, for the rows of both variables."""
    row = 0
    for variable in range(len(layout.starts) - 1):
        domain = model.domain_sizes[variable]
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            other, entry = model.pairs[link, 2], model.bases[model.pairs[link, 0]]
            if other < 0:
                for value in range(domain):
                    tops[row + value] = model.log_table[entry + value]
            elif model.pairs[link, 3] == 1:
                length = model.domain_sizes[other]
                its_row = layout.starts[other] + (layout.mirrors[link] - model.pair_starts[other]) * length
                for value in range(domain):
                    first = entry + value * model.pairs[link, 1]
                    tops[row + value] = largest(model.log_table, first, first + length)
                    for k in range(length):
                        tops[its_row + k] = max(tops[its_row + k], model.log_table[first + k])
            row += domain


@inlined
def largest(values: NDArray[np.float64], begin: int, end: int) -> float:
    """The largest of some values, by fours: one comparison need not wait for the one before."""
    top, at = LOWEST, begin
    while at + 4 <= end:
        two, others = max(values[at], values[at + 1]), max(values[at + 2], values[at + 3])
        top = max(top, max(two, others))
        at += 4
    for k in range(at, end):
        top = max(top, values[k])
    return top


@inlined
def first_row(model: FlatModel, rows: Rows, variable: int, link: int) -> int:
    """The row of a link for the variable's first value."""
    number = link - model.pair_starts[variable]
    return rows.starts[variable] + number * model.domain_sizes[variable]  # type: ignore[no-any-return]


@inlined
def _row_length(model: FlatModel, link: int) -> int:
    other = model.pairs[link, 2]
    return model.domain_sizes[other] if other >= 0 else 1


@called
def _copy_row(model: FlatModel, core: CoreState, rows: Rows, link: int, row: int, value: int) -> None:
    """Copy a row behind the last one. Cost: its length."""
    counters, step = core.counters[0], model.pairs[link, 3]
    entry = model.bases[model.pairs[link, 0]] + value * model.pairs[link, 1]
    first, length = counters["own_entries"], _row_length(model, link)
    for k in range(length):
        core.table[first + k] = model.log_table[entry + k * step]
    rows.places[row] = -1 - first
    counters["own_entries"] += length


@inlined
def _place_of_row(model: FlatModel, core: CoreState, rows: Rows, link: int, row: int, value: int) -> int:
    """Where the copy of a row is; -1: it is read from the model, where its entries lie together."""
    if rows.places[row] == 0:
        if model.pairs[link, 3] == 1:
            return -1
        _copy_row(model, core, rows, link, row, value)
    return abs(rows.places[row]) - 1  # type: ignore[no-any-return]


@inlined
def _add_difference(
    sums: NDArray[np.float64], first: int, length: int, plus: Any, new: int, minus: Any, old: int
) -> None:
    for k in range(length):
        sums[first + k] += plus[new + k] - minus[old + k]


@inlined
def shift_by_rows(
    model: FlatModel,
    core: CoreState,
    rows: Rows,
    link: int,
    row: int,
    old_value: int,
    value: int,
    old: int,
    new: int,
) -> None:
    """A variable moves between two rows of a link: change the local scores of the other variable.

    ``row`` is the link's first row; ``old`` and ``new`` are the factor's entries before and after. Cost: the
    values of the other variable.
    """
    other = model.pairs[link, 2]
    sums, first, length = core.local_scores, model.move_starts[other], model.domain_sizes[other]
    its_old = _place_of_row(model, core, rows, link, row + old_value, old_value)
    its_new = _place_of_row(model, core, rows, link, row + value, value)
    shift = core.assignment[other] * model.pairs[link, 3]
    if its_new >= 0:
        if its_old >= 0:
            _add_difference(sums, first, length, core.table, its_new, core.table, its_old)
        else:
            _add_difference(sums, first, length, core.table, its_new, model.log_table, old - shift)
    elif its_old >= 0:
        _add_difference(sums, first, length, model.log_table, new - shift, core.table, its_old)
    else:
        _add_difference(sums, first, length, model.log_table, new - shift, model.log_table, old - shift)


@inlined
def potential_by_row(
    model: FlatModel, core: CoreState, rows: Rows, row: int, place: int, entry: int
) -> float:
    """An entry without its penalty, from a copy of its row where that has none: it was read a moment ago."""
    known = rows.places[row]
    return core.table[place - known - 1] if known < 0 else model.log_table[entry]  # type: ignore[no-any-return]


@inlined
def _add_row(model: FlatModel, core: CoreState, rows: Rows, variable: int, link: int) -> None:
    """Add what a factor says of each value of a variable: a row of the other variable, or its own entries."""
    first, domain = model.move_starts[variable], model.domain_sizes[variable]
    by, other, row = model.pairs[link, 1], model.pairs[link, 2], first_row(model, rows, variable, link)
    entry = model.bases[model.pairs[link, 0]]
    if other < 0:
        for value in range(domain):
            known = rows.places[row + value]
            potential = core.table[abs(known) - 1] if known != 0 else model.log_table[entry + value * by]
            core.local_scores[first + value] += potential
        return
    known = rows.places[first_row(model, rows, other, rows.mirrors[link]) + core.assignment[other]]
    entry += core.assignment[other] * model.pairs[link, 3]
    for value in range(domain):
        potential = core.table[abs(known) - 1 + value] if known != 0 else model.log_table[entry + value * by]
        core.local_scores[first + value] += potential


@called
def sum_rows(model: FlatModel, core: CoreState, rows: Rows) -> None:
    """Recompute the local scores. Cost: the links and their values."""
    for variable in range(len(core.assignment)):
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            _add_row(model, core, rows, variable, link)


@called
def lower_entry(model: FlatModel, core: CoreState, rows: Rows, factor: int, by: float) -> None:
    """Lower a factor's current entry in both of its rows. Cost: two rows, and its variables' links."""
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        link = model.pair_starts[variable]
        while model.pairs[link, 0] != factor:
            link += 1
        value, other = core.assignment[variable], model.pairs[link, 2]
        row = first_row(model, rows, variable, link) + value
        if rows.places[row] == 0:
            _copy_row(model, core, rows, link, row, value)
        rows.places[row] = abs(rows.places[row])
        core.table[rows.places[row] - 1 + (core.assignment[other] if other >= 0 else 0)] -= by


@called
def fade_rows(
    model: FlatModel,
    core: CoreState,
    rows: Rows,
    penalties: NDArray[np.float32],
    rate: np.float32,
    weight: float,
) -> None:
    """Multiply all penalties by ``rate``. Cost: the rows, and the entries of those with penalties."""
    for variable in range(len(core.assignment)):
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            if rows.mirrors[link] >= link:  # each factor once
                row = first_row(model, rows, variable, link)
                for value in range(model.domain_sizes[variable]):
                    if rows.places[row + value] > 0:
                        _fade_row(model, core, rows, penalties, rate, weight, link, row + value, value)


@inlined
def _fade_row(
    model: FlatModel,
    core: CoreState,
    rows: Rows,
    penalties: NDArray[np.float32],
    rate: np.float32,
    weight: float,
    link: int,
    row: int,
    value: int,
) -> None:
    factor, other = model.pairs[link, 0], model.pairs[link, 2]
    shift, mirror = value * model.pairs[link, 1], rows.mirrors[link]
    for k in range(_row_length(model, link)):
        entry = model.bases[factor] + shift + k * model.pairs[link, 3]
        if penalties[entry] > 0:
            penalties[entry] *= rate
            potential = model.log_table[entry] - weight * float(penalties[entry])
            core.table[rows.places[row] - 1 + k] = potential
            if other >= 0:
                core.table[rows.places[first_row(model, rows, other, mirror) + k] - 1 + value] = potential


@called
def forget_rows(core: CoreState, rows: Rows) -> None:
    """Read all rows from the model again. Cost: their number."""
    for row in range(len(rows.places)):
        rows.places[row] = 0
    core.counters[0]["own_entries"] = 0
