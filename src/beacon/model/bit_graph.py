"""A graph as rows of bits, with what a min-fill order needs to know of each variable."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined

ONE, ZERO, SIX, LOW = np.uint64(1), np.uint64(0), np.uint64(6), np.uint64(63)


class Graph(NamedTuple):
    """Variables 0 .. n - 1 that are not eliminated yet."""

    bits: NDArray[np.uint64]
    """[variables, words] whether two variables are neighbours."""
    degrees: NDArray[np.int64]
    """[variables] number of neighbours."""
    fills: NDArray[np.int64]
    """[variables] pairs of neighbours that are no neighbours of each other."""
    log_sizes: NDArray[np.float64]
    """[variables] log of the entries of a table over the variable and its neighbours."""


def new_graph(variables: int) -> Graph:
    """Room for this many variables."""
    return Graph(
        bits=np.empty((variables, (variables + 63) >> 6), dtype=np.uint64),
        degrees=np.empty(variables, dtype=np.int64),
        fills=np.empty(variables, dtype=np.int64),
        log_sizes=np.empty(variables),
    )


@inlined
def are_neighbours(graph: Graph, i: int, j: int) -> bool:
    """Is there an edge between two variables?"""
    return (graph.bits[i, j >> 6] >> np.uint64(j & 63)) & ONE != ZERO


@inlined
def num_ones(word: np.uint64) -> int:
    """Population count: sums of pairs, nibbles and bytes; compilers make one instruction of it."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]


@inlined
def lowest_one(word: np.uint64) -> int:
    """Index of the lowest bit that is set."""
    return num_ones((word & (~word + ONE)) - ONE)


@inlined
def add_neighbour(graph: Graph, i: int, j: int) -> None:
    """Set the bit of one direction of an edge."""
    graph.bits[i, j >> 6] |= ONE << np.uint64(j & 63)


@inlined
def count_fill(graph: Graph, row: int, words: int) -> int:
    """Pairs of a variable's neighbours that are no neighbours of each other."""
    joined = 0
    for word in range(words):
        rest = graph.bits[row, word]
        while rest != ZERO:
            other = (word << 6) + lowest_one(rest)
            rest &= rest - ONE
            for k in range(words):
                joined += num_ones(graph.bits[row, k] & graph.bits[other, k])
    return graph.degrees[row] * (graph.degrees[row] - 1) // 2 - joined // 2


@inlined
def _join(graph: Graph, own_logs: NDArray[np.float64], j: int, k: int, words: int) -> int:
    """Add an edge, and return how many neighbours its ends have in common.

    These miss one edge less, and both ends gain a pair with each other neighbour.
    """
    common = 0
    for word in range(words):
        both = graph.bits[j, word] & graph.bits[k, word]
        while both != ZERO:
            graph.fills[(word << 6) + lowest_one(both)] -= 1
            both &= both - ONE
            common += 1
    graph.fills[j] += graph.degrees[j] - common
    graph.fills[k] += graph.degrees[k] - common
    add_neighbour(graph, j, k)
    add_neighbour(graph, k, j)
    graph.degrees[j] += 1
    graph.degrees[k] += 1
    graph.log_sizes[j] += own_logs[k]
    graph.log_sizes[k] += own_logs[j]
    return common


@inlined
def list_neighbours(graph: Graph, i: int, words: int, clique: NDArray[np.int64]) -> int:
    """Write the neighbours of a variable; return how many there are."""
    count = 0
    for word in range(words):
        rest = graph.bits[i, word]
        while rest != ZERO:
            clique[count] = (word << 6) + lowest_one(rest)
            rest &= rest - ONE
            count += 1
    return count


@inlined
def take_out(
    graph: Graph, own_logs: NDArray[np.float64], i: int, clique: NDArray[np.int64], degree: int, words: int
) -> tuple[int, int]:
    """Join the neighbours of a variable (``clique``) to each other and take it out.

    Return the edges added, and how many common neighbours their ends had in all. Cost: the square of the
    clique, and a row of bits for each edge added.
    """
    added, common = 0, 0
    if graph.fills[i] > 0:
        for a in range(degree):
            for b in range(a):
                if not are_neighbours(graph, clique[a], clique[b]):
                    common += _join(graph, own_logs, clique[a], clique[b], words)
                    added += 1
    for a in range(degree):
        j = clique[a]
        graph.bits[j, i >> 6] &= ~(ONE << np.uint64(i & 63))
        graph.fills[j] -= graph.degrees[j] - degree  # its neighbours outside the clique were not joined to i
        graph.degrees[j] -= 1
        graph.log_sizes[j] -= own_logs[i]
    return added, common
