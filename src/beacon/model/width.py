"""An upper bound on treewidth by greedy elimination."""

from __future__ import annotations

import heapq
from itertools import chain
from typing import NamedTuple

import numpy as np

from beacon.model.factors import Factors

# A bit matrix of more variables would take too much memory.
MAX_MIN_FILL_VARIABLES = 20_000
MAX_SETS = 100_000  # variables whose neighbours are listed as sets
MIN_FILL_ORDERS = 16
# Budgets count elementary operations, not seconds, so that a bound is the same on every machine.
MIN_FILL_BUDGET = 2_000_000_000
MIN_DEGREE_BUDGET = 10_000_000


class WidthBound(NamedTuple):
    """An upper bound on the treewidth of a model."""

    width: int
    is_rough: bool
    """Was there more to do than the budgets allow? The treewidth may then be much lower."""


def width_bound(factors: Factors) -> WidthBound:
    """By min-fill, or by a sweep over the whole model where that is lower or min-fill would take too long."""
    found = WidthBound(len(factors.domain_sizes), is_rough=True)
    if len(factors.domain_sizes) <= MAX_SETS:
        found = min_fill_bound(primal_graph(factors))
    if found.is_rough:
        from beacon.model.sweep import sweep_width  # noqa: PLC0415  (numba is slow to import)

        found = WidthBound(min(found.width, sweep_width(factors)), is_rough=True)
    return found


def primal_graph(factors: Factors) -> list[set[int]]:
    """Neighbours of each variable: those that share a factor with it."""
    neighbours: list[set[int]] = [set() for _ in range(len(factors.domain_sizes))]
    for factor in factors:
        for i in factor.scope:
            neighbours[i].update(factor.scope)
    for i, others in enumerate(neighbours):
        others.discard(i)
    return neighbours


def min_fill_width(neighbours: list[set[int]]) -> int:
    """The width alone."""
    return min_fill_bound(neighbours).width


def min_fill_bound(neighbours: list[set[int]]) -> WidthBound:
    """Width of a min-fill elimination order of a graph, an upper bound on its treewidth.

    The best of several orders that break ties differently. A large graph is first made smaller by
    min-degree elimination, and where the work would exceed a budget the variables that remain count as
    one clique: the bound is looser but still valid.
    """
    width, rest = _shrink_by_min_degree(neighbours, MAX_MIN_FILL_VARIABLES, MIN_DEGREE_BUDGET)
    if len(rest) > MAX_MIN_FILL_VARIABLES:
        return WidthBound(max(width, len(rest) - 1), is_rough=True)
    best = _best_min_fill(rest)
    return WidthBound(max(width, best.width), best.is_rough)


def _best_min_fill(neighbours: list[set[int]]) -> WidthBound:
    from beacon.model.min_fill import eliminate_by_min_fill, new_room  # noqa: PLC0415  (numba is slow to import)

    starts = np.cumsum([0, *map(len, neighbours)], dtype=np.int64)
    flat = np.fromiter(chain.from_iterable(neighbours), np.int64, int(starts[-1]))
    rank = np.arange(len(neighbours))
    rng, room = np.random.default_rng(0), new_room(len(neighbours))
    width, budget = max(0, len(neighbours) - 1), MIN_FILL_BUDGET
    for number in range(MIN_FILL_ORDERS):
        width, work = eliminate_by_min_fill(starts, flat, rank, width, budget, room)
        budget -= work
        if budget <= 0:
            return WidthBound(int(width), is_rough=number == 0)
        rank = rng.permutation(len(neighbours))
    return WidthBound(int(width), is_rough=False)


def _shrink_by_min_degree(neighbours: list[set[int]], target: int, budget: int) -> tuple[int, list[set[int]]]:
    """Eliminate variables of lowest degree until ``target`` remain: the width so far, and what remains.

    Stops early once the sets written to hold ``budget`` elements in all.
    """
    if len(neighbours) <= target:
        return 0, neighbours
    graph = dict(enumerate(map(set, neighbours)))
    queue = [(len(others), i) for i, others in graph.items()]
    heapq.heapify(queue)
    width = 0
    while len(graph) > target:
        degree, i = heapq.heappop(queue)
        if i not in graph or degree != len(graph[i]):
            continue  # an outdated entry of the queue
        budget -= degree * (degree + 1)
        if budget < 0:
            break
        width = max(width, degree)
        for j in _eliminate(graph, i):
            heapq.heappush(queue, (len(graph[j]), j))
    return width, _renumbered(graph)


def _eliminate(graph: dict[int, set[int]], i: int) -> set[int]:
    """Join all neighbours of a variable to each other, take it out, and return them."""
    clique = graph.pop(i)
    for j in clique:
        graph[j] |= clique
        graph[j] -= {i, j}
    return clique


def _renumbered(graph: dict[int, set[int]]) -> list[set[int]]:
    position = {i: k for k, i in enumerate(graph)}
    return [{position[j] for j in others} for others in graph.values()]
