"""The penalty weight of GLS+ that fits a model."""

from __future__ import annotations

import math

import numpy as np

from beacon.model.flat import FlatModel, once_per_model


@once_per_model
def default_penalty_weight(model: FlatModel) -> float:
    """A typical range of the tables, less where variables have many factors; docs/gls.md has the figures.

    Where a tenth of the tables or more have zeros, these hard constraints set the scale.
    """
    sizes = np.diff(model.table_starts)
    starts = model.table_starts[:-1][sizes > 1]
    if not len(starts):
        return 1.0  # no table distinguishes anything: any weight will do
    bounds = np.column_stack([starts, starts + sizes[sizes > 1]]).ravel()
    padded = np.append(model.log_table, 0.0)  # reduceat wants every bound inside the array
    lowest, highest = np.minimum.reduceat(padded, bounds)[::2], np.maximum.reduceat(padded, bounds)[::2]
    ranges, is_hard = highest - lowest, lowest == model.log_zero
    typical_range = float(np.sqrt(np.mean(ranges[is_hard] ** 2 if is_hard.mean() >= 0.1 else ranges**2)))
    num_choices = int(np.count_nonzero(model.domain_sizes > 1))
    factors_per_variable = len(model.scopes) / max(1, num_choices)
    return typical_range * math.sqrt(min(1.0, 4 / max(1.0, factors_per_variable))) or 1.0
