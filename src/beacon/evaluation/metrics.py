"""The numbers of a comparison, each a small function of arrays with one entry per query, and their intervals.

Scores are floored log scores, higher is better. ``-inf`` stands for "no assignment found", ``nan`` for "not
measured" (an exact solver has no score after 500 steps); queries that were not measured are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.model.ties import TIE_TOLERANCE, is_tie

Floats = NDArray[np.float64]
NUM_RESAMPLES = 2000
LEVEL = 0.95


class Mean(NamedTuple):
    """A mean over queries, and how far it can be trusted."""

    mean: float
    """Over the queries with a finite value; nan if there is none."""
    std: float
    """Their standard deviation (of a sample; 0 for a single query)."""
    num_finite: int
    """Number of finite values."""
    num_infinite: int
    """Number of values that are infinite, and therefore not in the mean."""


def mean_of(values: ArrayLike) -> Mean:
    """Mean and standard deviation of the finite values; infinite ones are counted apart."""
    every = np.asarray(values, dtype=np.float64)
    finite = every[np.isfinite(every)]
    infinite = int(np.isinf(every).sum())
    if not len(finite):
        return Mean(np.nan, np.nan, 0, infinite)
    std = float(finite.std(ddof=1)) if len(finite) > 1 else 0.0
    return Mean(float(finite.mean()), std, len(finite), infinite)


def win_points(scores: ArrayLike, baselines: ArrayLike) -> Floats:
    """1 where the score beats its baseline, 0.5 for a tie, 0 where it loses; nan where one is missing."""
    a, b = np.asarray(scores, dtype=np.float64), np.asarray(baselines, dtype=np.float64)
    points = np.where(is_tie(a, b), 0.5, np.where(a > b, 1.0, 0.0))
    points[np.isnan(a) | np.isnan(b)] = np.nan
    return points


def win_percentage(scores: ArrayLike, baselines: ArrayLike) -> float:
    """Mean of the win points, in percent; nan without a single measured query."""
    return 100 * mean_of(win_points(scores, baselines)).mean


def improvements(scores: ArrayLike, baselines: ArrayLike) -> Floats:
    """``(score − baseline) / |baseline| · 100`` for each query.

    A tie is 0 whatever the baseline. Otherwise the sign of the difference times infinity where the quotient
    has no meaning: a baseline of 0, or one side without any assignment.
    """
    a, b = np.asarray(scores, dtype=np.float64), np.asarray(baselines, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        percent = (a - b) / np.abs(b) * 100
        endless = np.where(a > b, np.inf, -np.inf)
    percent = np.where((b == 0) | np.isinf(a) | np.isinf(b), endless, percent)
    percent = np.where(is_tie(a, b), 0.0, percent)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, percent)


def gaps(scores: ArrayLike, best: ArrayLike) -> Floats:
    """How far below the best known score, in percent of it: 0 is best, larger is worse."""
    return -improvements(scores, best) + 0.0


def best_known(scores: ArrayLike) -> Floats:
    """[methods, queries] -> [queries] the best score of any method; -inf where none found an assignment."""
    every = np.asarray(scores, dtype=np.float64)
    best: Floats = np.where(np.isnan(every), -np.inf, every).max(axis=0, initial=-np.inf)
    return best


def first_reaching(times: ArrayLike, scores: ArrayLike, target: float) -> float:
    """The first time (steps or seconds) at which a search knows a score of at least ``target``; else inf."""
    reached = np.flatnonzero(np.asarray(scores) >= target - TIE_TOLERANCE)
    return float(np.asarray(times)[reached[0]]) if len(reached) else np.inf


def target_score(best: float, percent: float) -> float:
    """The score that is ``percent`` of the best known one below it."""
    return best - abs(best) * percent / 100


def known_at(times: ArrayLike, values: ArrayLike, budgets: ArrayLike, before: float) -> Floats:
    """The value at each budget: that of the last event until then; ``before`` where there is none yet."""
    events = np.append(before, np.asarray(values, dtype=np.float64))
    return events[np.searchsorted(np.asarray(times), np.asarray(budgets), side="right")]


def seconds_per_step(seconds: ArrayLike, steps: ArrayLike) -> Mean:
    """Mean and standard deviation, over the queries with steps, of the time of a step."""
    counts = np.asarray(steps, dtype=np.float64)
    return mean_of(np.divide(seconds, counts, out=np.full(counts.shape, np.nan), where=counts > 0))


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
