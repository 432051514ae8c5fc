"""The min-fill elimination kernel: a bit matrix of the graph, and fill counts kept up to date."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import called, inlined, kernel

ONE = np.uint64(1)


class Room(NamedTuple):
    """Arrays for one elimination at a time."""

    bits: NDArray[np.uint64]
    """[variables, words] a bit for each neighbour."""
    degree: NDArray[np.int64]
    """[variables] neighbours."""
    fill: NDArray[np.int64]
    """[variables] edges missing between the neighbours."""
    alive: NDArray[np.bool_]
    """[variables] those not yet eliminated."""
    clique: NDArray[np.int64]
    """[variables] the neighbours of one."""


def new_room(num_variables: int) -> Room:
    """Room for a graph of this size; what is in it does not matter."""
    return Room(
        np.empty((num_variables, (num_variables + 63) >> 6), dtype=np.uint64),
        np.empty(num_variables, dtype=np.int64),
        np.empty(num_variables, dtype=np.int64),
        np.empty(num_variables, dtype=np.bool_),
        np.empty(num_variables, dtype=np.int64),
    )


@kernel
def eliminate_by_min_fill(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int64],
    rank: NDArray[np.int64],
    limit: int,
    budget: int,
    room: Room,
) -> tuple[int, int]:
    """Width of a min-fill order, and the work done: table words touched, about ``budget`` at most.

    The neighbours of variable i are ``neighbours[starts[i]:starts[i + 1]]``; ties go to the lower rank.
    Stops at width ``limit``. Out of budget, the variables that remain count as one clique.
    """
    count = len(room.degree)
    work = (count + len(neighbours)) * room.bits.shape[1]
    if work > budget:
        return min(limit, count - 1), work
    _set_bits(starts, neighbours, room)
    _count_fill(starts, neighbours, room)
    width, remaining = 0, count
    while width < min(remaining - 1, limit):
        if work > budget:
            return min(limit, remaining - 1), work
        i = _cheapest(room.alive, room.fill, rank)
        width = max(width, room.degree[i])
        work += count + _eliminate(i, room)
        room.alive[i] = False
        remaining -= 1
    return min(width, limit), work


@inlined
def _set_bits(starts: NDArray[np.int64], neighbours: NDArray[np.int64], room: Room) -> None:
    room.bits[:] = 0
    for i in range(len(room.degree)):
        room.alive[i] = True
        room.degree[i] = starts[i + 1] - starts[i]
        for k in range(starts[i], starts[i + 1]):
            j = neighbours[k]
            room.bits[i, j >> 6] |= ONE << np.uint64(j & 63)


@inlined
def _count_fill(starts: NDArray[np.int64], neighbours: NDArray[np.int64], room: Room) -> None:
    """Count the edges missing between the neighbours of each variable."""
    bits = room.bits
    for i in range(len(room.degree)):
        joined = 0
        for k in range(starts[i], starts[i + 1]):
            for word in range(bits.shape[1]):
                joined += _num_ones(bits[i, word] & bits[neighbours[k], word])
        room.fill[i] = (room.degree[i] * (room.degree[i] - 1) - joined) // 2


@inlined
def _cheapest(alive: NDArray[np.bool_], fill: NDArray[np.int64], rank: NDArray[np.int64]) -> int:
    best = -1
    for i in range(len(alive)):
        if alive[i] and (
            best < 0 or fill[i] < fill[best] or (fill[i] == fill[best] and rank[i] < rank[best])
        ):
            best = i
    return best


@inlined
def _eliminate(i: int, room: Room) -> int:
    """Join the neighbours of a variable to each other, take it out, and return the work this took."""
    bits, degree, fill, clique = room.bits, room.degree, room.fill, room.clique
    count = _find_members(bits, i, clique)
    work = bits.shape[1]
    if fill[i] > 0:
        work += count**2
        for a in range(count):
            for b in range(count):
                j, k = clique[a], clique[b]
                if j < k and not (bits[j, k >> 6] >> np.uint64(k & 63)) & ONE:
                    work += _join(j, k, bits, degree, fill)
    for a in range(count):
        j = clique[a]
        bits[j, i >> 6] &= ~(ONE << np.uint64(i & 63))
        fill[j] -= degree[j] - count  # its neighbours outside the clique were not joined to i
        degree[j] -= 1
    return work


@called
def _join(
    j: int, k: int, bits: NDArray[np.uint64], degree: NDArray[np.int64], fill: NDArray[np.int64]
) -> int:
    """Add an edge: common neighbours miss one edge less, both ends gain a pair with each other neighbour."""
    common = 0
    for word in range(bits.shape[1]):
        both = bits[j, word] & bits[k, word]
        while both:
            fill[(word << 6) + _lowest_one(both)] -= 1
            both &= both - ONE
            common += 1
    fill[j] += degree[j] - common
    fill[k] += degree[k] - common
    bits[j, k >> 6] |= ONE << np.uint64(k & 63)
    bits[k, j >> 6] |= ONE << np.uint64(j & 63)
    degree[j] += 1
    degree[k] += 1
    return bits.shape[1] + common


@inlined
def _find_members(bits: NDArray[np.uint64], i: int, members: NDArray[np.int64]) -> int:
    """Write the neighbours of a variable into ``members``; return their number."""
    found = 0
    for word in range(bits.shape[1]):
        rest = bits[i, word]
        while rest:
            members[found] = (word << 6) + _lowest_one(rest)
            rest &= rest - ONE
            found += 1
    return found


@inlined
def _lowest_one(word: np.uint64) -> int:
    return _num_ones((word & (~word + ONE)) - ONE)


@inlined
def _num_ones(word: np.uint64) -> int:
    """Population count, the usual sums of pairs, nibbles and bytes."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
