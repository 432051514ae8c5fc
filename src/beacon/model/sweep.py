"""A rough bound on treewidth in linear time: how many variables a breadth-first sweep has to keep in mind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.jit import kernel
from beacon.model.factors import Factors, starts_of

Links = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Where the factors of each variable begin, and these."""


def sweep_width(factors: Factors) -> int:
    """The largest number of variables that a sweep has met and that still share a factor with later ones.

    No less than the treewidth; about the shorter side of a grid. The better of two sweeps: the second one
    begins where the first has ended.
    """
    if not len(factors.variables):
        return 0
    links = links_of(factors)
    first = order_of(factors, links, np.arange(len(factors.domain_sizes)))
    second = order_of(factors, links, first[::-1].copy())
    return min(_most_kept(factors, first), _most_kept(factors, second))


def links_of(factors: Factors) -> Links:
    """The factors of each variable."""
    by_variable = np.argsort(factors.variables, kind="stable")
    factor_of_place = np.repeat(np.arange(len(factors)), factors.arities)[by_variable]
    return starts_of(np.bincount(factors.variables, minlength=len(factors.domain_sizes))), factor_of_place


def order_of(factors: Factors, links: Links, roots: NDArray[np.int64]) -> NDArray[np.int64]:
    """All variables, those near the first root first."""
    order, is_met = np.empty_like(roots), np.zeros(len(roots), dtype=np.bool_)
    is_seen = np.zeros(len(factors), dtype=np.bool_)
    breadth_first(*links, factors.scope_starts, factors.variables, roots, order, is_met, is_seen)
    return order


def _most_kept(factors: Factors, order: NDArray[np.int64]) -> int:
    """A variable is kept from its place in the order to the last place of those it shares a factor with."""
    filled = factors.arities > 0
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    ends = np.maximum.reduceat(place[factors.variables], factors.scope_starts[:-1][filled])
    last = place.copy()
    np.maximum.at(last, factors.variables, np.repeat(ends, factors.arities[filled]))
    change = np.ones(len(order) + 1, dtype=np.int64)  # each is kept from its own place on
    np.subtract.at(change, last, 1)
    return int(np.cumsum(change[:-1]).max())


@kernel
def breadth_first(
    starts: NDArray[np.int64],
    factors: NDArray[np.int64],
    scope_starts: NDArray[np.int64],
    variables: NDArray[np.int32],
    roots: NDArray[np.int64],
    order: NDArray[np.int64],
    is_met: NDArray[np.bool_],
    is_seen: NDArray[np.bool_],
) -> None:
    """Put all variables in order, those near the first root first. Cost: each factor's scope, once.

    The factors of variable i are ``factors[starts[i]:starts[i + 1]]``; ``is_met`` [variables] and ``is_seen``
    [factors] are false at first.
    """
    head, count = 0, 0
    for k in range(len(roots)):
        if not is_met[roots[k]]:
            is_met[roots[k]] = True
            order[count] = roots[k]
            count += 1
        while head < count:
            variable = order[head]
            head += 1
            for link in range(starts[variable], starts[variable + 1]):
                factor = factors[link]
                if not is_seen[factor]:
                    is_seen[factor] = True
                    for place in range(scope_starts[factor], scope_starts[factor + 1]):
                        other = variables[place]
                        if not is_met[other]:
                            is_met[other] = True
                            order[count] = other
                            count += 1
