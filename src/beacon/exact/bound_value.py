"""The value of a relaxation, rounded outward: never below what exact arithmetic would give."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.exact.relaxation import CLUSTER, Relaxation
from beacon.exact.subtables import LARGE, SMALL, Subtables, add_small
from beacon.jit import inlined, kernel
from beacon.model.flat import ROUNDING


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
        add_small(owners, pair, relaxation.digits, relaxation.moved, begin, end, table, starts[factor])
        scales[cluster] += _largest_finite(table, starts[factor], starts[factor + 1])
        errors[cluster] += ROUNDING * scales[cluster]


@kernel
def add_messages(relaxation: Relaxation, scales: NDArray[np.float64], errors: NDArray[np.float64]) -> None:
    """Add all messages to tables that have none. Cost: the entries of a cluster for each of its links."""
    for separator in range(len(relaxation.link_starts) - 1):
        size = relaxation.value_starts[separator + 1] - relaxation.value_starts[separator]
        for link in range(relaxation.link_starts[separator], relaxation.link_starts[separator + 1]):
            cluster, message = relaxation.links.pairs[link, CLUSTER], relaxation.message_starts[link]
            begin, end = relaxation.table_starts[cluster], relaxation.table_starts[cluster + 1]
            messages, moved = relaxation.messages, relaxation.moved
            add_small(relaxation.links, link, relaxation.digits, moved, begin, end, messages, message)
            scales[cluster] += _largest_finite(messages, message, message + size)
            errors[cluster] += ROUNDING * scales[cluster]


@kernel
def top_clusters(relaxation: Relaxation, tops: NDArray[np.float64]) -> None:
    """The largest moved entry of each cluster. Cost: all entries."""
    for cluster in range(len(tops)):
        top = -np.inf
        for entry in range(relaxation.table_starts[cluster], relaxation.table_starts[cluster + 1]):
            top = max(top, relaxation.moved[entry])
        tops[cluster] = top


@kernel
def top_separators(relaxation: Relaxation, tops: NDArray[np.float64], errors: NDArray[np.float64]) -> None:
    """The largest value of each separator after its messages are taken away, and how far it may be off.

    Cost: the values of the separators for each of their links.
    """
    for separator in range(len(relaxation.link_starts) - 1):
        start, end = relaxation.value_starts[separator], relaxation.value_starts[separator + 1]
        first, last = relaxation.link_starts[separator], relaxation.link_starts[separator + 1]
        scale, error = _largest_finite(relaxation.values, start, end), 0.0
        for link in range(first, last):
            message = relaxation.message_starts[link]
            scale += _largest_finite(relaxation.messages, message, message + end - start)
            error += ROUNDING * scale
        tops[separator] = -np.inf
        errors[separator] = error
        for value in range(end - start):
            if relaxation.values[start + value] > -np.inf:
                total = relaxation.values[start + value]
                for link in range(first, last):
                    total -= relaxation.messages[relaxation.message_starts[link] + value]
                tops[separator] = max(tops[separator], total)


@kernel
def sum_outward(numbers: NDArray[np.float64], errors: NDArray[np.float64]) -> float:
    """An upper bound on the exact sum of numbers each of which may be too small by its error."""
    total, error = 0.0, 0.0
    for k in range(len(numbers)):
        total += numbers[k]
        error += errors[k] + ROUNDING * abs(total)
    return total + error + ROUNDING * (abs(total) + error)
