"""The best assignments of a query one after another, exactly.

The assignments are cut into disjoint sets. Of each set the best assignment is known, and the best score of
every value tells where the second best differs from it: there the set is cut in two. So each assignment
costs two passes over the tree, whatever came before.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from beacon.exact.tree import Tree

Choices = NDArray[np.int32]


@dataclass(order=True)
class _Set:
    """Assignments with allowed values only, by the loss of the second best of them."""

    second_loss: float
    number: int
    """Sets of equal loss: the older one first."""
    loss: float = field(compare=False)
    """How far its best assignment is below the best of all."""
    best: Choices = field(compare=False)
    is_allowed: NDArray[np.bool_] = field(compare=False)
    second_value: int = field(compare=False)
    """A value that the second best has and the best has not."""


def ranked(tree: Tree, best: Choices | None = None) -> Iterator[Choices]:
    """All possible assignments, best first, as choices of the tree's values; the first is ``best`` if given.

    ``best`` must be a best assignment.
    """
    is_allowed = np.ones(tree.num_values, dtype=np.bool_)
    scores = tree.best_scores(is_allowed)
    if not tree.is_possible(scores):
        return
    first = tree.best_choices() if best is None else best
    yield first
    waiting: list[_Set] = []
    count, starts = 0, tree.reduced.tables.unary_starts
    _put(waiting, _Set(np.inf, count, 0.0, first, is_allowed, -1), tree, scores)
    while waiting:
        found = heapq.heappop(waiting)
        variable = int(np.searchsorted(starts, found.second_value, side="right")) - 1
        inside = found.is_allowed.copy()
        inside[starts[variable] : starts[variable + 1]] = False
        inside[found.second_value] = True
        scores = tree.best_scores(inside)
        second = tree.best_choices()
        yield second
        count += 1
        _put(waiting, _Set(np.inf, count, found.second_loss, second, inside, -1), tree, scores)
        found.is_allowed[found.second_value] = False
        _put(waiting, found, tree, tree.best_scores(found.is_allowed))


def _put(waiting: list[_Set], some: _Set, tree: Tree, scores: NDArray[np.float64]) -> None:
    """Look for the second best of a set, and keep the set if there is one."""
    tables = tree.reduced.tables
    if not len(tables.sizes):
        return
    losses = np.repeat(tree.tops(scores), tables.sizes) - np.where(some.is_allowed, scores, -np.inf)
    losses[tables.unary_starts[:-1] + some.best] = np.inf
    some.second_value = int(losses.argmin())
    some.second_loss = some.loss + float(losses[some.second_value])
    if some.second_loss < np.inf:
        heapq.heappush(waiting, some)
