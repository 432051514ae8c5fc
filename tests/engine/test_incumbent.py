"""The best assignment so far, against a record kept the long way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.engine.incumbent import RUNNING
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import Strategy
from tests.engine.helpers import (
    advance,
    check_best,
    new_search,
    parts_of,
    small_models,
    some_evidence,
    standing,
)
from tests.reference import Naive, log_potential
from tests.small_strategies import small_models as random_models

MODELS = small_models()
ONE_FLIP = [Greedy(), GlsPlus(penalty_weight=3.0, harvest_share=0)]  # harvests find more than is visited


def advance_a_little(search: Search) -> bool:
    """One flip, restart or penalty; False when the search says that it is over."""
    return advance(search) == RUNNING


def worth_of_parts(search: Search, model: GraphicalModel, assignment: list[int]) -> list[tuple[int, float]]:
    """Zero factors and negated score of each part's own factors; smaller is better."""
    parts = sorted(parts_of(search), key=min)
    totals = [[0, 0.0] for _ in parts]
    for factor in range(model.num_factors):
        log_value = log_potential(model, factor, assignment)
        for part, total in zip(parts, totals, strict=True):
            if part & set(model.factors[factor].scope):
                total[0] += log_value == -math.inf
                total[1] -= search.model.log_zero if log_value == -math.inf else log_value
    return [(int(zeros), round(negated, 6)) for zeros, negated in totals]


def check_best_of_visited(search: Search, model: GraphicalModel, visited: list[list[int]]) -> None:
    """Each part's best is the best of all its visited states, and the totals belong to it."""
    best = search.best_assignment.tolist()
    seen = [worth_of_parts(search, model, state) for state in visited]
    for part, worth in enumerate(worth_of_parts(search, model, best)):
        assert worth[0] == min(row[part] for row in seen)[0]
        assert worth[1] == pytest.approx(min(row[part] for row in seen)[1], abs=1e-5)
    check_best(search, Naive(model, {}, search.model.log_zero))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("strategy", ONE_FLIP, ids=lambda s: s.name)
def test_the_best_is_the_best_of_all_visited_states_at_any_time(name: str, strategy: Strategy) -> None:
    model = MODELS[name]
    search = new_search(model, some_evidence(model, 2, seed=8), strategy, seed=1)
    visited = [standing(search)]
    check_best_of_visited(search, model, visited)
    for _ in range(25):
        running = advance_a_little(search)
        visited.append(standing(search))
        check_best_of_visited(search, model, visited)
        if not running:
            break


@settings(max_examples=30, deadline=None)
@given(
    model=random_models(max_domain=3),
    seed=st.integers(0, 10**6),
    strategy=st.sampled_from(ONE_FLIP),
)
def test_the_best_that_is_asked_for_only_at_the_end_is_the_best_too(
    model: GraphicalModel, seed: int, strategy: Strategy
) -> None:
    search = new_search(model, some_evidence(model, seed % 3, seed), strategy, seed)
    visited = [standing(search)]
    for _ in range(40):
        running = advance_a_little(search)
        visited.append(standing(search))
        if not running:
            break
    check_best_of_visited(search, model, visited)


def test_fewer_zeros_beat_a_better_floored_score() -> None:
    model = GraphicalModel.from_tables([2, 2], [((0,), [-80.0, -np.inf]), ((0, 1), [-80.0, -80.0, 0.0, 0.0])])
    search = Search(compile_model(model, log_zero=-90.0), {}, Greedy(), start=np.array([1, 0]))
    assert (search.best_zeros, search.best_score) == (1, -90.0)
    search.run(MaxSteps(50))
    assert (search.best_zeros, search.best_score) == (0, -160.0)
    assert search.best_assignment[0] == 0


def test_asking_for_the_best_does_not_change_where_the_search_goes() -> None:
    asked, unasked = (new_search(MODELS["coloring"], {}, GlsPlus(), seed=2) for _ in range(2))
    for step in range(1, 200):
        asked.run(MaxSteps(step))
        assert len(asked.best_assignment) == 7
    unasked.run(MaxSteps(199))
    assert standing(asked) == standing(unasked)
    assert asked.best_assignment.tolist() == unasked.best_assignment.tolist()


def test_an_equally_good_assignment_does_not_replace_the_best() -> None:
    model = GraphicalModel.from_tables(
        [2, 2], [((0, 1), [0.0, -1.0, -1.0, 0.0]), ((0, 1), [-1.0, 0.0, 0.0, -1.0])]
    )
    search = Search(compile_model(model), {}, GlsPlus(penalty_weight=1.0), start=np.array([0, 1]))
    search.run(MaxSteps(100))
    assert search.steps == 100
    assert search.best_assignment.tolist() == [0, 1]
    assert len(search.trace) == 1
