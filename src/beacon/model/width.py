"""An upper bound on treewidth by greedy elimination."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.model.factors import Factors, counted, starts_of

# A bit matrix of more variables would take too much memory.
MAX_MIN_FILL_VARIABLES = 20_000
MAX_MIN_DEGREE_VARIABLES = 100_000  # beyond, what min-fill could take is never left
MIN_FILL_ORDERS = 16
# Budgets count elementary operations, not seconds, so that a bound is the same on every machine.
MIN_FILL_BUDGET = 1_000_000_000
MIN_DEGREE_BUDGET = 10_000_000


class WidthBound(NamedTuple):
    """An upper bound on the treewidth of a model."""

    width: int
    is_rough: bool
    """Was there more to do than the budgets allow? The treewidth may then be much lower."""


class Graph(NamedTuple):
    """A graph of variables."""

    starts: NDArray[np.int64]
    """[variables + 1] where the neighbours of each begin."""
    neighbours: NDArray[np.int64]
    """[neighbours] those of all variables, each once."""


def width_bound(factors: Factors) -> WidthBound:
    """By min-fill, or by a sweep over the whole model where that is lower or min-fill would take too long."""
    found = WidthBound(len(factors.domain_sizes), is_rough=True)
    if len(factors.domain_sizes) <= MAX_MIN_DEGREE_VARIABLES:
        found = min_fill_bound(graph_of(factors))
    if found.is_rough:
        from beacon.model.sweep import sweep_width  # noqa: PLC0415  (numba is slow to import)

        found = WidthBound(min(found.width, sweep_width(factors)), is_rough=True)
    return found


def graph_of(factors: Factors) -> Graph:
    """The variables that share a factor."""
    arities = np.repeat(factors.arities, factors.arities)  # of each place
    others = np.repeat(np.repeat(factors.scope_starts[:-1], factors.arities), arities) + counted(arities)
    pairs = np.repeat(factors.variables.astype(np.int64), arities), factors.variables[others]
    return _graph_of_pairs(*pairs, len(factors.domain_sizes))


def primal_graph(factors: Factors) -> list[set[int]]:
    """Neighbours of each variable: those that share a factor with it."""
    graph = graph_of(factors)
    bounds, neighbours = graph.starts.tolist(), graph.neighbours.tolist()
    return [set(neighbours[begin:end]) for begin, end in pairwise(bounds)]


def min_fill_bound(graph: Graph) -> WidthBound:
    """Width of a min-fill elimination order of a graph, an upper bound on its treewidth.

    The best of several orders that break ties differently. A large graph is first made smaller by
    min-degree elimination, and where the work would exceed a budget the variables that remain count as
    one clique: the bound is looser but still valid.
    """
    width, rest = _shrink_by_min_degree(graph, MAX_MIN_FILL_VARIABLES, MIN_DEGREE_BUDGET)
    num_left = len(rest.starts) - 1
    if num_left > MAX_MIN_FILL_VARIABLES:
        return WidthBound(max(width, num_left - 1), is_rough=True)
    best = _best_min_fill(rest)
    return WidthBound(max(width, best.width), best.is_rough)


def _best_min_fill(graph: Graph) -> WidthBound:
    from beacon.model.min_fill import eliminate_by_min_fill, new_room  # noqa: PLC0415  (numba is slow to import)

    count = len(graph.starts) - 1
    rank = np.arange(count)
    rng, room = np.random.default_rng(0), new_room(count)
    width, budget = max(0, count - 1), MIN_FILL_BUDGET
    for number in range(MIN_FILL_ORDERS):
        width, work = eliminate_by_min_fill(*graph, rank, width, budget, room)
        budget -= work
        if budget <= 0:
            return WidthBound(int(width), is_rough=number == 0)
        rank = rng.permutation(count)
    return WidthBound(int(width), is_rough=False)


def _shrink_by_min_degree(graph: Graph, target: int, budget: int) -> tuple[int, Graph]:
    """Eliminate variables of lowest degree until ``target`` remain: the width so far, and what remains.

    Stops early at a ``budget`` of pairs of neighbours that are looked at.
    """
    count = len(graph.starts) - 1
    if count <= target:
        return 0, graph
    from beacon.model.min_degree import eliminate_by_min_degree, new_room  # noqa: PLC0415

    room = new_room(count, (len(graph.neighbours) + budget) // 2)  # a pair makes an edge at most
    width = eliminate_by_min_degree(*graph, target, budget, room)
    keys = room.edges[room.edges > 0] - 1
    lower, higher = keys // count, keys % count
    is_left = room.degree >= 0
    both = is_left[lower] & is_left[higher]
    number = np.cumsum(is_left) - 1
    lower, higher = number[lower[both]], number[higher[both]]
    pairs = np.concatenate([lower, higher]), np.concatenate([higher, lower])
    return int(width), _graph_of_pairs(*pairs, int(is_left.sum()))


def _graph_of_pairs(variables: NDArray[np.integer], others: NDArray[np.integer], count: int) -> Graph:
    """A graph from pairs of neighbours, each both ways; repeated ones count once, loops not at all."""
    keys = np.sort((variables * count + others)[variables != others])  # np.unique would take far longer
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return Graph(starts_of(np.bincount(keys // max(count, 1), minlength=count)), keys % max(count, 1))
