"""Elimination orders by min-fill: ties by table size, then at random; several tries, the cheapest kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel
from beacon.model.bit_graph import (
    ONE,
    ZERO,
    Graph,
    add_neighbour,
    count_fill,
    list_neighbours,
    lowest_one,
    take_out,
)
from beacon.reduce.tables import ALIVE, FACTOR, NEXT, VARIABLE, Tables
from beacon.rng import random_below

KEPT, LARGEST, SUMMED, PLACES, WIDTH = 0, 1, 2, 3, 4  # columns of ``costs``
NUM_COSTS = 5
MAX_FAILURES = 3  # orders far over the cap before a part is given up
NEAR = 16.0  # an order that needs this many times the cap may have a sibling that keeps it
TIE = 1e-9  # logs of table sizes that differ by less are equal


class Room(NamedTuple):
    """Room for one part."""

    fresh: Graph
    """The part's graph as it is."""
    graph: Graph
    """The same, as variables are eliminated."""
    numbers: NDArray[np.int32]
    """[free variables] a variable's number in its part."""
    own_logs: NDArray[np.float64]
    """[part's variables] logs of their sizes."""
    left: NDArray[np.int64]
    """[part's variables] those that are not eliminated, in any order."""
    clique: NDArray[np.int64]
    """[part's variables] neighbours of the one being eliminated."""
    order: NDArray[np.int32]
    """[part's variables] the order being tried."""
    cost: NDArray[np.float64]
    """[NUM_COSTS] and its cost."""


@inlined
def _link(tables: Tables, room: Room, variable: int) -> None:
    """Set the bits of a variable's neighbours."""
    row = room.numbers[variable]
    place = tables.first_places[variable]
    while place >= 0:
        factor = tables.places[place, FACTOR]
        if tables.consumers[factor] == ALIVE:
            for other_place in range(tables.scope_starts[factor], tables.scope_starts[factor + 1]):
                other = room.numbers[tables.places[other_place, VARIABLE]]
                if other != row:
                    add_neighbour(room.fresh, row, other)
        place = tables.places[place, NEXT]


@inlined
def _build_graph(tables: Tables, room: Room, part: NDArray[np.int32]) -> None:
    """The graph of a part as it is, and the logs of the variables' sizes.

    Cost: the scopes of its factors, and a row of bits for each neighbour of each variable.
    """
    graph, own_logs, count = room.fresh, room.own_logs, len(part)
    words = (count + 63) >> 6
    for k in range(count):
        room.numbers[part[k]] = k
        own_logs[k] = np.log(tables.sizes[part[k]])
    for k in range(count):
        for word in range(words):
            graph.bits[k, word] = ZERO
        _link(tables, room, part[k])
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
        graph.fills[k] = count_fill(graph, k, words)


@inlined
def _copy_graph(source: Graph, target: Graph, count: int) -> None:
    """Begin anew: copy what :func:`_build_graph` has made."""
    words = (count + 63) >> 6
    for k in range(count):
        for word in range(words):
            target.bits[k, word] = source.bits[k, word]
        target.degrees[k] = source.degrees[k]
        target.fills[k] = source.fills[k]
        target.log_sizes[k] = source.log_sizes[k]


@inlined
def _cheapest(room: Room, num_left: int, rng: NDArray[np.uint64]) -> int:
    """Where in ``left`` the variable with the least fill stands, ties by table size, then at random."""
    fills, log_sizes = room.graph.fills, room.graph.log_sizes
    best, fill, size, ties = 0, np.int64(1) << 62, np.inf, 0
    for k in range(num_left):
        i = room.left[k]
        if fills[i] > fill:
            continue
        if fills[i] < fill or log_sizes[i] < size - TIE:
            best, fill, size, ties = k, fills[i], log_sizes[i], 1
            if fill == 0:
                break  # it adds no edge: sooner or later makes no difference
        elif log_sizes[i] < size + TIE:
            ties += 1
            if random_below(rng, ties) == 0:
                best = k
    return best


@inlined
def _count_table(tables: Tables, room: Room, part: NDArray[np.int32], i: int, degree: int) -> float:
    """Add the elimination of a variable to the cost; return the entries needed so far."""
    kept, cost = 1.0, room.cost
    for a in range(degree):
        kept *= tables.sizes[part[room.clique[a]]]
    summed = kept * tables.sizes[part[i]]
    cost[KEPT] += kept
    cost[LARGEST] = max(cost[LARGEST], summed)
    cost[SUMMED] += summed
    cost[PLACES] += degree
    cost[WIDTH] = max(cost[WIDTH], degree)
    return cost[KEPT] + cost[LARGEST]  # type: ignore[no-any-return]


@inlined
def _try_order(
    tables: Tables,
    room: Room,
    part: NDArray[np.int32],
    limit: float,
    max_work: float,
    rng: NDArray[np.uint64],
) -> tuple[bool, float]:
    """One order, with its cost; False if it needs ``limit`` entries or more. And the work done."""
    count = len(part)
    words, work = (count + 63) >> 6, 0.0
    _copy_graph(room.fresh, room.graph, count)
    for k in range(NUM_COSTS):
        room.cost[k] = 0.0
    for k in range(count):
        room.left[k] = k
    for step in range(count):
        num_left = count - step
        at = _cheapest(room, num_left, rng)
        i = room.left[at]
        room.left[at] = room.left[num_left - 1]
        degree = list_neighbours(room.graph, i, words, room.clique)
        if _count_table(tables, room, part, i, degree) >= limit:
            return False, work
        added, _ = take_out(room.graph, room.own_logs, i, room.clique, degree, words)
        work += num_left + degree * degree + 4.0 * added * words
        if work > max_work:
            return False, work
        room.order[step] = part[i]
    return True, work


@kernel
def order_parts(
    tables: Tables,
    room: Room,
    members: NDArray[np.int32],
    part_starts: NDArray[np.int32],
    max_entries: float,
    max_work: float,
    max_tries: int,
    costs: NDArray[np.float64],
    order: NDArray[np.int32],
    rng: NDArray[np.uint64],
) -> None:
    """An elimination order of each part into ``order``, its cost into ``costs``, infinite if over the cap.

    Parts of more variables than there is room for cost infinity, too. Another try is made while the work on
    orders is small against that of the elimination, or none has kept the cap but they came near. Cost: for
    each try and variable, the variables left, the square of its neighbours, and a row of bits for each edge
    added; ``max_work`` of these at most.
    """
    for part in range(len(part_starts) - 1):
        begin, count = part_starts[part], part_starts[part + 1] - part_starts[part]
        for k in range(NUM_COSTS):
            costs[part, k] = np.inf
        if count > len(room.left):
            continue
        variables = members[begin : begin + count]
        _build_graph(tables, room, variables)
        spent, limit, failures = 0.0, NEAR * max_entries, 0
        for attempt in range(max_tries):
            if attempt > 0 and spent * 2.0 > costs[part, SUMMED]:
                break
            found, work = _try_order(tables, room, variables, limit, max_work - spent, rng)
            spent += work
            entries = room.cost[KEPT] + room.cost[LARGEST]
            if found and entries <= max_entries and room.cost[SUMMED] < costs[part, SUMMED]:
                for k in range(count):
                    order[begin + k] = room.order[k]
                for k in range(NUM_COSTS):
                    costs[part, k] = room.cost[k]
                limit = entries
            failures += 0 if found else 1
            if spent >= max_work or (failures == MAX_FAILURES and costs[part, SUMMED] == np.inf):
                break
