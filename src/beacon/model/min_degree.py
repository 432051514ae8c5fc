"""The min-degree elimination kernel: lists of neighbours, a hash table of edges, a tree of degrees."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel

GONE = np.iinfo(np.int64).max
HASH = np.uint64(0x9E3779B97F4A7C15)


class Room(NamedTuple):
    """Arrays for one elimination."""

    degree: NDArray[np.int64]
    """[variables] neighbours; -1: eliminated."""
    heads: NDArray[np.int64]
    """[variables] the first link of each; -1: none."""
    links: NDArray[np.int32]
    """[twice the edges there may be, 2] a neighbour, which may be gone, and the next link."""
    edges: NDArray[np.int64]
    """[a power of two] 1 + lower variable * variables + higher variable, at the first free slot; 0: free."""
    tree: NDArray[np.int64]
    """[twice a power of two] the least degree * variables + variable below each node; the root is at 1."""
    clique: NDArray[np.int64]
    """[variables] the neighbours of one."""
    used: NDArray[np.int64]
    """[1] links in use."""


def new_room(num_variables: int, num_edges: int) -> Room:
    """Room for this many variables, and edges that ever are."""
    leaves = 1 << max(0, num_variables - 1).bit_length()
    return Room(
        np.zeros(num_variables, dtype=np.int64),
        np.full(num_variables, -1, dtype=np.int64),
        np.empty((2 * num_edges, 2), dtype=np.int32),
        np.zeros(1 << (2 * num_edges).bit_length(), dtype=np.int64),
        np.full(2 * leaves, GONE, dtype=np.int64),
        np.empty(num_variables, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@kernel
def eliminate_by_min_degree(
    starts: NDArray[np.int64], neighbours: NDArray[np.int64], target: int, budget: int, room: Room
) -> int:
    """Eliminate variables of lowest degree, the first of them, until ``target`` remain; the width so far.

    The neighbours of variable i are ``neighbours[starts[i]:starts[i + 1]]``. Stops early at a ``budget`` of
    pairs of neighbours looked at. Cost: those pairs, and the logarithm of the variables for each neighbour.
    """
    count, width = len(room.degree), 0
    for i in range(count):
        for k in range(starts[i], starts[i + 1]):
            if i < neighbours[k]:
                _join(i, neighbours[k], room)
    for i in range(count):
        _put(i, room)
    for _ in range(target, count):
        i = room.tree[1] % count
        degree = room.degree[i]
        budget -= degree * (degree + 1)
        if budget < 0:
            break
        width = max(width, degree)
        _eliminate(i, room)
    return width


@inlined
def _eliminate(i: int, room: Room) -> None:
    """Join the neighbours of a variable to each other, and take it out."""
    size, link = 0, room.heads[i]
    while link >= 0:
        j = room.links[link, 0]
        if room.degree[j] >= 0:
            room.clique[size] = j
            size += 1
        link = room.links[link, 1]
    room.degree[i] = -1
    _put(i, room)
    for a in range(size):
        room.degree[room.clique[a]] -= 1
        for b in range(a):
            _join(room.clique[a], room.clique[b], room)
    for a in range(size):
        _put(room.clique[a], room)


@inlined
def _join(i: int, j: int, room: Room) -> None:
    """Add an edge unless it is there."""
    key = 1 + min(i, j) * len(room.degree) + max(i, j)
    last = len(room.edges) - 1
    slot = np.int64((np.uint64(key) * HASH) >> np.uint64(24)) & last
    while room.edges[slot] != 0:
        if room.edges[slot] == key:
            return
        slot = (slot + 1) & last
    room.edges[slot] = key
    for a, b in ((i, j), (j, i)):
        link = room.used[0]
        room.links[link, 0], room.links[link, 1] = b, room.heads[a]
        room.heads[a] = link
        room.used[0] = link + 1
        room.degree[a] += 1


@inlined
def _put(i: int, room: Room) -> None:
    """Tell the tree what the degree of a variable is now."""
    node = (len(room.tree) >> 1) + i
    room.tree[node] = GONE if room.degree[i] < 0 else room.degree[i] * len(room.degree) + i
    while node > 1:
        node >>= 1
        room.tree[node] = min(room.tree[2 * node], room.tree[2 * node + 1])
