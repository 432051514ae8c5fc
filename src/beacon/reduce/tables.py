"""Tables: the factors of one query over its free variables, and those that elimination puts in their place.

A factor is never erased: when a variable is eliminated, its factors are marked as consumed and stay, because
the way back reads them to choose the variable's best value. New factors go to the end of the arrays, so
Python makes room before a kernel needs it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FACTORS, PLACES, ENTRIES = 0, 1, 2  # what ``counts`` counts
VARIABLE, STRIDE, NEXT, FACTOR = 0, 1, 2, 3  # columns of ``places``
ALIVE = -1  # in ``consumers``: no variable has consumed the factor


class Tables(NamedTuple):
    """Factors over free variables 0 .. n - 1, each with values 0 .. size - 1. Zeros are -inf."""

    sizes: NDArray[np.int32]
    """[variables] number of values, two or more."""
    unary_starts: NDArray[np.int32]
    """[variables + 1] first entry of each variable in ``unary``."""
    unary: NDArray[np.float64]
    """[values] what each value adds by itself; factors of one variable are absorbed here."""
    first_places: NDArray[np.int32]
    """[variables] the last scope place added that names this variable, -1: none."""
    scope_starts: NDArray[np.int32]
    """[factors + 1] first row of each factor in ``places``."""
    places: NDArray[np.int32]
    """[scope places, 4] variable, stride in the table, next place of the same variable (-1), factor."""
    table_starts: NDArray[np.int64]
    """[factors + 1] first entry of each factor in ``table``."""
    table: NDArray[np.float64]
    """[entries] tables one after another, last variable of a scope fastest."""
    consumers: NDArray[np.int32]
    """[factors] the variable whose elimination took this factor in, -1: none yet."""
    counts: NDArray[np.int64]
    """[3] factors, places and entries in use; the arrays may have room for more."""
    constant: NDArray[np.float64]
    """[1] what is added whatever the free variables are."""


class Scratch(NamedTuple):
    """Room for the elimination of one variable."""

    slots: NDArray[np.int32]
    """[variables] axis of a variable in the table being summed, -1: none."""
    scope: NDArray[np.int32]
    """[variables] the other variables of the factors being summed."""
    axes: NDArray[np.int64]
    """[axes, 4] size and stride; then the same with neighbouring axes joined where they can be."""
    digits: NDArray[np.int64]
    """[axes] where in the table a sum is."""
    sums: NDArray[np.float64]
    """[entries] the table being summed."""


MAX_AXES = 64  # a table of more variables has more than 2^64 entries


def new_tables(variables: int, values: int, factors: int, places: int, entries: int) -> Tables:
    """Empty tables with room for this many."""
    return Tables(
        sizes=np.empty(variables, dtype=np.int32),
        unary_starts=np.zeros(variables + 1, dtype=np.int32),
        unary=np.zeros(values),
        first_places=np.full(variables, -1, dtype=np.int32),
        scope_starts=np.zeros(factors + 1, dtype=np.int32),
        places=np.empty((places, 4), dtype=np.int32),
        table_starts=np.zeros(factors + 1, dtype=np.int64),
        table=np.empty(entries),
        consumers=np.full(factors, ALIVE, dtype=np.int32),
        counts=np.zeros(3, dtype=np.int64),
        constant=np.zeros(1),
    )


def new_scratch(variables: int, entries: int) -> Scratch:
    """Room to eliminate variables whose joined tables have at most this many entries."""
    return Scratch(
        slots=np.full(variables, -1, dtype=np.int32),
        scope=np.empty(variables + 1, dtype=np.int32),
        axes=np.empty((MAX_AXES, 4), dtype=np.int64),
        digits=np.empty(MAX_AXES, dtype=np.int64),
        sums=np.empty(entries),
    )


def with_room(tables: Tables, factors: int, places: int, entries: int) -> Tables:
    """A copy that can take this many more; the original stays as it is."""
    used_factors, used_places, used_entries = tables.counts.tolist()
    copy = new_tables(0, 0, used_factors + factors, used_places + places, used_entries + entries)
    copy.scope_starts[: used_factors + 1] = tables.scope_starts[: used_factors + 1]
    copy.table_starts[: used_factors + 1] = tables.table_starts[: used_factors + 1]
    copy.consumers[:used_factors] = tables.consumers[:used_factors]
    copy.places[:used_places] = tables.places[:used_places]
    copy.table[:used_entries] = tables.table[:used_entries]
    return copy._replace(
        sizes=tables.sizes,
        unary_starts=tables.unary_starts,
        unary=tables.unary.copy(),
        first_places=tables.first_places.copy(),
        counts=tables.counts.copy(),
        constant=tables.constant.copy(),
    )
