"""How far the tables of a reduced query may be off, because sums of doubles are rounded."""

from __future__ import annotations

import numpy as np

from beacon.model.factors import of_tables
from beacon.model.flat import ROUNDING, FlatModel, once_per_model
from beacon.reduce.query import ReducedQuery


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
