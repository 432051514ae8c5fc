"""Factors of equal scope added up: the same scores from fewer tables, for searches to which it is all one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.model.factors import Factors, counted, of_tables, starts_of
from beacon.model.flat import ROUNDING, FlatModel, flatten, once_per_model


def join_factors(model: FlatModel) -> FlatModel:
    """The model with factors of equal scope joined; the model itself if there are none.

    Factors with zeros stay as they are, so that assignments have as many zero factors as before.
    """
    return _joined(model) or model


@once_per_model
def _joined(model: FlatModel) -> FlatModel | None:
    order, numbers = _places_by_variable(model), np.arange(model.num_factors)
    ascending = model.scopes[order, 0]
    if (_first_of_its_scope(model, ascending, numbers >= 0) == numbers).all():
        return None  # most models: found out without a look at their tables
    is_zero = model.log_table == model.log_zero
    has_zeros = bool(is_zero.any())
    firsts = _first_of_its_scope(model, ascending, ~of_tables(np.logical_or, is_zero, model.bases))
    if (firsts == numbers).all():
        return None
    table = np.where(is_zero, -np.inf, model.log_table) if has_zeros else model.log_table
    bases = model.bases if model.is_shared else None
    factors = Factors(model.domain_sizes, np.diff(model.scope_starts), model.scopes[:, 0], table, bases)
    factors = factors.expanded()
    joined = _added_up(factors, order, firsts)
    if has_zeros and joined.log_table[np.isfinite(joined.log_table)].min(initial=0.0) <= model.log_zero:
        return None  # sums below the floor would be taken for zeros
    return flatten(joined.shared(), model.log_zero if has_zeros else None, _rounding(factors, firsts))


def _places_by_variable(model: FlatModel) -> NDArray[np.int64]:
    """[scope places] the places of each factor, one factor after another, its variables ascending."""
    of_factor = np.repeat(np.arange(model.num_factors), np.diff(model.scope_starts))
    is_ascending = (np.diff(model.scopes[:, 0]) > 0) | (np.diff(of_factor) > 0)
    if is_ascending.all():
        return np.arange(len(of_factor))  # as most are: to sort would take much longer
    return np.lexsort((model.scopes[:, 0], of_factor))


def _first_of_its_scope(
    model: FlatModel, ascending: NDArray[np.int32], may_join: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """[factors] the first factor over the same variables that may be joined; any other is its own."""
    firsts, arities = np.arange(model.num_factors), np.diff(model.scope_starts)
    for arity in np.unique(arities).tolist():
        alike = np.flatnonzero((arities == arity) & may_join)
        keys = np.zeros(len(alike), dtype=np.int64)
        for rank in range(arity):
            column = ascending[model.scope_starts[alike] + rank]
            if rank > 1:  # two variables make a number below 2^62; of more, number the prefixes anew
                keys = np.unique(keys, return_inverse=True)[1]
            keys = keys * model.num_variables + column
        ascending_keys = np.sort(keys)  # much quicker than to find out which of them are equal
        if (ascending_keys[1:] != ascending_keys[:-1]).all():
            continue
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        firsts[alike] = alike[first[group]]
    return firsts


def _added_up(factors: Factors, order: NDArray[np.int64], firsts: NDArray[np.int64]) -> Factors:
    """Every factor added to the first of its scope."""
    is_first = firsts == np.arange(len(factors))
    sizes, arities = np.diff(factors.table_starts), factors.arities
    table = factors.log_table[np.repeat(is_first, sizes)]
    starts = np.zeros(len(factors), dtype=np.int64)
    starts[is_first] = starts_of(sizes[is_first])[:-1]
    np.add.at(table, *_targets(factors, order, firsts, starts))
    variables = factors.variables[np.repeat(is_first, arities)]
    return Factors(factors.domain_sizes, arities[is_first], variables, table)


def _targets(
    factors: Factors, order: NDArray[np.int64], firsts: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Entries of all factors but the first ones: where each is added, and what."""
    others = np.flatnonzero(firsts != np.arange(len(factors)))
    sizes, arities = np.diff(factors.table_starts)[others], factors.arities[others]
    within, target = counted(sizes), np.repeat(starts[firsts[others]], sizes)
    values = factors.log_table[np.repeat(factors.table_starts[others], sizes) + within]
    for rank in range(int(arities.max())):
        has_rank = arities > rank
        own = order[factors.scope_starts[others[has_rank]] + rank]
        its = order[factors.scope_starts[firsts[others[has_rank]]] + rank]  # the same variable's place
        entries, count = np.repeat(has_rank, sizes), sizes[has_rank]
        digits = within[entries] // np.repeat(factors.strides[own], count)
        digits %= np.repeat(factors.domain_sizes[factors.variables[own]], count)
        target[entries] += digits * np.repeat(factors.strides[its], count)
    return target, values


def _rounding(factors: Factors, firsts: NDArray[np.int64]) -> float:
    """How far scores may be off: each addition by half of ROUNDING times its result at most."""
    finite = np.where(np.isfinite(factors.log_table), np.abs(factors.log_table), 0.0)
    largest = np.maximum.reduceat(finite, factors.table_starts[:-1])
    counts = np.bincount(firsts, minlength=len(factors))
    scales = np.bincount(firsts, weights=largest, minlength=len(factors))
    return float(ROUNDING * (np.maximum(counts - 1, 0) * scales).sum())
