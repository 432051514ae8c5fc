"""A decoded assignment made possible: values that contradict the zeros are given up and chosen exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.exact.plan import MAX_ENTRIES, plan
from beacon.exact.solve import solve_parts
from beacon.model.flat import Fixed, FlatModel
from beacon.reduce.propagate import possible_moves
from beacon.reduce.query import reduce_query


def repaired(
    model: FlatModel,
    fixed: Fixed,
    assignment: NDArray[np.int32],
    seed: int = 0,
    max_entries: int = MAX_ENTRIES,
) -> NDArray[np.int32] | None:
    """The best assignment that keeps ``fixed`` and all values of another that propagation lets it keep.

    None if what is left turns out to be impossible, or too large to solve. Cost: a propagation for every
    value that is given up, times the logarithm of the number of variables.
    """
    kept = _kept_values(model, fixed.copy(), assignment, np.flatnonzero(fixed < 0))
    reduced = reduce_query(model, kept)
    solved = solve_parts(reduced, plan(reduced, seed, max_entries), seed=seed, max_entries=max_entries)
    return solved.complete() if solved.is_complete and not solved.is_impossible else None


def _kept_values(
    model: FlatModel, fixed: Fixed, assignment: NDArray[np.int32], variables: NDArray[np.int64]
) -> Fixed:
    """Fix as many values as possible, halving what contradicts until the culprits are found."""
    open_variables = variables[fixed[variables] < 0]
    if not len(open_variables):
        return fixed
    wish = fixed.copy()
    wish[open_variables] = assignment[open_variables]
    left = possible_moves(model, wish)
    if left is not None:
        return left[1]
    if len(open_variables) == 1:
        return fixed
    middle = len(open_variables) // 2
    fixed = _kept_values(model, fixed, assignment, open_variables[:middle])
    return _kept_values(model, fixed, assignment, open_variables[middle:])
