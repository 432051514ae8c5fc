"""Every metric against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beacon.evaluation.metrics import (
    best_known,
    first_reaching,
    gaps,
    improvements,
    known_at,
    mean_of,
    seconds_per_step,
    target_score,
    win_percentage,
    win_points,
)

INF, NAN = math.inf, math.nan


def test_a_win_is_one_a_tie_half_and_a_loss_nothing() -> None:
    assert win_points([-5, -7, -9], [-6, -7, -8]).tolist() == [1.0, 0.5, 0.0]
    assert win_percentage([-5, -7, -9], [-6, -7, -8]) == 50.0
    assert win_percentage([-5, -7, -5, -5], [-6, -7, -6, -6]) == 87.5


def test_scores_that_differ_by_rounding_tie() -> None:
    assert win_percentage([-1234.5 + 1e-9], [-1234.5]) == 50.0
    assert win_percentage([-1e9 + 0.5], [-1e9]) == 50.0  # the ninth digit of a large sum
    assert win_percentage([-1234.5 + 1e-3], [-1234.5]) == 100.0


def test_no_answer_loses_to_any_answer_and_ties_with_none() -> None:
    assert win_points([-INF, -3, -INF], [-3, -INF, -INF]).tolist() == [0.0, 1.0, 0.5]


def test_queries_that_were_not_measured_count_for_nothing() -> None:
    assert np.isnan(win_points([NAN, -3], [-3, NAN])).all()
    assert win_percentage([NAN, -2], [-3, -3]) == 100.0
    assert math.isnan(win_percentage([NAN], [-3]))


def test_improvement_is_relative_to_the_size_of_the_baseline() -> None:
    # from -200 to -100 is half of 200; from 50 to 60 a fifth of 50; from -10 to -15 half of 10, downwards
    assert improvements([-100, 60, -15], [-200, 50, -10]).tolist() == [50.0, 20.0, -50.0]


def test_improvement_over_a_baseline_of_zero_is_zero_for_a_tie_and_endless_otherwise() -> None:
    assert improvements([0, 1, -1], [0, 0, 0]).tolist() == [0.0, INF, -INF]


def test_improvement_where_one_side_found_nothing() -> None:
    assert improvements([-3, -INF, -INF], [-INF, -3, -INF]).tolist() == [INF, -INF, 0.0]
    assert np.isnan(improvements([NAN, -3], [-3, NAN])).all()


def test_gaps_are_what_is_missing_to_the_best() -> None:
    assert gaps([-110, 90, -100], [-100, 100, -100]).tolist() == [10.0, 10.0, 0.0]
    assert gaps([-INF, -1], [-5, 0]).tolist() == [INF, INF]


def test_the_mean_leaves_out_what_is_not_finite_and_counts_it() -> None:
    mean = mean_of([1.0, 3.0, INF, NAN, -INF])
    assert mean == (2.0, math.sqrt(2), 2, 2)
    assert mean_of([4.0])[:2] == (4.0, 0.0)
    assert math.isnan(mean_of([INF]).mean)
    assert mean_of([INF]).num_infinite == 1


def test_the_best_known_is_over_methods_that_found_something() -> None:
    assert best_known([[-5, -INF, NAN], [-4, NAN, NAN]]).tolist() == [-4.0, -INF, -INF]


def test_time_to_target_is_the_first_event_at_or_above_it() -> None:
    steps, scores = [0, 10, 40], [-9.0, -5.0, -2.0]
    assert first_reaching(steps, scores, -5.0) == 10
    assert first_reaching(steps, scores, -4.0) == 40
    assert first_reaching(steps, scores, -1.0) == INF
    assert first_reaching([], [], -1.0) == INF


@pytest.mark.parametrize(("best", "target"), [(-100.0, -101.0), (200.0, 198.0), (0.0, 0.0)])
def test_a_target_lies_a_share_of_the_best_below_it(best: float, target: float) -> None:
    assert target_score(best, 1.0) == target


def test_what_is_known_at_a_budget_is_the_last_event_before_it() -> None:
    known = known_at([0, 10, 40], [-9.0, -5.0, -2.0], [0, 9, 10, 39, 1000], -INF)
    assert known.tolist() == [-9, -9, -5, -5, -2]
    assert known_at([0.5], [-9.0], [0.4], -INF).tolist() == [-INF]
    assert known_at([], [], [1, 2], -INF).tolist() == [-INF, -INF]


def test_time_per_step_is_averaged_over_queries_with_steps() -> None:
    mean = seconds_per_step([2.0, 6.0, 1.0], [1000, 1000, 0])
    assert mean.mean == pytest.approx(0.004)
    assert mean.std == pytest.approx(0.004 / math.sqrt(2))
    assert mean.num_finite == 2
