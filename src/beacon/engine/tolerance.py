"""How much better a score must be to be better, and not just rounded otherwise."""

from __future__ import annotations

import numpy as np

from beacon.model.flat import FlatModel, once_per_model

LEAST = 1e-9
ROUNDING = 1e-12  # of the largest sum that a search may meet: what errors may add up to between two refreshes


@once_per_model
def tolerance_of(model: FlatModel) -> float:
    """Large where the log-potentials are: what flips keep up to date is a little off by then."""
    sizes = np.where(model.log_table == model.log_zero, 0.0, np.abs(model.log_table))
    starts = model.table_starts[:-1][np.diff(model.table_starts) > 0]
    largest_sum = float(np.maximum.reduceat(sizes, starts).sum()) if len(starts) else 0.0
    return max(LEAST, ROUNDING * largest_sum)
