"""The value of a relaxation, rounded outward: never below what exact arithmetic would give."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.exact.relaxation import CLUSTER, MAP, MESSAGE, Relaxation
from beacon.jit import inlined, kernel

ROUNDING = 2.0**-52
"""Twice the largest relative error of one operation: the other half covers the error of the error's own sum."""


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
def add_messages(relaxation: Relaxation, scales: NDArray[np.float64], errors: NDArray[np.float64]) -> None:
    """Make the moved tables anew from the clusters' own tables and the messages, without old rounding.

    ``scales`` has the largest finite absolute value of each cluster's own table and ``errors`` how far it may
    be off; they get those of the moved tables. Each addition is off by at most half of ROUNDING times the sum
    of the absolute values added. Cost: the entries of a cluster for each of its links.
    """
    for entry in range(len(relaxation.tables)):
        relaxation.moved[entry] = relaxation.tables[entry]
    for separator in range(len(relaxation.link_starts) - 1):
        size = relaxation.value_starts[separator + 1] - relaxation.value_starts[separator]
        for link in range(relaxation.link_starts[separator], relaxation.link_starts[separator + 1]):
            cluster, into = relaxation.links[link, CLUSTER], relaxation.links[link, MAP]
            message = relaxation.links[link, MESSAGE]
            begin, end = relaxation.table_starts[cluster], relaxation.table_starts[cluster + 1]
            for k in range(end - begin):
                relaxation.moved[begin + k] += relaxation.messages[message + relaxation.maps[into + k]]
            scales[cluster] += _largest_finite(relaxation.messages, message, message + size)
            errors[cluster] += ROUNDING * scales[cluster]


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
            message = relaxation.links[link, MESSAGE]
            scale += _largest_finite(relaxation.messages, message, message + end - start)
            error += ROUNDING * scale
        tops[separator] = -np.inf
        errors[separator] = error
        for value in range(end - start):
            if relaxation.values[start + value] > -np.inf:
                total = relaxation.values[start + value]
                for link in range(first, last):
                    total -= relaxation.messages[relaxation.links[link, MESSAGE] + value]
                tops[separator] = max(tops[separator], total)


@kernel
def top_clusters(relaxation: Relaxation, tops: NDArray[np.float64]) -> None:
    """The largest moved entry of each cluster. Cost: all entries."""
    for cluster in range(len(tops)):
        top = -np.inf
        for entry in range(relaxation.table_starts[cluster], relaxation.table_starts[cluster + 1]):
            top = max(top, relaxation.moved[entry])
        tops[cluster] = top


@kernel
def sum_outward(numbers: NDArray[np.float64], errors: NDArray[np.float64]) -> float:
    """An upper bound on the exact sum of numbers each of which may be too small by its error."""
    total, error = 0.0, 0.0
    for k in range(len(numbers)):
        total += numbers[k]
        error += errors[k] + ROUNDING * abs(total)
    return total + error + ROUNDING * (abs(total) + error)
