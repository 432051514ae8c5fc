"""How the entries of a large table map to those of a smaller one whose variables are among its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel


class Scopes(NamedTuple):
    """The scopes of some tables, one after another; the last variable of each is the fastest."""

    starts: NDArray[np.int64]
    """[tables + 1] first variable of each table."""
    variables: NDArray[np.int32]
    strides: NDArray[np.int64]
    """By how many entries the next value of a variable lies further."""
    sizes: NDArray[np.int64]
    """[tables] entries."""


@kernel
def fill_strides(sizes_of: NDArray[np.int32], scopes: Scopes) -> None:
    """Strides and sizes of tables whose scopes are given. Cost: the scopes."""
    for table in range(len(scopes.sizes)):
        stride = 1
        for place in range(scopes.starts[table + 1] - 1, scopes.starts[table] - 1, -1):
            scopes.strides[place] = stride
            stride *= sizes_of[scopes.variables[place]]
        scopes.sizes[table] = stride


@inlined
def _steps(
    sizes_of: NDArray[np.int32],
    large: Scopes,
    table: int,
    small_variables: NDArray[np.int32],
    small_strides: NDArray[np.int64],
    begin: int,
    end: int,
    axes: NDArray[np.int64],
) -> int:
    """For each variable of a large table its size and its stride in a small one; return their number."""
    count = large.starts[table + 1] - large.starts[table]
    for k in range(count):
        variable = large.variables[large.starts[table] + k]
        axes[k, 0], axes[k, 1], axes[k, 2] = sizes_of[variable], 0, 0
        for place in range(begin, end):
            if small_variables[place] == variable:
                axes[k, 1] = small_strides[place]
    return count  # type: ignore[no-any-return]


@inlined
def _next(axes: NDArray[np.int64], count: int, at: int) -> int:
    """The small table's entry for the next entry of the large one."""
    for k in range(count - 1, -1, -1):
        axes[k, 2] += 1
        at += axes[k, 1]
        if axes[k, 2] < axes[k, 0]:
            break
        axes[k, 2] = 0
        at -= axes[k, 0] * axes[k, 1]
    return at


@kernel
def fill_maps(
    sizes_of: NDArray[np.int32],
    large: Scopes,
    small: Scopes,
    pairs: NDArray[np.int64],
    map_starts: NDArray[np.int64],
    axes: NDArray[np.int64],
    maps: NDArray[np.int32],
) -> None:
    """For each pair (large table, small table) the small one's entry for each of the large one's.

    Cost: the entries of the large tables.
    """
    for pair in range(len(pairs)):
        table, part = pairs[pair, 0], pairs[pair, 1]
        begin, end = small.starts[part], small.starts[part + 1]
        count = _steps(sizes_of, large, table, small.variables, small.strides, begin, end, axes)
        at = 0
        for k in range(large.sizes[table]):
            maps[map_starts[pair] + k] = at
            at = _next(axes, count, at)


@kernel
def add_tables(
    sizes_of: NDArray[np.int32],
    large: Scopes,
    large_starts: NDArray[np.int64],
    small: Scopes,
    small_starts: NDArray[np.int64],
    pairs: NDArray[np.int64],
    axes: NDArray[np.int64],
    into: NDArray[np.float64],
    table_of_small: NDArray[np.float64],
) -> None:
    """Add small tables to large ones. Cost: the entries of the large tables, once for each pair."""
    for pair in range(len(pairs)):
        table, part = pairs[pair, 0], pairs[pair, 1]
        begin, end = small.starts[part], small.starts[part + 1]
        count = _steps(sizes_of, large, table, small.variables, small.strides, begin, end, axes)
        at = small_starts[part]
        for k in range(large.sizes[table]):
            into[large_starts[table] + k] += table_of_small[at]
            at = _next(axes, count, at)
