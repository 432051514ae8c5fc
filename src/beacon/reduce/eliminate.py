"""Variables eliminated: their factors summed into one table, the best of their values kept; and the way back.

The variable is the slowest axis of the sum, the others follow by rank. Where ranks are an elimination order,
the tables that come from earlier eliminations have their axes in the same order, neighbouring axes can be
joined, and the sums run over long stretches of memory.
"""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel
from beacon.reduce.tables import (
    ALIVE,
    ENTRIES,
    FACTOR,
    FACTORS,
    MAX_AXES,
    NEXT,
    PLACES,
    STRIDE,
    VARIABLE,
    Scratch,
    Tables,
)
from beacon.rng import random_below


@inlined
def gather_scope(
    tables: Tables, scratch: Scratch, ranks: NDArray[np.int32], variable: int, limit: int
) -> int:
    """Write the other variables of a variable's living factors, by rank; return how many there are.

    Those of further factors are left out once there are more than ``limit``. They are marked in ``slots``
    until :func:`clear_scope`. Cost: their scope places, and the square of the number found.
    """
    count = 0
    place = tables.first_places[variable]
    while place >= 0 and count <= limit:
        factor = tables.places[place, FACTOR]
        if tables.consumers[factor] == ALIVE:
            for other_place in range(tables.scope_starts[factor], tables.scope_starts[factor + 1]):
                other = tables.places[other_place, VARIABLE]
                if other != variable and scratch.slots[other] < 0:
                    scratch.slots[other] = 1
                    at = count
                    while at > 0 and ranks[scratch.scope[at - 1]] > ranks[other]:
                        scratch.scope[at] = scratch.scope[at - 1]
                        at -= 1
                    scratch.scope[at] = other
                    count += 1
        place = tables.places[place, NEXT]
    return count


@inlined
def clear_scope(scratch: Scratch, count: int) -> None:
    """Take the marks of :func:`gather_scope` away."""
    for k in range(count):
        scratch.slots[scratch.scope[k]] = -1


@inlined
def _join_axes(tables: Tables, scratch: Scratch, factor: int, num_axes: int) -> int:
    """Sizes and strides of a factor on the axes of the sum, joined where possible; return their number."""
    axes = scratch.axes
    for axis in range(num_axes):
        axes[axis, 1] = 0
    for place in range(tables.scope_starts[factor], tables.scope_starts[factor + 1]):
        axes[scratch.slots[tables.places[place, VARIABLE]], 1] = tables.places[place, STRIDE]
    last = 0
    axes[0, 2] = axes[0, 0]
    axes[0, 3] = axes[0, 1]
    for axis in range(1, num_axes):
        if axes[last, 3] == axes[axis, 1] * axes[axis, 0]:
            axes[last, 2] *= axes[axis, 0]
        else:
            last += 1
            axes[last, 2] = axes[axis, 0]
        axes[last, 3] = axes[axis, 1]
    return last + 1


@inlined
def _add_stretch(
    sums: NDArray[np.float64], at: int, table: NDArray[np.float64], begin: int, size: int, stride: int
) -> None:
    """Add every ``stride``-th entry to ``size`` sums. Unsigned indices let the compiler use vectors."""
    to, source = np.uint64(at), np.uint64(begin)
    if stride == 1:
        for k in range(np.uint64(size)):
            sums[to + k] += table[source + k]
    elif stride == 0:
        entry = table[source]
        for k in range(np.uint64(size)):
            sums[to + k] += entry
    else:
        step = np.uint64(stride)
        for k in range(np.uint64(size)):
            sums[to + k] += table[source + k * step]


@inlined
def add_factor(tables: Tables, scratch: Scratch, factor: int, num_axes: int, total: int) -> None:
    """Add a factor to all entries of the sum. Cost: the entries of the sum."""
    axes, digits = scratch.axes, scratch.digits
    last = _join_axes(tables, scratch, factor, num_axes) - 1
    size, stride = axes[last, 2], axes[last, 3]
    at, begin = 0, tables.table_starts[factor]
    for axis in range(last):
        digits[axis] = 0
    while True:
        _add_stretch(scratch.sums, at, tables.table, begin, size, stride)
        at += size
        if at >= total:
            break
        axis = last - 1
        digits[axis] += 1
        begin += axes[axis, 3]
        while digits[axis] == axes[axis, 2]:
            digits[axis] = 0
            begin -= axes[axis, 2] * axes[axis, 3]
            axis -= 1
            digits[axis] += 1
            begin += axes[axis, 3]


@inlined
def sum_factors(tables: Tables, scratch: Scratch, variable: int, count: int, outer: int) -> None:
    """Sum all that depends on a variable, over it and the ``count`` variables gathered; consume its factors.

    Cost: for each factor, the entries of the sum: ``outer`` times the variable's values.
    """
    size = tables.sizes[variable]
    scratch.axes[0, 0] = size
    scratch.slots[variable] = 0
    for k in range(count):
        scratch.axes[k + 1, 0] = tables.sizes[scratch.scope[k]]
        scratch.slots[scratch.scope[k]] = k + 1
    for value in range(size):
        entry = tables.unary[tables.unary_starts[variable] + value]
        begin = np.uint64(value * outer)
        for k in range(np.uint64(outer)):
            scratch.sums[begin + k] = entry
    place = tables.first_places[variable]
    while place >= 0:
        factor = tables.places[place, FACTOR]
        if tables.consumers[factor] == ALIVE:
            add_factor(tables, scratch, factor, count + 1, size * outer)
            tables.consumers[factor] = variable
        place = tables.places[place, NEXT]
    scratch.slots[variable] = -1


@inlined
def keep_best(scratch: Scratch, size: int, outer: int) -> None:
    """Put the best over the variable's values into the first ``outer`` sums."""
    for value in range(1, size):
        begin = np.uint64(value * outer)
        for k in range(np.uint64(outer)):
            scratch.sums[k] = max(scratch.sums[k], scratch.sums[begin + k])


@inlined
def append_factor(tables: Tables, scope: NDArray[np.int32], count: int, outer: int) -> int:
    """A new factor over ``count`` variables, the last one fastest, with an empty table; return where that is.

    There must be room.
    """
    factor, place, start = tables.counts[FACTORS], tables.counts[PLACES], tables.counts[ENTRIES]
    stride = outer
    for k in range(count):
        variable = scope[k]
        stride //= tables.sizes[variable]
        tables.places[place, VARIABLE] = variable
        tables.places[place, STRIDE] = stride
        tables.places[place, NEXT] = tables.first_places[variable]
        tables.places[place, FACTOR] = factor
        tables.first_places[variable] = place
        place += 1
    tables.counts[FACTORS], tables.counts[PLACES], tables.counts[ENTRIES] = factor + 1, place, start + outer
    tables.scope_starts[factor + 1] = place
    tables.table_starts[factor + 1] = start + outer
    tables.consumers[factor] = ALIVE
    return start


@inlined
def eliminate_variable(
    tables: Tables, scratch: Scratch, variable: int, count: int, outer: int, same: int
) -> None:
    """Sum all that depends on a variable and put the best over its values where it belongs.

    ``count`` variables are gathered, with ``outer`` joint values. Without any the best goes to the constant,
    with one to its own values, with more to the factor that starts at entry ``same``, -1: to a new one. Cost:
    that of :func:`sum_factors`.
    """
    sum_factors(tables, scratch, variable, count, outer)
    keep_best(scratch, tables.sizes[variable], outer)
    sums = scratch.sums
    if count == 0:
        tables.constant[0] += sums[0]
    elif count == 1:
        start, size = tables.unary_starts[scratch.scope[0]], tables.sizes[scratch.scope[0]]
        for value in range(size):
            tables.unary[start + value] += sums[value]
    elif same >= 0:
        for k in range(outer):
            tables.table[same + k] += sums[k]
    else:
        to = np.uint64(append_factor(tables, scratch.scope, count, outer))
        for k in range(np.uint64(outer)):
            tables.table[to + k] = sums[k]


@kernel
def eliminate_in_order(
    tables: Tables, scratch: Scratch, ranks: NDArray[np.int32], order: NDArray[np.int32]
) -> None:
    """Eliminate the variables of ``order``; the best scores of their parts go to the constant.

    ``ranks`` has the place of each variable in the order. There must be room for all new tables. Cost: for
    each variable, the entries of its sum, once for each of its factors.
    """
    for step in range(len(order)):
        variable = order[step]
        count = gather_scope(tables, scratch, ranks, variable, MAX_AXES)
        outer = 1
        for k in range(count):
            outer *= tables.sizes[scratch.scope[k]]
        eliminate_variable(tables, scratch, variable, count, outer, -1)
        clear_scope(scratch, count)


@inlined
def _sum_choices(
    tables: Tables, variable: int, choices: NDArray[np.int32], sums: NDArray[np.float64]
) -> None:
    """What each value of a variable adds, given those that were eliminated after it."""
    size, start = tables.sizes[variable], tables.unary_starts[variable]
    for value in range(size):
        sums[value] = tables.unary[start + value]
    place = tables.first_places[variable]
    while place >= 0:
        factor = tables.places[place, FACTOR]
        if tables.consumers[factor] == variable:
            entry = tables.table_starts[factor]
            for other in range(tables.scope_starts[factor], tables.scope_starts[factor + 1]):
                if other != place:
                    entry += np.int64(choices[tables.places[other, VARIABLE]]) * tables.places[other, STRIDE]
            for value in range(size):
                sums[value] += tables.table[entry + np.int64(value) * tables.places[place, STRIDE]]
        place = tables.places[place, NEXT]


@kernel
def choose_backwards(
    tables: Tables,
    steps: NDArray[np.int32],
    choices: NDArray[np.int32],
    sums: NDArray[np.float64],
    rng: NDArray[np.uint64],
) -> None:
    """Choose a best value for each variable of ``steps``, from the last to the first; ties at random.

    ``choices`` has the values of all variables that were not eliminated. Cost: the scope places of the
    factors consumed, and a table entry for each of them and each value.
    """
    for step in range(len(steps) - 1, -1, -1):
        variable = steps[step]
        _sum_choices(tables, variable, choices, sums)
        best, ties = 0, 1
        for value in range(1, tables.sizes[variable]):
            if sums[value] > sums[best]:
                best, ties = value, 1
            elif sums[value] == sums[best]:
                ties += 1
                if random_below(rng, ties) == 0:
                    best = value
        choices[variable] = best


@kernel
def spread_backwards(tables: Tables, steps: NDArray[np.int32], is_open: NDArray[np.bool_]) -> None:
    """Mark each variable of ``steps`` whose best value depends on one that is marked.

    Cost: the scope places of the factors consumed.
    """
    for step in range(len(steps) - 1, -1, -1):
        variable = steps[step]
        place = tables.first_places[variable]
        while place >= 0:
            factor = tables.places[place, FACTOR]
            if tables.consumers[factor] == variable:
                for other in range(tables.scope_starts[factor], tables.scope_starts[factor + 1]):
                    if is_open[tables.places[other, VARIABLE]]:
                        is_open[variable] = True
            place = tables.places[place, NEXT]
