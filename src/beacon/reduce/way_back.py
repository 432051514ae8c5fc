"""Eliminated variables get their best values, last eliminated first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel
from beacon.reduce.tables import FACTOR, NEXT, STRIDE, VARIABLE, Tables
from beacon.rng import random_below


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
