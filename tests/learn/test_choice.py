"""Which way to search is best: ranks and leads against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from beacon.learn.choice import lead_over, leads_at_last, mean_ranks, turn_to


def test_ranks_are_the_share_of_the_others_that_are_ahead() -> None:
    scores = np.array([[[3.0, 1.0]], [[2.0, 5.0]], [[1.0, 9.0]]])  # [trials, queries, marks]
    assert mean_ranks(scores).tolist() == [0.5, 0.5, 0.5]  # behind 0 and 2, 1 and 1, 2 and 0 of two others
    assert mean_ranks(scores[:, :, :1]).tolist() == [0.0, 0.5, 1.0]


def test_ties_count_half_and_ranks_are_means_over_queries_and_marks() -> None:
    scores = np.array([[[4.0, 4.0], [0.0, 7.0]], [[4.0, 3.0], [0.0, 7.0]], [[1.0, 2.0], [0.0, 8.0]]])
    # query 0: two tie ahead of the third (1/4, 1/4, 1), then 0, 1/2, 1; query 1: all tie, then 3/4, 3/4, 0
    expected = [(0.25 + 0 + 0.5 + 0.75) / 4, (0.25 + 0.5 + 0.5 + 0.75) / 4, (1 + 1 + 0.5 + 0) / 4]
    assert mean_ranks(scores) == pytest.approx(expected)


def test_a_score_below_all_measure_is_one_loss_like_any_other() -> None:
    scores = np.array([[[-1e9], [2.0], [2.0]], [[1.0], [1.0], [1.0]]])
    assert mean_ranks(scores) == pytest.approx([1 / 3, 2 / 3])


def test_a_trial_alone_is_never_behind() -> None:
    assert mean_ranks(np.array([[[1.0, 2.0]]])).tolist() == [0.0]


def test_scores_that_differ_in_their_last_digits_are_level() -> None:
    scores = np.array([[[-370.15, -1e-12]], [[-370.15 + 1e-10, 0.0]]])
    assert mean_ranks(scores).tolist() == [0.5, 0.5]


DEFAULT = np.zeros((8, 3))


def test_a_lead_counts_beyond_its_standard_error() -> None:
    wins = np.array([1, 1, 1, 1, 1, 1, -1, -1.0])  # three of four: an error of sqrt(3/16 * 8/7 / 8)
    lead = lead_over(wins[:, None], DEFAULT[:, :1], by_mark=False)
    assert lead.worth == pytest.approx(0.75 - 0.5 - np.sqrt(3 / 16 / 7))
    assert lead_over(DEFAULT, DEFAULT, by_mark=False).worth == 0
    assert lead_over(wins[2:, None], DEFAULT[2:, :1], by_mark=False).worth < 0, "two of three may be chance"


def test_a_lead_goes_from_the_first_to_the_last_mark_at_which_it_is_one() -> None:
    ours = np.ones((8, 4))
    ours[:, 0] = -1
    ours[:5, 3] = -1
    lead = lead_over(ours, np.zeros((8, 4)), by_mark=True)
    assert (lead.first, lead.last) == (1, 2)
    assert lead.worth == pytest.approx(1.0)


def test_a_mark_that_is_lost_parts_two_leads() -> None:
    ours = np.ones((8, 3))
    ours[:, 1] = [1, 1, 1, -1, -1, -1, -1, -1]
    lead = lead_over(ours, DEFAULT, by_mark=True)
    assert lead.first == lead.last


def test_a_large_lead_does_not_pay_for_a_mark_that_may_be_lost() -> None:
    ours = np.ones((8, 3))
    ours[:3, 2] = -1  # five of eight are no more than an error ahead
    lead = lead_over(ours, DEFAULT, by_mark=True)
    assert (lead.first, lead.last) == (0, 1)
    alone = lead_over(ours[:, 2:], DEFAULT[:, 2:], by_mark=True)
    assert alone.worth == pytest.approx(5 / 8 - 0.5 - np.sqrt(15 / 64 / 7))
    assert alone.worth < 0


def test_what_is_behind_everywhere_has_no_lead() -> None:
    assert lead_over(DEFAULT - 1, DEFAULT, by_mark=True).worth == -0.5


def test_another_way_takes_over_where_both_together_lead_most() -> None:
    default, ours, later = np.zeros((8, 4)), np.ones((8, 4)), np.ones((8, 4))
    assert turn_to(ours, later, default, 0) == (3, 4), "the first is as good everywhere"
    ours[:, 3] = -1
    assert turn_to(ours, later, default, 0) == (2, 3)
    ours[:3, 2] = -1
    assert turn_to(ours, later, default, 0) == (1, 2), "the second is surer"
    later[:5, 3] = -1
    assert turn_to(ours, later, default, 1) == (1, 4), "behind at the last mark: it has no say"
    assert not leads_at_last(later, default)
    assert leads_at_last(np.ones((8, 4)), default)
