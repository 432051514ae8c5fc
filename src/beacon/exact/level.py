"""One relaxation of a query's open parts: messages, the bound's value, an assignment.

The value is rounded outward: it is never below what exact arithmetic would give.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from beacon.exact.clusters import Clusters, relax
from beacon.exact.decode import decoded_choices
from beacon.exact.relaxation import (
    BACKWARD,
    CLUSTER,
    FORWARD,
    Relaxation,
    add_to_cluster,
    find_largest,
    mark_living,
    pass_messages,
)
from beacon.exact.solve import SolvedParts
from beacon.exact.subtables import LARGE, SMALL, Subtables, combine
from beacon.jit import inlined, kernel
from beacon.model.factors import of_tables
from beacon.model.flat import ROUNDING, FlatModel, once_per_model
from beacon.reduce.query import ReducedQuery


class Level:
    """Clusters of one size, and the messages passed between them."""

    def __init__(self, solved: SolvedParts, clusters: Clusters) -> None:
        self.solved = solved
        self.clusters = clusters
        self.num_passes = 0
        self.scopes, self.relaxation, self.owned = relax(solved.tables, clusters)
        self.left = np.empty(0)
        """What the separators' values are worth besides their messages, after :meth:`value`."""
        self.tops = np.empty(0)
        """The largest entry of each cluster, then of each separator, after :meth:`value`."""
        self.last_slack = 0.0
        self.last_value = self.value()

    @property
    def is_last_forward(self) -> bool:
        """Was the last pass a forward one?"""
        return self.num_passes % 2 == 1

    def run(self, passes: int, gap: float = math.inf) -> None:
        """Pass messages forward and back in turn; values that cost more than ``gap`` are out from then on."""
        for _ in range(passes):
            pass_messages(self.relaxation, BACKWARD if self.is_last_forward else FORWARD, gap)
            self.num_passes += 1

    def value(self) -> float:
        """An upper bound on the query's best score; -inf is a proof that nothing is possible.

        It depends on the messages alone: the clusters' tables are made anew from the factors, so what earlier
        passes have rounded does not add up.
        """
        relaxation, clusters = self.relaxation, len(self.scopes.sizes)
        scales, errors = np.empty(clusters), np.empty(clusters + len(relaxation.link_starts) - 1)
        add_factors(relaxation, *self.owned, scales, errors[:clusters])
        add_messages(relaxation, scales, errors[:clusters])
        self.left = relaxation.values.copy()
        take_messages(relaxation, self.left, errors[clusters:])
        self.tops = np.empty(len(errors))
        find_largest(relaxation.moved, relaxation.table_starts, self.tops[:clusters])
        find_largest(self.left, relaxation.value_starts, self.tops[clusters:])
        self.last_value = -math.inf
        if not self.solved.is_impossible and (self.tops > -math.inf).all():
            terms = np.concatenate([[self.solved.score], self.tops])
            slacks = np.concatenate([[reduction_slack(self.solved.reduced)], errors])
            self.last_value = sum_outward(terms, slacks)
            self.last_slack = self.last_value - float(terms.sum())
        return self.last_value

    def living(self) -> NDArray[np.bool_]:
        """[values] those of the query's variables that passes with a gap have not ruled out."""
        tables = self.solved.tables
        is_living = np.ones(int(tables.unary_starts[-1]), dtype=np.bool_)
        mark_living(self.relaxation, self.scopes, tables.unary_starts, is_living, is_living.copy())
        return is_living

    def decoded(self) -> NDArray[np.int32]:
        """The assignment whose values the clusters like best, one after the other."""
        clusters = self.clusters
        if clusters.cluster_of_unary is not None and not self.is_last_forward:
            self.run(1)  # a value is chosen by its bucket, which knows all before it after a forward pass
        own = self._own_values() if clusters.cluster_of_unary is None else None
        sizes = self.solved.tables.sizes
        return self.solved.assignment_of(decoded_choices(sizes, self.scopes, self.relaxation, clusters, own))

    def _own_values(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """What the values of each variable of the decoding order are worth besides its clusters."""
        relaxation, clusters = self.relaxation, self.clusters
        separators = clusters.links[:, 1]
        sizes = np.diff(relaxation.value_starts)[separators]
        begins = relaxation.value_starts[separators] - relaxation.message_starts[:-1]
        owners = np.arange(len(relaxation.messages)) + np.repeat(begins, sizes)
        finite = np.where(np.isfinite(relaxation.messages), relaxation.messages, 0.0)
        moved = np.bincount(owners, finite, minlength=len(relaxation.values))
        return relaxation.values - moved, relaxation.value_starts


@inlined
def _largest_finite(numbers: NDArray[np.float64], begin: int, end: int) -> float:
    """The largest absolute value that is not infinite; 0 if there is none."""
    largest = 0.0
    for k in range(begin, end):
        size = abs(numbers[k])
        if largest < size < np.inf:
            largest = size
    return largest


@kernel
def add_factors(
    relaxation: Relaxation,
    owners: Subtables,
    starts: NDArray[np.int64],
    table: NDArray[np.float64],
    scales: NDArray[np.float64],
    errors: NDArray[np.float64],
) -> None:
    """Begin the moved tables anew with the sums of the clusters' factors.

    ``scales`` gets the largest absolute value that an entry of a cluster can have, ``errors`` how far it may
    be off: each addition is off by at most half of ROUNDING times that. Cost: the entries of a cluster for
    each of its factors.
    """
    for cluster in range(len(scales)):
        scales[cluster] = 0.0
        errors[cluster] = 0.0
    for entry in range(len(relaxation.moved)):
        relaxation.moved[entry] = 0.0
    for pair in range(len(owners.pairs)):
        cluster, factor = owners.pairs[pair, LARGE], owners.pairs[pair, SMALL]
        begin, end = relaxation.table_starts[cluster], relaxation.table_starts[cluster + 1]
        combine(owners, pair, relaxation.digits, relaxation.moved, begin, end, table, starts[factor], True)
        scales[cluster] += _largest_finite(table, starts[factor], starts[factor + 1])
        errors[cluster] += ROUNDING * scales[cluster]


@kernel
def add_messages(relaxation: Relaxation, scales: NDArray[np.float64], errors: NDArray[np.float64]) -> None:
    """Add all messages to tables that have none. Cost: the entries of a cluster for each of its links."""
    for separator in range(len(relaxation.link_starts) - 1):
        size = relaxation.value_starts[separator + 1] - relaxation.value_starts[separator]
        for link in range(relaxation.link_starts[separator], relaxation.link_starts[separator + 1]):
            cluster, message = relaxation.links.pairs[link, CLUSTER], relaxation.message_starts[link]
            add_to_cluster(relaxation, link, relaxation.messages, message)
            scales[cluster] += _largest_finite(relaxation.messages, message, message + size)
            errors[cluster] += ROUNDING * scales[cluster]


@kernel
def take_messages(relaxation: Relaxation, left: NDArray[np.float64], errors: NDArray[np.float64]) -> None:
    """Take away what the separators have given to clusters from their values, in ``left`` at first.

    ``errors`` gets how far the values of each separator may be off. Cost: the messages.
    """
    for separator in range(len(relaxation.link_starts) - 1):
        start, end = relaxation.value_starts[separator], relaxation.value_starts[separator + 1]
        scale, error = _largest_finite(relaxation.values, start, end), 0.0
        for link in range(relaxation.link_starts[separator], relaxation.link_starts[separator + 1]):
            message = relaxation.message_starts[link]
            scale += _largest_finite(relaxation.messages, message, message + end - start)
            error += ROUNDING * scale
            for value in range(end - start):
                if left[start + value] > -np.inf:
                    left[start + value] -= relaxation.messages[message + value]
        errors[separator] = error


@kernel
def sum_outward(numbers: NDArray[np.float64], errors: NDArray[np.float64]) -> float:
    """An upper bound on the exact sum of numbers each of which may be too small by its error."""
    total, error = 0.0, 0.0
    for k in range(len(numbers)):
        total += numbers[k]
        error += errors[k] + ROUNDING * abs(total)
    return total + error + ROUNDING * (abs(total) + error)


@once_per_model
def _sum_of_scales(model: FlatModel) -> float:
    """The sum over all factors of the largest finite absolute value: no partial sum is larger."""
    sizes = np.abs(np.where(model.log_table == model.log_zero, 0.0, model.log_table))
    return float(of_tables(np.maximum, sizes, model.bases).sum())


def reduction_slack(reduced: ReducedQuery) -> float:
    """An upper bound on the rounding error of any score computed from a query's tables by elimination.

    A factor's entry is one of the terms of a sum in which every addition brings in another factor, a
    variable's own values or a zero to begin with, so it goes through at most as many roundings as there are
    factors and twice the variables, each of half of ROUNDING times the partial sum at most.
    """
    depth = reduced.model.num_factors + 2 * reduced.model.num_variables
    return ROUNDING * depth * _sum_of_scales(reduced.model) + reduced.model.off_by
