"""How the entries of a table correspond to those of a smaller one whose variables are among its own.

The entries of the large table are cut into blocks. Within a block the places in the small table follow one
pattern, the same for all blocks of a pair of tables: either they lie side by side, or a short map lists them.
From block to block the place in the small table moves like the digits of a number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel

LARGE, SMALL, AXES, NUM_AXES, BLOCK, MAP = 0, 1, 2, 3, 4, 5  # columns of ``pairs``
NUM_COLUMNS = 6
MIN_BLOCK = 64  # entries of a block, where the table has as many
SIDE_BY_SIDE = -1  # in MAP: there is no map
MIN_STRETCH = 16  # entries side by side that are better than a map


class Scopes(NamedTuple):
    """The scopes of some tables, one after another; the last variable of each is the fastest."""

    starts: NDArray[np.int64]
    """[tables + 1] first variable of each table."""
    variables: NDArray[np.int32]
    strides: NDArray[np.int64]
    """By how many entries the next value of a variable lies further."""
    sizes: NDArray[np.int64]
    """[tables] entries."""


class Subtables(NamedTuple):
    """Pairs of a large and a small table, and how their entries correspond."""

    pairs: NDArray[np.int64]
    """[pairs, 6] large table, small table, start in ``axes``, number of axes, entries of a block, start in
    ``maps`` (-1: a block's entries lie side by side)."""
    axes: NDArray[np.int64]
    """[axes, 2] sizes and strides in the small table of the axes outside the blocks."""
    maps: NDArray[np.int32]
    """The small table's entries of a block, from its first one."""


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
def _joined_axes(
    sizes_of: NDArray[np.int32], large: Scopes, small: Scopes, table: int, part: int, axes: NDArray[np.int64]
) -> int:
    """Sizes and strides in the small table of a large one's axes, joined where possible; their number."""
    count = 0
    for place in range(large.starts[table], large.starts[table + 1]):
        variable, stride = large.variables[place], 0
        for other in range(small.starts[part], small.starts[part + 1]):
            if small.variables[other] == variable:
                stride = small.strides[other]
        size = sizes_of[variable]
        if count > 0 and axes[count - 1, 1] == stride * size:
            axes[count - 1, 0] *= size
            axes[count - 1, 1] = stride
        else:
            axes[count, 0], axes[count, 1] = size, stride
            count += 1
    return count


@inlined
def _num_inner(axes: NDArray[np.int64], count: int) -> tuple[int, int, bool]:
    """How many of the last axes make up a block, the block's entries, and whether they lie side by side."""
    if count == 0:
        return 0, 1, True
    if axes[count - 1, 1] == 1 and axes[count - 1, 0] >= MIN_STRETCH:
        return 1, axes[count - 1, 0], True
    inner, block = 0, 1
    while inner < count and block < MIN_BLOCK:
        inner += 1
        block *= axes[count - inner, 0]
    return inner, block, False


@inlined
def _fill_map(axes: NDArray[np.int64], count: int, inner: int, maps: NDArray[np.int32], start: int) -> None:
    """The small table's entry for each entry of a block."""
    maps[start] = 0
    filled = 1
    for axis in range(count - 1, count - inner - 1, -1):
        for value in range(1, axes[axis, 0]):
            for k in range(filled):
                maps[start + value * filled + k] = maps[start + k] + value * axes[axis, 1]
        filled *= axes[axis, 0]


@kernel
def relate(
    sizes_of: NDArray[np.int32],
    large: Scopes,
    small: Scopes,
    subtables: Subtables,
    room: NDArray[np.int64],
    fill: bool,
) -> tuple[int, int]:
    """Find axes and blocks of each pair; return how many axes and map entries there are in all.

    The first two columns of ``pairs`` are given; the rest is written if ``fill``. Cost: the scopes of both
    tables of each pair, and the maps.
    """
    num_axes, num_entries = 0, 0
    for pair in range(len(subtables.pairs)):
        row = subtables.pairs[pair]
        count = _joined_axes(sizes_of, large, small, row[LARGE], row[SMALL], room)
        inner, block, is_plain = _num_inner(room, count)
        if fill:
            row[AXES], row[NUM_AXES], row[BLOCK] = num_axes, count - inner, block
            row[MAP] = SIDE_BY_SIDE if is_plain else num_entries
            for k in range(count - inner):
                subtables.axes[num_axes + k, 0] = room[k, 0]
                subtables.axes[num_axes + k, 1] = room[k, 1]
            if not is_plain:
                _fill_map(room, count, inner, subtables.maps, num_entries)
        num_axes += count - inner
        num_entries += 0 if is_plain else block
    return num_axes, num_entries


@inlined
def next_block(subtables: Subtables, pair: int, digits: NDArray[np.int64], at: int) -> int:
    """The small table's entry at the next block of the large one."""
    axes, first = subtables.axes, subtables.pairs[pair, AXES]
    for axis in range(subtables.pairs[pair, NUM_AXES] - 1, -1, -1):
        digits[axis] += 1
        at += axes[first + axis, 1]
        if digits[axis] < axes[first + axis, 0]:
            break
        digits[axis] = 0
        at -= axes[first + axis, 0] * axes[first + axis, 1]
    return at


@inlined
def combine(
    subtables: Subtables,
    pair: int,
    digits: NDArray[np.int64],
    large: NDArray[np.float64],
    begin: int,
    end: int,
    small: NDArray[np.float64],
    start: int,
    is_added: bool,
) -> None:
    """Add a small table, from ``start``, to the large one at ``begin`` if it ``is_added``.

    Otherwise raise the small table's entries to the largest of the large one's. Cost: the large table's
    entries.
    """
    block, inside = np.uint64(subtables.pairs[pair, BLOCK]), subtables.pairs[pair, MAP]
    for axis in range(subtables.pairs[pair, NUM_AXES]):
        digits[axis] = 0
    at = start
    for entry in range(begin, end, block):
        first, other = np.uint64(entry), np.uint64(at)
        if inside == SIDE_BY_SIDE:
            if is_added:
                for k in range(block):
                    large[first + k] += small[other + k]
            else:
                for k in range(block):
                    small[other + k] = max(small[other + k], large[first + k])
        else:
            pattern = np.uint64(inside)
            if is_added:
                for k in range(block):
                    large[first + k] += small[other + np.uint64(subtables.maps[pattern + k])]
            else:
                for k in range(block):
                    place = other + np.uint64(subtables.maps[pattern + k])
                    small[place] = max(small[place], large[first + k])
        at = next_block(subtables, pair, digits, at)
