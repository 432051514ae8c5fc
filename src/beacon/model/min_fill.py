"""The min-fill elimination kernel: fill counts of a bit matrix, kept up to date."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel
from beacon.model.bit_graph import Graph, add_neighbour, count_fill, list_neighbours, new_graph, take_out


class Room(NamedTuple):
    """Arrays for one elimination at a time."""

    graph: Graph
    no_logs: NDArray[np.float64]
    """[variables] zeros: sizes of tables are not asked for."""
    alive: NDArray[np.bool_]
    """[variables] those not yet eliminated."""
    clique: NDArray[np.int64]
    """[variables] the neighbours of one."""


def new_room(num_variables: int) -> Room:
    """Room for a graph of this size; what is in it does not matter."""
    return Room(
        new_graph(num_variables),
        np.zeros(num_variables),
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
    graph, count, words = room.graph, len(room.alive), room.graph.bits.shape[1]
    work = (count + len(neighbours)) * words
    if work > budget:
        return min(limit, count - 1), work
    _fill_graph(starts, neighbours, room)
    width, remaining = 0, count
    while width < min(remaining - 1, limit):
        if work > budget:
            return min(limit, remaining - 1), work
        i = _cheapest(room.alive, graph.fills, rank)
        degree = list_neighbours(graph, i, words, room.clique)
        work += count + words + (degree**2 if graph.fills[i] > 0 else 0)
        added, common = take_out(graph, room.no_logs, i, room.clique, degree, words)
        work += added * words + common
        width = max(width, degree)
        room.alive[i] = False
        remaining -= 1
    return min(width, limit), work


@inlined
def _fill_graph(starts: NDArray[np.int64], neighbours: NDArray[np.int64], room: Room) -> None:
    graph = room.graph
    graph.bits[:] = 0
    for i in range(len(room.alive)):
        room.alive[i] = True
        graph.degrees[i] = starts[i + 1] - starts[i]
        for k in range(starts[i], starts[i + 1]):
            add_neighbour(graph, i, neighbours[k])
    for i in range(len(room.alive)):
        graph.fills[i] = count_fill(graph, i, graph.bits.shape[1])


@inlined
def _cheapest(alive: NDArray[np.bool_], fill: NDArray[np.int64], rank: NDArray[np.int64]) -> int:
    best = -1
    for i in range(len(alive)):
        if alive[i] and (
            best < 0 or fill[i] < fill[best] or (fill[i] == fill[best] and rank[i] < rank[best])
        ):
            best = i
    return best
