"""The factors of a model given the values that are left: fixed variables leave the scopes."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel
from beacon.model.flat import Fixed, FlatModel
from beacon.reduce.eliminate import append_factor
from beacon.reduce.tables import ALIVE, FACTOR, NEXT, VARIABLE, Tables


class Restriction(NamedTuple):
    """What a query fixes, and what it leaves free; and room for one factor."""

    fixed: Fixed
    """[variables] values given or implied; -1 for the free ones."""
    numbers: NDArray[np.int32]
    """[variables] number of each free variable, -1 for the others."""
    values: NDArray[np.int32]
    """[moves] the values that are left, one free variable after another."""
    scope: NDArray[np.int32]
    """[widest scope]"""
    strides: NDArray[np.int64]
    """[widest scope]"""
    digits: NDArray[np.int64]
    """[widest scope]"""


def new_restriction(model: FlatModel, fixed: Fixed, max_scope: int) -> Restriction:
    """Room to number the free variables of a query."""
    return Restriction(
        fixed,
        np.empty(model.num_variables, dtype=np.int32),
        np.empty(model.num_moves, dtype=np.int32),
        np.empty(max_scope, dtype=np.int32),
        np.empty(max_scope, dtype=np.int64),
        np.empty(max_scope, dtype=np.int64),
    )


@kernel
def number_free_variables(
    model: FlatModel, possible: NDArray[np.bool_], restriction: Restriction, value_starts: NDArray[np.int32]
) -> int:
    """Number the variables with several values left, list those values, and fix the others.

    Return how many are free. Cost: the moves of the model.
    """
    fixed, numbers, values = restriction.fixed, restriction.numbers, restriction.values
    count, at = 0, 0
    for variable in range(len(fixed)):
        begin = at
        start = model.move_starts[variable]
        if fixed[variable] < 0:
            for move in range(start, model.move_starts[variable + 1]):
                if possible[move]:
                    values[at] = move - start
                    at += 1
        numbers[variable] = -1
        if at - begin > 1:
            numbers[variable] = count
            count += 1
            value_starts[count] = at
        elif at > begin:
            fixed[variable] = values[begin]
            at = begin
    return count


@inlined
def _restricted_scope(model: FlatModel, restriction: Restriction, factor: int) -> tuple[int, int]:
    """The free variables of a factor in ascending order, with their strides; and its entry at their zeros."""
    scope, strides = restriction.scope, restriction.strides
    count, entry = 0, model.bases[factor] * 1
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable, stride = model.scopes[place, 0], model.scopes[place, 1] * 1
        number = restriction.numbers[variable]
        if number < 0:
            entry += restriction.fixed[variable] * stride
        else:
            at = count
            while at > 0 and scope[at - 1] > number:
                scope[at], strides[at] = scope[at - 1], strides[at - 1]
                at -= 1
            scope[at], strides[at] = number, stride
            count += 1
    return count, entry


@inlined
def find_factor(
    tables: Tables, scope: NDArray[np.int32], count: int, num_factors_of: NDArray[np.int32]
) -> int:
    """The living factor with exactly this scope, in this order; -1 if there is none.

    Cost: the factors of the variable that has fewest.
    """
    rarest = scope[0]
    for k in range(1, count):
        if num_factors_of[scope[k]] < num_factors_of[rarest]:
            rarest = scope[k]
    place = tables.first_places[rarest]
    while place >= 0:
        factor = tables.places[place, FACTOR]
        begin = tables.scope_starts[factor]
        if tables.consumers[factor] == ALIVE and tables.scope_starts[factor + 1] - begin == count:
            same = True
            for k in range(count):
                same = same and tables.places[begin + k, VARIABLE] == scope[k]
            if same:
                return factor
        place = tables.places[place, NEXT]
    return -1


@inlined
def _add_entries(
    tables: Tables,
    log_table: NDArray[np.float64],
    restriction: Restriction,
    count: int,
    entry: int,
    start: int,
    total: int,
) -> None:
    """Add a factor's entries at the values that are left to the table at ``start``. Cost: these entries."""
    values, scope = restriction.values, restriction.scope
    strides, digits = restriction.strides, restriction.digits
    for k in range(count):
        digits[k] = tables.unary_starts[scope[k]]
        entry += values[digits[k]] * strides[k]
    for at in range(start, start + total):
        tables.table[at] += log_table[entry]
        k = count - 1
        while k >= 0:
            first, end = tables.unary_starts[scope[k]], tables.unary_starts[scope[k] + 1]
            entry -= values[digits[k]] * strides[k]
            digits[k] += 1
            if digits[k] < end:
                entry += values[digits[k]] * strides[k]
                break
            digits[k] = first
            entry += values[first] * strides[k]
            k -= 1


@inlined
def _add_unary(tables: Tables, log_table: NDArray[np.float64], restriction: Restriction, entry: int) -> None:
    """Add a factor's entries at the values that are left to those of its only variable."""
    variable, stride = restriction.scope[0], restriction.strides[0]
    for at in range(tables.unary_starts[variable], tables.unary_starts[variable + 1]):
        tables.unary[at] += log_table[entry + restriction.values[at] * stride]


@kernel
def condition_factors(
    model: FlatModel,
    log_table: NDArray[np.float64],
    restriction: Restriction,
    tables: Tables,
    num_factors_of: NDArray[np.int32],
) -> None:
    """Fill ``tables`` with what the fixed values leave of each factor; equal scopes are joined.

    ``log_table`` is the model's with zeros at -inf. Cost: the scopes of the model, the entries that are left,
    and the search for equal scopes.
    """
    scope = restriction.scope
    for variable in range(len(tables.sizes)):
        tables.sizes[variable] = tables.unary_starts[variable + 1] - tables.unary_starts[variable]
    for factor in range(len(model.table_starts) - 1):
        count, entry = _restricted_scope(model, restriction, factor)
        if count == 0:
            tables.constant[0] += log_table[entry]
        elif count == 1:
            _add_unary(tables, log_table, restriction, entry)
        else:
            total = 1
            for k in range(count):
                total *= tables.sizes[scope[k]]
            same = find_factor(tables, scope, count, num_factors_of)
            if same >= 0:
                start = tables.table_starts[same]
            else:
                start = append_factor(tables, scope, count, total)
                for at in range(start, start + total):
                    tables.table[at] = 0.0
                for k in range(count):
                    num_factors_of[scope[k]] += 1
            _add_entries(tables, log_table, restriction, count, entry, start, total)
