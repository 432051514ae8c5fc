"""A relaxation: clusters of factors that may disagree about the variables they share, tied by separators.

The bound is the sum of the largest entries of all clusters and separators. Messages move weight between a
cluster and a separator without changing the score of any assignment: what is added to one is taken from the
other. So every choice of messages, however rounded, gives an upper bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel

CLUSTER, MAP, MESSAGE, AHEAD = 0, 1, 2, 3  # columns of ``links``
FORWARD, BACKWARD = 1, 2  # bits of AHEAD: the cluster has a later, an earlier separator


class Relaxation(NamedTuple):
    """Clusters, separators and the links between them; separators are in the order of a forward pass."""

    table_starts: NDArray[np.int64]
    """[clusters + 1] first entry of each cluster."""
    tables: NDArray[np.float64]
    """[entries] the clusters' own tables; zeros are -inf."""
    moved: NDArray[np.float64]
    """[entries] the same with all messages added."""
    value_starts: NDArray[np.int64]
    """[separators + 1] first value of each separator; a value is a joint one of its variables."""
    values: NDArray[np.float64]
    """[values] the separators' own tables; -inf where it is proved that the value is not needed."""
    link_starts: NDArray[np.int64]
    """[separators + 1] first link of each separator."""
    links: NDArray[np.int64]
    """[links, 4] cluster, start in ``maps``, start in ``messages``, which directions lie ahead."""
    maps: NDArray[np.int32]
    """For each link and entry of its cluster, the separator's value there."""
    messages: NDArray[np.float64]
    """For each link and value of its separator, what the cluster has got from the separator."""
    margins: NDArray[np.float64]
    """Room for the margins of one separator's links."""
    sums: NDArray[np.float64]
    """Room for one separator's values."""


@inlined
def _take_margins(relaxation: Relaxation, link: int, size: int, at: int) -> None:
    """The largest entry of a cluster for each value of a separator, and its sum. Cost: the cluster's entries."""
    margins, sums = relaxation.margins, relaxation.sums
    cluster, into = relaxation.links[link, CLUSTER], relaxation.links[link, MAP]
    for value in range(size):
        margins[at + value] = -np.inf
    begin, end = relaxation.table_starts[cluster], relaxation.table_starts[cluster + 1]
    for k in range(end - begin):
        value = at + relaxation.maps[into + k]
        margins[value] = max(margins[value], relaxation.moved[begin + k])
    for value in range(size):
        sums[value] += margins[at + value]


@inlined
def _share_of(relaxation: Relaxation, separator: int) -> float:
    """The part of a separator's sum that goes to each cluster ahead."""
    forward, backward = 0, 0
    for link in range(relaxation.link_starts[separator], relaxation.link_starts[separator + 1]):
        forward += relaxation.links[link, AHEAD] & FORWARD
        backward += relaxation.links[link, AHEAD] >> 1
    return 1.0 / max(forward, backward, 1)


@inlined
def _give_back(relaxation: Relaxation, link: int, size: int, at: int, share: float) -> None:
    """Replace a cluster's margin by a share of the sum. Cost: the cluster's entries."""
    margins, sums = relaxation.margins, relaxation.sums
    cluster, into = relaxation.links[link, CLUSTER], relaxation.links[link, MAP]
    message = relaxation.links[link, MESSAGE]
    for value in range(size):
        if sums[value] == -np.inf:  # no assignment of non-zero probability has it
            margins[at + value] = -np.inf
        else:
            margins[at + value] = share * sums[value] - margins[at + value]
        relaxation.messages[message + value] += margins[at + value]
    begin, end = relaxation.table_starts[cluster], relaxation.table_starts[cluster + 1]
    for k in range(end - begin):
        relaxation.moved[begin + k] += margins[at + relaxation.maps[into + k]]


@inlined
def _visit(relaxation: Relaxation, separator: int, direction: int) -> None:
    """Gather what the clusters of a separator say and hand it on to those ahead."""
    start, size = relaxation.value_starts[separator], 0
    size = relaxation.value_starts[separator + 1] - start
    first, last = relaxation.link_starts[separator], relaxation.link_starts[separator + 1]
    for value in range(size):
        relaxation.sums[value] = relaxation.values[start + value]
    for link in range(first, last):
        message = relaxation.links[link, MESSAGE]
        for value in range(size):
            if relaxation.sums[value] > -np.inf:  # a value that is out has messages of -inf
                relaxation.sums[value] -= relaxation.messages[message + value]
    for link in range(first, last):
        _take_margins(relaxation, link, size, (link - first) * size)
    for value in range(size):
        if relaxation.sums[value] == -np.inf:
            relaxation.values[start + value] = -np.inf
    share = _share_of(relaxation, separator)
    for link in range(first, last):
        is_ahead = relaxation.links[link, AHEAD] & direction
        _give_back(relaxation, link, size, (link - first) * size, share if is_ahead else 0.0)


@kernel
def pass_messages(relaxation: Relaxation, direction: int) -> None:
    """Visit all separators, in order if ``direction`` is FORWARD, else backwards.

    Cost: twice the entries of a cluster for each of its links.
    """
    count = len(relaxation.link_starts) - 1
    for k in range(count):
        _visit(relaxation, k if direction == FORWARD else count - 1 - k, direction)
