"""The min-fill elimination kernel: a bit matrix of the graph, and fill counts kept up to date."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

ONE = np.uint64(1)


@njit(cache=True)
def eliminate_by_min_fill(
    starts: NDArray[np.int64], neighbours: NDArray[np.int64], rank: NDArray[np.int64], limit: int, budget: int
) -> tuple[int, int]:
    """Width of a min-fill order, and the work done: table words touched, about ``budget`` at most.

    The neighbours of variable i are ``neighbours[starts[i]:starts[i + 1]]``; ties go to the lower rank.
    Stops at width ``limit``. Out of budget, the variables that remain count as one clique.
    """
    bits, degree = _bit_matrix(starts, neighbours)
    work = (len(degree) + len(neighbours)) * bits.shape[1]
    if work > budget:
        return min(limit, len(degree) - 1), work
    fill = _fill_counts(bits, degree, starts, neighbours)
    alive = np.ones(len(degree), dtype=np.bool_)
    width = 0
    remaining = len(degree)
    while width < min(remaining - 1, limit):
        if work > budget:
            return min(limit, remaining - 1), work
        i = _cheapest(alive, fill, rank)
        width = max(width, degree[i])
        work += len(degree) + _eliminate(i, bits, degree, fill)
        alive[i] = False
        remaining -= 1
    return min(width, limit), work


@njit(cache=True)
def _bit_matrix(
    starts: NDArray[np.int64], neighbours: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    num_variables = len(starts) - 1
    bits = np.zeros((num_variables, (num_variables + 63) >> 6), dtype=np.uint64)
    for i in range(num_variables):
        for j in neighbours[starts[i] : starts[i + 1]]:
            bits[i, j >> 6] |= ONE << np.uint64(j & 63)
    return bits, starts[1:] - starts[:-1]


@njit(cache=True)
def _fill_counts(
    bits: NDArray[np.uint64],
    degree: NDArray[np.int64],
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Number of edges missing between the neighbours of each variable."""
    fill = degree * (degree - 1) // 2
    for i in range(len(degree)):
        joined = 0
        for j in neighbours[starts[i] : starts[i + 1]]:
            for word in range(bits.shape[1]):
                joined += _num_ones(bits[i, word] & bits[j, word])
        fill[i] -= joined // 2
    return fill


@njit(cache=True)
def _cheapest(alive: NDArray[np.bool_], fill: NDArray[np.int64], rank: NDArray[np.int64]) -> int:
    best = -1
    for i in range(len(alive)):
        if alive[i] and (
            best < 0 or fill[i] < fill[best] or (fill[i] == fill[best] and rank[i] < rank[best])
        ):
            best = i
    return best


@njit(cache=True)
def _eliminate(i: int, bits: NDArray[np.uint64], degree: NDArray[np.int64], fill: NDArray[np.int64]) -> int:
    """Join the neighbours of a variable to each other, take it out, and return the work this took."""
    clique = _members(bits[i], degree[i])
    work = bits.shape[1]
    if fill[i] > 0:
        work += len(clique) ** 2
        for j in clique:
            for k in clique:
                if j < k and not (bits[j, k >> 6] >> np.uint64(k & 63)) & ONE:
                    work += _join(j, k, bits, degree, fill)
    for j in clique:
        bits[j, i >> 6] &= ~(ONE << np.uint64(i & 63))
        fill[j] -= degree[j] - len(clique)  # its neighbours outside the clique were not joined to i
        degree[j] -= 1
    return work


@njit(cache=True)
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


@njit(cache=True)
def _members(row: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    members = np.empty(count, dtype=np.int64)
    found = 0
    for word in range(len(row)):
        rest = row[word]
        while rest:
            members[found] = (word << 6) + _lowest_one(rest)
            rest &= rest - ONE
            found += 1
    return members


@njit(cache=True)
def _lowest_one(word: np.uint64) -> int:
    return _num_ones((word & (~word + ONE)) - ONE)


@njit(cache=True)
def _num_ones(word: np.uint64) -> int:
    """Population count, the usual sums of pairs, nibbles and bytes."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
