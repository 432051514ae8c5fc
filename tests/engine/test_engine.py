"""The engine against a naive version of itself, step by step."""

from __future__ import annotations

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
    check_against_naive,
    check_best,
    new_search,
    penalties_of,
    small_models,
    some_evidence,
    standing,
    work_done,
)
from tests.reference import Naive
from tests.small_strategies import small_models as random_models

MODELS = small_models()


def follow(search: Search, naive: Naive, strategy: Strategy, steps: int) -> int:
    """Advance a search flip by flip; each flip must be one that the naive version allows."""
    flips, optima = 0, 0
    for _ in range(steps):
        before = standing(search)
        if search.run(MaxSteps(search.steps + 1)) != "steps":
            break
        after = standing(search)
        while isinstance(strategy, GlsPlus) and not naive.best_moves(before):
            optima += 1
            if strategy.smoothing < 1 and optima % strategy.smoothing_interval == 0:
                naive.smooth(strategy.smoothing)
            naive.penalise(before)
        changes = [(i, after[i]) for i in range(len(after)) if before[i] != after[i]]
        if isinstance(strategy, GlsPlus):
            assert len(changes) == 1
            assert changes[0] in naive.best_moves(before)
        elif naive.best_moves(before):
            assert changes[0] in naive.best_moves(before)
        check_against_naive(search, naive)
        flips += 1
    return flips


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("observed", [0, 2])
@pytest.mark.parametrize(
    "strategy",
    [
        Greedy(),
        GlsPlus(penalty_weight=2.5, smoothing=1.0),
        GlsPlus(penalty_weight=20, smoothing=0.5, smoothing_interval=3),
    ],
    ids=["greedy", "gls+", "gls+ with smoothing"],
)
def test_each_flip_is_a_best_move_and_leaves_a_consistent_state(
    name: str, observed: int, strategy: Strategy
) -> None:
    model = MODELS[name]
    evidence = some_evidence(model, observed, seed=3)
    search = new_search(model, evidence, strategy)
    naive = Naive(model, evidence, search.model.log_zero, getattr(strategy, "penalty_weight", 0.0))
    check_against_naive(search, naive)
    flips = follow(search, naive, strategy, steps=25)
    assert flips > 0 or search.best_score == pytest.approx(naive.best()[1])


@settings(max_examples=40, deadline=None)
@given(model=random_models(), seed=st.integers(0, 10**6), weight=st.sampled_from([0.3, 5.0]))
def test_any_model_is_searched_consistently(model: GraphicalModel, seed: int, weight: float) -> None:
    strategy = GlsPlus(penalty_weight=weight)
    evidence = some_evidence(model, seed % 3, seed)
    search = Search(compile_model(model), evidence, strategy, seed=seed)
    naive = Naive(model, evidence, search.model.log_zero, weight)
    reason = search.run(MaxSteps(30))
    x = standing(search)
    assert (search.score, search.zeros) == (pytest.approx(naive.score(x), abs=1e-6), naive.zeros(x))
    check_best(search, naive)
    if reason == "optimal":
        assert (search.best_zeros, search.best_score) == (naive.best()[0], pytest.approx(naive.best()[1]))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("strategy", [Greedy(), GlsPlus()], ids=lambda s: s.name)
def test_the_optimum_of_a_small_model_is_found(name: str, strategy: Strategy) -> None:
    model = MODELS[name]
    for seed in range(3):
        evidence = some_evidence(model, seed, seed)
        search = new_search(model, evidence, strategy, seed)
        search.run(MaxSteps(5000))
        zeros, score = Naive(model, evidence, search.model.log_zero).best()
        assert search.best_zeros == zeros
        assert search.best_score == pytest.approx(score)


def test_a_feasible_assignment_is_never_lost_to_an_infeasible_one_with_a_better_floored_score() -> None:
    model = GraphicalModel.from_tables(
        [2, 2], [((0,), [-500.0, -np.inf]), ((0, 1), [-500.0, -900.0, -400.0, 0.0])]
    )
    search = Search(compile_model(model, log_zero=-950.0), {}, GlsPlus(), start=np.array([0, 0]))
    search.run(MaxSteps(200))
    assert search.best_assignment.tolist() == [0, 0]  # -1000 without zeros, although [1, 1] has -950
    assert search.best_zeros == 0


def test_restarts_at_regular_intervals_begin_without_penalties() -> None:
    model = MODELS["grid"]
    strategy = GlsPlus(penalty_weight=5.0, restart_interval=40, smoothing=1.0)
    search = new_search(model, {}, strategy)
    assert search.run(MaxSteps(40)) == "steps"
    assert not any(penalties_of(search, model).values())
    check_against_naive(search, Naive(model, {}, search.model.log_zero, 5.0))


def test_kernels_return_when_their_work_is_done() -> None:
    search = new_search(MODELS["coloring"], {}, GlsPlus())
    assert advance(search, work=50) == RUNNING
    assert 50 <= work_done(search) < 80
