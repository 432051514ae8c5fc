"""The choice of λ: the largest improvement, of the rules that harm at no budget."""

from __future__ import annotations

import numpy as np
from reproduce_tune import Tried

from beacon.guided.guidance import GuideUse

RULES = [
    GuideUse(start="random", weight=weight, candidates=candidates, refresh=1)
    for candidates, weight in (("improving", 0.2), ("improving", 0.5), ("all", 0.2))
]


def tried(scores: list[list[float]]) -> Tried:
    """Rules with these scores at two budgets, the same for both queries; the baseline has -100."""
    own = np.repeat(np.array(scores)[:, None], 2, axis=1)
    base = np.full((2, 2), -100.0)
    return Tried(RULES, own, np.zeros(own.shape, np.int64), base, np.zeros(base.shape, np.int64))


def test_the_largest_mean_improvement_is_chosen() -> None:
    assert tried([[-99, -99], [-90, -95], [-97, -90]]).best() == RULES[1]


def test_a_rule_that_loses_more_than_five_percent_at_a_budget_is_not_chosen() -> None:
    assert tried([[-99, -99], [-98, -98], [-106, -50]]).best() == RULES[1]
    assert tried([[-99, -99], [-98, -98], [-104, -50]]).best() == RULES[2]


def test_where_all_rules_harm_the_best_of_them_is_chosen() -> None:
    assert tried([[-110, -99], [-120, -98], [-106, -50]]).best() == RULES[2]


def test_the_rules_of_one_kind_go_on_to_other_queries() -> None:
    first = tried([[-99, -99], [-98, -98], [-104, -50]]).with_candidates("improving")
    both = first.joined(first)
    assert both.uses == RULES[:2]
    assert both.scores.shape == (2, 4, 2)
    rows = both.rows("greedy")
    assert [row["weight"] for row in rows] == [0.0, 0.2, 0.5]
    assert rows[2]["improvement"] == [2.0, 2.0]
