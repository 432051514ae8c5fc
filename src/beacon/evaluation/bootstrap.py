"""Bootstrap confidence intervals: how much a mean over queries owes to the queries that were drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

NUM_RESAMPLES = 2000
LEVEL = 0.95


class Interval(NamedTuple):
    """A confidence interval of a mean."""

    low: float
    high: float


def bootstrap_interval(
    values: ArrayLike, *, level: float = LEVEL, num_resamples: int = NUM_RESAMPLES, seed: int = 0
) -> Interval:
    """Percentile interval of the mean: resample the queries with replacement, take the means' quantiles.

    ``values`` is [queries], or [seeds, queries]: the runs of a query on several seeds are averaged first,
    since what varies between users is the query. Values that are not finite are left out.
    """
    per_query = mean_per_query(values)
    if not len(per_query):
        return Interval(np.nan, np.nan)
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, len(per_query), (num_resamples, len(per_query)))
    tail = (1 - level) / 2
    low, high = np.quantile(per_query[draws].mean(axis=1), [tail, 1 - tail])
    return Interval(float(low), float(high))


def mean_per_query(values: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Average finite values over seeds; queries without any are dropped."""
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    is_finite = np.isfinite(rows)
    counts = is_finite.sum(axis=0)
    sums = np.where(is_finite, rows, 0.0).sum(axis=0)
    result: np.ndarray[tuple[int], np.dtype[np.float64]] = sums[counts > 0] / counts[counts > 0]
    return result
