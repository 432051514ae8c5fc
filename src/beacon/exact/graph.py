"""The graph of a part as rows of bits, with what a min-fill order needs to know of each variable."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined
from beacon.reduce.tables import ALIVE, FACTOR, NEXT, VARIABLE, Tables

ONE, ZERO, SIX, LOW = np.uint64(1), np.uint64(0), np.uint64(6), np.uint64(63)


class Graph(NamedTuple):
    """The variables of one part, numbered 0 .. n - 1, that are not eliminated yet."""

    bits: NDArray[np.uint64]
    """[variables, words] whether two variables are neighbours."""
    degrees: NDArray[np.int64]
    """[variables] number of neighbours."""
    fills: NDArray[np.int64]
    """[variables] pairs of neighbours that are no neighbours of each other."""
    log_sizes: NDArray[np.float64]
    """[variables] log of the entries of a table over the variable and its neighbours."""


def new_graph(variables: int) -> Graph:
    """Room for a part of this many variables."""
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
def _link(tables: Tables, graph: Graph, numbers: NDArray[np.int32], variable: int) -> None:
    """Set the bits of a variable's neighbours."""
    row = numbers[variable]
    place = tables.first_places[variable]
    while place >= 0:
        factor = tables.places[place, FACTOR]
        if tables.consumers[factor] == ALIVE:
            for other_place in range(tables.scope_starts[factor], tables.scope_starts[factor + 1]):
                other = numbers[tables.places[other_place, VARIABLE]]
                if other != row:
                    graph.bits[row, other >> 6] |= ONE << np.uint64(other & 63)
        place = tables.places[place, NEXT]


@inlined
def _count_fill(graph: Graph, row: int, words: int) -> int:
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
def build_graph(
    tables: Tables,
    graph: Graph,
    members: NDArray[np.int32],
    begin: int,
    end: int,
    numbers: NDArray[np.int32],
    own_logs: NDArray[np.float64],
) -> None:
    """The graph of the part ``members[begin:end]``; ``own_logs`` gets the logs of the variables' sizes.

    Cost: the scopes of its factors, and a row of bits for each neighbour of each variable.
    """
    count = end - begin
    words = (count + 63) >> 6
    for k in range(count):
        numbers[members[begin + k]] = k
        own_logs[k] = np.log(tables.sizes[members[begin + k]])
    for k in range(count):
        for word in range(words):
            graph.bits[k, word] = ZERO
        _link(tables, graph, numbers, members[begin + k])
        degree = 0
        log_size = own_logs[k]
        for word in range(words):
            rest = graph.bits[k, word]
            while rest != ZERO:
                log_size += own_logs[(word << 6) + lowest_one(rest)]
                rest &= rest - ONE
                degree += 1
        graph.degrees[k] = degree
        graph.log_sizes[k] = log_size
    for k in range(count):
        graph.fills[k] = _count_fill(graph, k, words)


@inlined
def copy_graph(source: Graph, target: Graph, count: int) -> None:
    """Begin anew: copy what :func:`build_graph` has made."""
    words = (count + 63) >> 6
    for k in range(count):
        for word in range(words):
            target.bits[k, word] = source.bits[k, word]
        target.degrees[k] = source.degrees[k]
        target.fills[k] = source.fills[k]
        target.log_sizes[k] = source.log_sizes[k]


@inlined
def _join(graph: Graph, own_logs: NDArray[np.float64], j: int, k: int, words: int) -> None:
    """Add an edge: common neighbours miss one edge less, both ends gain a pair with each other neighbour."""
    common = 0
    for word in range(words):
        both = graph.bits[j, word] & graph.bits[k, word]
        while both != ZERO:
            graph.fills[(word << 6) + lowest_one(both)] -= 1
            both &= both - ONE
            common += 1
    graph.fills[j] += graph.degrees[j] - common
    graph.fills[k] += graph.degrees[k] - common
    graph.bits[j, k >> 6] |= ONE << np.uint64(k & 63)
    graph.bits[k, j >> 6] |= ONE << np.uint64(j & 63)
    graph.degrees[j] += 1
    graph.degrees[k] += 1
    graph.log_sizes[j] += own_logs[k]
    graph.log_sizes[k] += own_logs[j]


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
) -> int:
    """Join the neighbours of a variable (``clique``) to each other and take it out; return the edges added.

    Cost: the square of the clique, and a row of bits for each edge added.
    """
    added = 0
    if graph.fills[i] > 0:
        for a in range(degree):
            for b in range(a):
                if not are_neighbours(graph, clique[a], clique[b]):
                    _join(graph, own_logs, clique[a], clique[b], words)
                    added += 1
    for a in range(degree):
        j = clique[a]
        graph.bits[j, i >> 6] &= ~(ONE << np.uint64(i & 63))
        graph.fills[j] -= graph.degrees[j] - degree  # its neighbours outside the clique were not joined to i
        graph.degrees[j] -= 1
        graph.log_sizes[j] -= own_logs[i]
    return added
