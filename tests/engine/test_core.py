"""The factors' maxima under the evidence, and the bound they make."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.model.graphical_model import GraphicalModel
from beacon.runner.stop import MaxSteps
from beacon.strategies.greedy import Greedy
from tests.engine.helpers import new_search, small_models, some_evidence, tops_of, upper_bound
from tests.reference import Naive
from tests.small_strategies import small_models as random_models

MODELS = small_models()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("observed", [0, 3])
def test_each_top_is_the_largest_entry_that_the_evidence_leaves(name: str, observed: int) -> None:
    model = MODELS[name]
    evidence = some_evidence(model, observed, seed=5)
    search = new_search(model, evidence, Greedy())
    naive = Naive(model, evidence, search.model.log_zero)
    assert tops_of(search) == [naive.top(factor) for factor in range(model.num_factors)]


@settings(max_examples=40, deadline=None)
@given(model=random_models(max_variables=4, max_domain=3), seed=st.integers(0, 10**6))
def test_no_assignment_scores_above_the_sum_of_the_tops(model: GraphicalModel, seed: int) -> None:
    evidence = some_evidence(model, seed % 3, seed)
    search = new_search(model, evidence, Greedy())
    naive = Naive(model, evidence, search.model.log_zero)
    assert upper_bound(search) == pytest.approx(sum(naive.top(f) for f in range(model.num_factors)))
    assert naive.best()[1] <= upper_bound(search) + 1e-9


def test_evidence_lowers_the_bound_to_what_is_still_possible() -> None:
    model = GraphicalModel.from_tables([2, 3], [((0, 1), [9.0, 1.0, 2.0, 3.0, 4.0, 5.0])])
    assert upper_bound(new_search(model, {}, Greedy())) == 9.0
    assert upper_bound(new_search(model, {0: 1}, Greedy())) == 5.0
    assert upper_bound(new_search(model, {1: 1}, Greedy())) == 4.0


def test_a_factor_that_the_evidence_makes_zero_has_the_floor_as_its_top() -> None:
    model = GraphicalModel.from_tables([2, 2], [((0, 1), [-np.inf, -np.inf, 0.0, -1.0])])
    search = new_search(model, {0: 0}, Greedy())
    assert tops_of(search) == [search.model.log_zero]


def test_an_assignment_at_the_bound_ends_the_search_as_optimal() -> None:
    model = GraphicalModel.from_tables(
        [3, 3], [((0,), [0.0, 7.0, 1.0]), ((0, 1), [0, 0, 0, 0, 0, 2.0, 0, 0, 0])]
    )
    search = new_search(model, {}, Greedy())
    assert search.run(MaxSteps(1000)) == "optimal"
    assert search.best_assignment.tolist() == [1, 2]
    assert search.best_score == upper_bound(search) == 9.0
