"""All tables of an elimination, kept side by side: a tree of clusters that can be asked again and again.

Each cluster is the bucket of one variable: that variable, slowest, and those that are eliminated after it.
After a pass up and a pass down, every cluster's table has, for each of its entries, the best score of all
assignments that agree with it (of its own independent part).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from beacon.exact.clusters import mini_buckets, relax
from beacon.exact.decode import decoded_choices
from beacon.exact.level import add_factors
from beacon.exact.plan import plan
from beacon.exact.relaxation import Relaxation, add_to_cluster, find_largest, raise_to_cluster, span_of
from beacon.exact.subtables import BLOCK, MAP, NUM_AXES, SIDE_BY_SIDE, next_block
from beacon.jit import inlined, kernel
from beacon.model.factors import places_of, starts_of
from beacon.model.flat import Fixed, FlatModel
from beacon.reduce.query import ReducedQuery, reduce_query

NO_CAP = 1 << 62  # entries of a cluster: it is not to be cut
MAX_TREE_ENTRIES = 1 << 24
"""Of all clusters together: 128 MiB of doubles, and as much again for their copy."""


class Tree:
    """The clusters of a query from which no possible assignment has been removed.

    Attributes
    ----------
    reduced
        The query. Its variables and values are those of this class.
    order
        The variable of each cluster.
    scopes
        The clusters' variables, their own one first.
    relaxation
        The clusters' tables (``moved``) and the separators; each has a link to its child, then its parent.
    base
        The clusters' tables before any pass.
    """

    def __init__(self, reduced: ReducedQuery, order: NDArray[np.int32]) -> None:
        self.clusters = clusters = mini_buckets(reduced.tables, order, NO_CAP)
        self.reduced, self.order = reduced, order
        self.scopes, self.relaxation, owned = relax(reduced.tables, clusters)
        scales, errors = np.empty(len(order)), np.empty(len(order))
        add_factors(self.relaxation, *owned, scales, errors)
        self.base = self.relaxation.moved.copy()
        self.is_root = np.ones(len(order), dtype=np.bool_)
        self.is_root[clusters.links[::2, 0]] = False
        sizes = reduced.tables.sizes[order]
        self._values = places_of(reduced.tables.unary_starts, order)  # of each cluster's own variable
        self._stretches = np.repeat(np.diff(self.relaxation.table_starts) // sizes, sizes)  # their entries

    @property
    def num_values(self) -> int:
        """Number of values over all variables."""
        return len(self.reduced.values)

    def best_scores(self, is_allowed: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """[values] the best score of the variable's independent part with this value; -inf: impossible.

        ``is_allowed`` rules values out. Cost: four times the entries of all clusters.
        """
        moved, best, scores = self.relaxation.moved, np.empty(self.num_values), np.empty(self.num_values)
        moved[:] = self.base
        if is_allowed is not None:
            moved[np.repeat(~is_allowed[self._values], self._stretches)] = -math.inf
        pass_up(self.relaxation, False)
        pass_down(self.relaxation)
        find_largest(moved, starts_of(self._stretches), best)
        scores[self._values] = best
        return scores

    def tops(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """[variables] the largest of the variable's scores."""
        return np.maximum.reduceat(scores, self.reduced.tables.unary_starts[:-1]) if len(scores) else scores

    def is_possible(self, scores: NDArray[np.float64]) -> bool:
        """Do the best scores tell of an assignment with a probability other than zero?"""
        return bool((self.tops(scores) > -math.inf).all())

    def best_choices(self) -> NDArray[np.int32]:
        """A best value of each variable, after :meth:`best_scores`."""
        return decoded_choices(self.reduced.tables.sizes, self.scopes, self.relaxation, self.clusters)

    def log_sum(self) -> float:
        """The log of the summed probabilities (products of potentials) of all assignments.

        Cost: three times the entries of all clusters, and an exponential for each.
        """
        relaxation = self.relaxation
        relaxation.moved[:] = self.base
        pass_up(relaxation, True)
        return self.reduced.constant + log_sums(relaxation, self.is_root)

    def assignment_of(self, choices: NDArray[np.int32]) -> NDArray[np.int64]:
        """The model's assignment."""
        return self.reduced.assignment_of(choices).astype(np.int64)


def grow_tree(
    model: FlatModel, fixed: Fixed, seed: int = 0, max_entries: int = MAX_TREE_ENTRIES
) -> Tree | None:
    """The tree of a query; None if it would take more entries, or if nothing is possible."""
    reduced = reduce_query(model, fixed, eliminate=False)
    return None if reduced.is_impossible else _grown(reduced, seed, max_entries)


def _grown(reduced: ReducedQuery, seed: int, max_entries: int) -> Tree | None:
    prospect = plan(reduced, seed, max_entries)
    return Tree(reduced, prospect.order) if prospect.work.sum() <= max_entries else None


def log_sum(model: FlatModel, fixed: Fixed, max_entries: int = MAX_TREE_ENTRIES) -> float | None:
    """The log of the summed products of potentials over all assignments that keep the fixed values.

    -inf if all are impossible; None if it would take more entries.
    """
    reduced = reduce_query(model, fixed, eliminate=False)
    if reduced.is_impossible:
        return -math.inf
    tree = _grown(reduced, 0, max_entries)
    return None if tree is None else tree.log_sum()


@inlined
def _add_shares(relaxation: Relaxation, link: int, start: int) -> None:
    """Add up the potentials of a link's cluster in ``sums``, each divided by the best for its value.

    The best ones are the separator's values, from ``start``.
    """
    links, digits, moved = relaxation.links, relaxation.digits, relaxation.moved
    block, inside = links.pairs[link, BLOCK], links.pairs[link, MAP]
    for axis in range(links.pairs[link, NUM_AXES]):
        digits[axis] = 0
    at = 0
    begin, end = span_of(relaxation, link)
    for entry in range(begin, end, block):
        for k in range(block):
            place = at + (k if inside == SIDE_BY_SIDE else links.maps[inside + k])
            if moved[entry + k] > -np.inf:
                relaxation.sums[place] += np.exp(moved[entry + k] - relaxation.values[start + place])
        at = next_block(links, link, digits, at)


@kernel
def pass_up(relaxation: Relaxation, is_summed: bool) -> None:
    """Hand the best of each cluster on to its parent, or the log of its sum.

    Cost: the entries of both for each separator.
    """
    values, sums = relaxation.values, relaxation.sums
    for separator in range(len(relaxation.link_starts) - 1):
        start, end = relaxation.value_starts[separator], relaxation.value_starts[separator + 1]
        child, parent = 2 * separator, 2 * separator + 1
        for value in range(end - start):
            values[start + value] = -np.inf
            sums[value] = 0.0
        raise_to_cluster(relaxation, child, values, start)
        if is_summed:
            _add_shares(relaxation, child, start)
            for value in range(end - start):
                if sums[value] > 0.0:
                    values[start + value] += np.log(sums[value])
        add_to_cluster(relaxation, parent, values, start)


@kernel
def pass_down(relaxation: Relaxation) -> None:
    """Tell each child the best of all that is not its own. Cost: as :func:`pass_up`."""
    sums = relaxation.sums
    for separator in range(len(relaxation.link_starts) - 2, -1, -1):
        start, end = relaxation.value_starts[separator], relaxation.value_starts[separator + 1]
        child, parent = 2 * separator, 2 * separator + 1
        for value in range(end - start):
            sums[value] = -np.inf
        raise_to_cluster(relaxation, parent, sums, 0)
        for value in range(end - start):
            if sums[value] > -np.inf:  # else the child has had no say, or -inf itself
                sums[value] -= relaxation.values[start + value]
        add_to_cluster(relaxation, child, sums, 0)


@kernel
def log_sums(relaxation: Relaxation, is_root: NDArray[np.bool_]) -> float:
    """The sum of the logs of the roots' sums. Cost: the roots' entries."""
    total = 0.0
    for cluster in range(len(is_root)):
        if is_root[cluster]:
            top, share = -np.inf, 0.0
            begin, end = relaxation.table_starts[cluster], relaxation.table_starts[cluster + 1]
            for entry in range(begin, end):
                top = max(top, relaxation.moved[entry])
            for entry in range(begin, end):
                if relaxation.moved[entry] > -np.inf:
                    share += np.exp(relaxation.moved[entry] - top)
            total += top + np.log(share) if share > 0.0 else -np.inf
    return total
