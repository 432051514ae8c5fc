"""The value of a relaxation, rounded outward: never below what exact arithmetic would give."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.exact.relaxation import CLUSTER, Relaxation, add_to_cluster
from beacon.exact.subtables import LARGE, SMALL, Subtables, combine
from beacon.jit import inlined, kernel
from beacon.model.factors import of_tables
from beacon.model.flat import ROUNDING, FlatModel, once_per_model
from beacon.reduce.query import ReducedQuery


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


def sum_outward(numbers: NDArray[np.float64], errors: NDArray[np.float64]) -> float:
    """An upper bound on the exact sum of numbers each of which may be too small by its error."""
    totals = np.cumsum(numbers)  # one after the other: np.sum would add in pairs
    error = np.cumsum(errors + ROUNDING * np.abs(totals))[-1]
    return float(totals[-1] + error + ROUNDING * (abs(totals[-1]) + error))


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
