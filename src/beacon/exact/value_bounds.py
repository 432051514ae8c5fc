"""Upper bounds on the best score with each value, and values that no possible assignment has."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from beacon.exact.clusters import Clusters, mini_buckets, scopes_of, single_factors
from beacon.exact.level import Level
from beacon.exact.plan import MAX_WORK, plan
from beacon.exact.solve import unsolved
from beacon.exact.subtables import Scopes
from beacon.jit import kernel
from beacon.model.flat import ROUNDING
from beacon.reduce.query import ReducedQuery

CLUSTER_ENTRIES = (64, 1024, 16_384)  # largest tables of the levels after the first, of single factors
MAX_LEVEL_ENTRIES = 1 << 22
PASSES = 40  # of messages at each level, at most
PASSES_PER_LOOK = 4
STALL = 1e-6  # a fall of the bound by less than this share of it is none
ZEROS_TABLE = 64  # entries of a cluster that passes on zeros
ZEROS_PASSES = 4  # twice forward and back; the second time adds little


def value_bounds(reduced: ReducedQuery, is_over: Callable[[], bool] = lambda: False) -> NDArray[np.float64]:
    """[values] no assignment with this value has a higher score; -inf: there is proof that it is impossible.

    ``reduced`` must be a query of which nothing is eliminated. Once ``is_over``, it ends soon.
    """
    solved = unsolved(reduced)
    bounds = np.full(len(reduced.values), math.inf)
    for clusters in _levels(reduced):
        level = Level(solved, clusters)
        _pass_until(level, is_over)
        bounds = np.minimum(bounds, _bounds_of(level, reduced))
        if is_over():
            break
    return bounds


def _levels(reduced: ReducedQuery) -> Iterator[Clusters]:
    """Single factors, then larger and larger clusters as long as there is room for them."""
    yield single_factors(reduced.tables, reduced.members)
    prospect = plan(reduced, 0, math.inf, max_tries=2)
    if not np.isfinite(prospect.work).all():
        return
    for max_table in CLUSTER_ENTRIES:
        clusters = mini_buckets(reduced.tables, prospect.order, max_table)
        if clusters.num_entries > MAX_LEVEL_ENTRIES:
            return
        yield clusters


def _pass_until(level: Level, is_over: Callable[[], bool]) -> None:
    """Pass messages until they change little, or the time is over."""
    for _ in range(0, PASSES, PASSES_PER_LOOK):
        before = level.last_value
        level.run(PASSES_PER_LOOK)
        if not before - level.value() > STALL * max(1.0, abs(before)) or is_over():
            return


def _bounds_of(level: Level, reduced: ReducedQuery) -> NDArray[np.float64]:
    """The bound of a level with each value: its clusters and separators at the best that agrees with it."""
    if level.last_value == -math.inf:
        return np.full(len(reduced.values), -math.inf)
    relaxation, tables, count = level.relaxation, reduced.tables, len(level.scopes.sizes)
    drops, starts = np.zeros(len(reduced.values)), tables.unary_starts
    separators = scopes_of(tables, level.clusters.separators)
    add_drops(level.scopes, relaxation.table_starts, relaxation.moved, level.tops, starts, drops)
    add_drops(separators, relaxation.value_starts, level.left, level.tops[count:], starts, drops)
    # each drop is the difference of two numbers no larger than this, rounded
    largest = float(np.abs(level.tops).max(initial=0.0))
    slack = ROUNDING * (len(level.tops) + 2) * (abs(level.last_value) + largest)
    return level.last_value + slack - drops


@kernel
def add_drops(
    scopes: Scopes,
    table_starts: NDArray[np.int64],
    table: NDArray[np.float64],
    tops: NDArray[np.float64],
    value_starts: NDArray[np.int32],
    drops: NDArray[np.float64],
) -> None:
    """Add by how much each table's largest entry falls with each value of each of its variables.

    Cost: the entries, once for each variable.
    """
    for k in range(len(scopes.starts) - 1):
        for place in range(scopes.starts[k], scopes.starts[k + 1]):
            variable, stride = scopes.variables[place], scopes.strides[place]
            first = value_starts[variable]
            size = value_starts[variable + 1] - first
            for value in range(size):
                best = -np.inf
                for block in range(table_starts[k] + value * stride, table_starts[k + 1], size * stride):
                    for entry in range(block, block + stride):
                        best = max(best, table[entry])
                drops[first + value] += tops[k] - best


def impossible_moves(
    reduced: ReducedQuery, seed: int = 0, max_order_work: float = MAX_WORK
) -> NDArray[np.bool_]:
    """[model's moves] those of values that are found to be impossible; none where no order is found.

    Zeros are passed on between clusters of a few factors each, along an elimination order. Reducing the query
    again without these moves keeps every possible assignment.
    """
    prospect = plan(reduced, seed, math.inf, max_order_work, max_tries=1)
    if not np.isfinite(prospect.work).all():
        return np.zeros(reduced.model.num_moves, dtype=np.bool_)
    level = Level(unsolved(reduced, seed), mini_buckets(reduced.tables, prospect.order, ZEROS_TABLE))
    level.run(ZEROS_PASSES)
    return reduced.moves_of(~level.living())
