"""The first descent of tree moves: where it ends, and what it costs."""

from __future__ import annotations

import pytest

from beacon.model import families
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.stop import MaxSteps
from beacon.strategies.tree import Tree
from beacon.strategies.tree.state import MAX_DESCENTS
from tests.engine.helpers import check_against_naive, check_best, new_search, small_models, standing
from tests.reference import Naive

MODELS = small_models()
BELIEF = families.deep_belief_net(width=5, height=5, hidden=(20, 10), seed=2)


def descended(model: GraphicalModel, seed: int = 0) -> tuple[object, Naive]:
    """A search at the end of its first descent, stopped after every step."""
    search = new_search(model, {}, Tree(), seed)
    naive = Naive(model, {}, search.model.log_zero)
    before = standing(search)
    while search.own.counters[0]["descents"] > 0:
        search.run(MaxSteps(search.steps + 1))
        after = standing(search)
        if search.own.counters[0]["descents"] > 0:
            assert sum(old != new for old, new in zip(before, after, strict=True)) <= 1
            check_against_naive(search, naive)
            check_best(search, naive)
        before = after
    return search, naive


@pytest.mark.parametrize("name", MODELS)
def test_every_step_is_one_variable_and_the_books_are_kept(name: str) -> None:
    for seed in range(3):
        descended(MODELS[name], seed)


def test_no_move_of_the_descent_makes_the_score_fall() -> None:
    search = new_search(BELIEF, {}, Tree())
    while search.own.counters[0]["descents"] > 0:
        zeros, score = search.zeros, search.score
        search.run(MaxSteps(search.steps + 1))
        assert (search.zeros, -search.score) <= (zeros, -score + 1e-9)


def test_large_gains_come_first() -> None:
    """Variable 0 wants to agree with 1 by a little; 1 wants 1 by a lot. In this order 0 moves once, to 1."""
    model = GraphicalModel.from_tables(
        [2, 2, 2], [((0, 1), [1.0, 0.0, 0.0, 1.0]), ((1,), [0.0, 9.0]), ((1, 2), [0.0, 0.5, 0.5, 0.0])]
    )
    for seed in range(10):
        search = new_search(model, {}, Tree(), seed)
        began = standing(search)
        search.run(MaxSteps(1))
        if began[1] == 0:
            assert standing(search)[1] == 1


def test_it_ends_after_a_few_sweeps() -> None:
    search = new_search(BELIEF, {}, Tree(), 1)
    links = len(search.model.scopes)
    while search.own.counters[0]["descents"] > 0:
        search.run(MaxSteps(search.steps + 1))
    assert search.core.counters[0]["work"] <= 4 * MAX_DESCENTS * links
