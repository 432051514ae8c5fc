from __future__ import annotations

import math

import numpy as np
import pytest

from beacon.evaluation.metrics import bootstrap_interval, mean_per_query


def test_equal_values_leave_no_doubt() -> None:
    assert bootstrap_interval([7.0] * 10) == (7.0, 7.0)


def test_two_queries_give_the_three_possible_means() -> None:
    # resampling (0, 10) yields 0, 5 or 10 with probabilities 1/4, 1/2, 1/4
    assert bootstrap_interval([0.0, 10.0], level=0.95) == (0.0, 10.0)
    assert bootstrap_interval([0.0, 10.0], level=0.4) == (5.0, 5.0)


def test_the_interval_is_near_the_textbook_one_for_many_queries() -> None:
    values = np.random.default_rng(3).normal(50, 10, 400)
    low, high = bootstrap_interval(values)
    half = 1.96 * values.std(ddof=1) / math.sqrt(400)
    assert low == pytest.approx(values.mean() - half, abs=0.15)
    assert high == pytest.approx(values.mean() + half, abs=0.15)


def test_seeds_are_averaged_before_queries_are_drawn() -> None:
    rows = [[0.0, 4.0], [10.0, 6.0]]
    assert mean_per_query(rows).tolist() == [5.0, 5.0]
    assert bootstrap_interval(rows) == (5.0, 5.0)


def test_what_is_not_finite_is_left_out() -> None:
    assert mean_per_query([[1.0, np.inf, np.nan], [3.0, 5.0, np.nan]]).tolist() == [2.0, 5.0]
    assert all(map(math.isnan, bootstrap_interval([np.nan])))


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.arange(20.0)
    assert bootstrap_interval(values, seed=4) == bootstrap_interval(values, seed=4)
