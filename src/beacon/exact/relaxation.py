"""A relaxation: clusters of factors that may disagree about the variables they share, tied by separators.

The bound is the sum of the largest entries of all clusters and separators. Messages move weight between a
cluster and a separator without changing the score of any assignment: what is added to one is taken from the
other. So every choice of messages, however rounded, gives an upper bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.exact.subtables import Scopes, Subtables, combine
from beacon.jit import inlined, kernel

CLUSTER, SEPARATOR = 0, 1  # columns of ``links.pairs``
FORWARD, BACKWARD = 1, 2  # bits of ``ahead``


class Relaxation(NamedTuple):
    """Clusters, separators and the links between them; separators are in the order of a forward pass."""

    table_starts: NDArray[np.int64]
    """[clusters + 1] first entry of each cluster."""
    moved: NDArray[np.float64]
    """[entries] the clusters' tables with all messages added; zeros are -inf."""
    value_starts: NDArray[np.int64]
    """[separators + 1] first value of each separator; a value is a joint one of its variables."""
    values: NDArray[np.float64]
    """[values] the separators' own tables; -inf where it is proved that the value is not needed."""
    link_starts: NDArray[np.int64]
    """[separators + 1] first link of each separator."""
    links: Subtables
    """A pair of cluster and separator for each link."""
    ahead: NDArray[np.int8]
    """[links] FORWARD if the cluster gets a share in a forward pass, BACKWARD in a backward one, or both."""
    message_starts: NDArray[np.int64]
    """[links] where a link's messages begin, one for each value of the separator."""
    messages: NDArray[np.float64]
    """What each link's cluster has got from the separator."""
    margins: NDArray[np.float64]
    """Room for the margins of one separator's links."""
    sums: NDArray[np.float64]
    """Room for one separator's values."""
    digits: NDArray[np.int64]
    """Room for a place in a table."""


@inlined
def span_of(relaxation: Relaxation, link: int) -> tuple[int, int]:
    """Where the table of a link's cluster begins and ends."""
    cluster = relaxation.links.pairs[link, CLUSTER]
    return relaxation.table_starts[cluster], relaxation.table_starts[cluster + 1]


@inlined
def add_to_cluster(relaxation: Relaxation, link: int, small: NDArray[np.float64], start: int) -> None:
    """Add numbers for a separator's values, from ``start``, to the cluster of a link."""
    begin, end = span_of(relaxation, link)
    combine(relaxation.links, link, relaxation.digits, relaxation.moved, begin, end, small, start, True)


@inlined
def raise_to_cluster(relaxation: Relaxation, link: int, small: NDArray[np.float64], start: int) -> None:
    """Raise numbers for a separator's values, from ``start``, to the best entries of a link's cluster."""
    begin, end = span_of(relaxation, link)
    combine(relaxation.links, link, relaxation.digits, relaxation.moved, begin, end, small, start, False)


@inlined
def _take_margins(relaxation: Relaxation, link: int, size: int, at: int) -> None:
    """The largest entry of a cluster for each value of a separator, added to its sums."""
    margins = relaxation.margins
    for value in range(size):
        margins[at + value] = -np.inf
    raise_to_cluster(relaxation, link, margins, at)
    for value in range(size):
        relaxation.sums[value] += margins[at + value]


@inlined
def _share_of(relaxation: Relaxation, first: int, last: int, direction: int) -> float:
    """The part of a separator's sum that goes to each cluster ahead.

    Between two clusters all of it moves on, so that a tree is exact after one pass. Among more, shares are
    the same in both directions: what clusters agree on is then not torn apart on the way back.
    """
    forward, backward = 0, 0
    for link in range(first, last):
        forward += relaxation.ahead[link] & FORWARD
        backward += relaxation.ahead[link] >> 1
    if last - first == 2:
        return 1.0 / max(forward if direction == FORWARD else backward, 1)
    return 1.0 / max(forward, backward, 1)


@inlined
def _give_back(relaxation: Relaxation, link: int, size: int, at: int, share: float) -> None:
    """Replace a cluster's margin by a share of the sum."""
    margins, sums, message = relaxation.margins, relaxation.sums, relaxation.message_starts[link]
    for value in range(size):
        if sums[value] == -np.inf:  # no assignment of non-zero probability has it
            margins[at + value] = -np.inf
        else:
            margins[at + value] = share * sums[value] - margins[at + value]
        relaxation.messages[message + value] += margins[at + value]
    add_to_cluster(relaxation, link, margins, at)


@inlined
def _rule_out(relaxation: Relaxation, start: int, size: int, gap: float) -> None:
    """Give up the values of a separator that are impossible or more than ``gap`` below its best one."""
    least = -np.inf
    for value in range(size):
        least = max(least, relaxation.sums[value])
    least -= gap
    for value in range(size):
        if relaxation.sums[value] == -np.inf or relaxation.sums[value] < least:
            relaxation.sums[value] = -np.inf
            relaxation.values[start + value] = -np.inf


@inlined
def _visit(relaxation: Relaxation, separator: int, direction: int, gap: float) -> None:
    """Gather what the clusters of a separator say and hand it on to those ahead."""
    start, end = relaxation.value_starts[separator], relaxation.value_starts[separator + 1]
    first, last = relaxation.link_starts[separator], relaxation.link_starts[separator + 1]
    size = end - start
    for value in range(size):
        relaxation.sums[value] = relaxation.values[start + value]
    for link in range(first, last):
        message = relaxation.message_starts[link]
        for value in range(size):
            if relaxation.sums[value] > -np.inf:  # a value that is out has messages of -inf
                relaxation.sums[value] -= relaxation.messages[message + value]
    for link in range(first, last):
        _take_margins(relaxation, link, size, (link - first) * size)
    _rule_out(relaxation, start, size, gap)
    share = _share_of(relaxation, first, last, direction)
    for link in range(first, last):
        is_ahead = relaxation.ahead[link] & direction
        _give_back(relaxation, link, size, (link - first) * size, share if is_ahead else 0.0)


@kernel
def find_largest(table: NDArray[np.float64], starts: NDArray[np.int64], largest: NDArray[np.float64]) -> None:
    """The largest entry of each stretch of a table; numpy's reduceat is far slower. Cost: the entries."""
    for k in range(len(largest)):
        top = -np.inf
        for entry in range(starts[k], starts[k + 1]):
            top = max(top, table[entry])
        largest[k] = top


@kernel
def pass_messages(relaxation: Relaxation, direction: int, gap: float) -> None:
    """Visit all separators, in order if ``direction`` is FORWARD, else backwards.

    A value that lowers the bound by more than ``gap`` is ruled out: every assignment that has it is worse
    than the one whose score the gap goes down to. A pass never raises the bound, so that holds in all of it.
    Cost: twice the entries of a cluster for each of its links.
    """
    count = len(relaxation.link_starts) - 1
    for k in range(count):
        _visit(relaxation, k if direction == FORWARD else count - 1 - k, direction, gap)


@kernel
def mark_living(
    relaxation: Relaxation,
    scopes: Scopes,
    unary_starts: NDArray[np.int32],
    is_living: NDArray[np.bool_],
    is_seen: NDArray[np.bool_],
) -> None:
    """Mark as dead the values of single variables that some cluster has ruled out in all its entries.

    ``is_seen`` is room, as long as ``is_living``. Cost: the scope for each entry that is left.
    """
    for cluster in range(len(relaxation.table_starts) - 1):
        begin, end = scopes.starts[cluster], scopes.starts[cluster + 1]
        for place in range(begin, end):
            variable = scopes.variables[place]
            is_seen[unary_starts[variable] : unary_starts[variable + 1]] = False
        start = relaxation.table_starts[cluster]
        for entry in range(relaxation.table_starts[cluster + 1] - start):
            if relaxation.moved[start + entry] > -np.inf:
                for place in range(begin, end):
                    first = unary_starts[scopes.variables[place]]
                    size = unary_starts[scopes.variables[place] + 1] - first
                    is_seen[first + entry // scopes.strides[place] % size] = True
        for place in range(begin, end):
            variable = scopes.variables[place]
            for value in range(unary_starts[variable], unary_starts[variable + 1]):
                is_living[value] = is_living[value] and is_seen[value]
