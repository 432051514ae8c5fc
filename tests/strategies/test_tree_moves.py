"""Tree moves as a search: its books, its steps, fresh starts and crossing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.model import families
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.tree import Tree
from beacon.strategies.tree.state import MAX_STAMP
from tests.engine.helpers import (
    advance,
    check_against_naive,
    check_best,
    new_search,
    small_models,
    some_evidence,
    standing,
)
from tests.reference import Naive
from tests.small_strategies import small_models as random_models

MODELS = small_models()
GRID = families.ising_grid(rows=8, columns=8, wrap=True, seed=1)
RESTLESS = Tree(min_region=2, max_region=5, restart_idle=3)


@pytest.mark.parametrize(
    "strategy",
    [
        RESTLESS,
        Tree(min_region=2, max_region=5, restart_idle=3, block_entries=16),
        Tree(min_region=1, max_region=3, blocks=1, first_sweeps=1, block_entries=4),
    ],
    ids=["256", "16", "one small block"],
)
@pytest.mark.parametrize("name", MODELS)
def test_the_search_keeps_its_books_and_finds_the_optimum(name: str, strategy: Tree) -> None:
    model = MODELS[name]
    for seed in range(3):
        evidence = some_evidence(model, seed, seed)
        search = new_search(model, evidence, strategy, seed)
        naive = Naive(model, evidence, search.model.log_zero)
        first = (search.best_zeros, -search.best_score)
        search.run(MaxSteps(3000))
        check_against_naive(search, naive)
        check_best(search, naive)
        assert (search.best_zeros, -search.best_score) <= first
        zeros, score = naive.best()
        assert (search.best_zeros, search.best_score) == (zeros, pytest.approx(score))


def worth(search: Search) -> tuple[int, float]:
    """Smaller is better."""
    return search.zeros, -search.score


@pytest.mark.parametrize("model", [GRID, MODELS["bayes"], MODELS["coloring"]])
def test_no_move_makes_the_score_fall(model: GraphicalModel) -> None:
    search = new_search(model, {}, Tree(min_region=2, max_region=60, block_entries=4, restart_idle=0))
    for _ in range(600):
        before = worth(search)
        search.run(MaxSteps(search.steps + 1))  # a region is not interrupted
        assert worth(search) <= (before[0], before[1] + 1e-9)


def test_a_search_that_finds_nothing_begins_afresh_and_comes_back_to_its_best() -> None:
    search = new_search(GRID, {}, Tree(min_region=2, max_region=60, block_entries=4, restart_idle=20))
    is_away = []
    for _ in range(3000):
        search.run(MaxSteps(search.steps + 1))
        is_away.append(search.score < search.best_score - 1.0)
    changes = list(pairwise(is_away))
    assert changes.count((False, True)) > 1
    assert changes.count((True, False)) > 1


def test_a_search_that_may_not_begin_afresh_stays_at_its_best() -> None:
    search = new_search(GRID, {}, Tree(restart_idle=0))
    search.run(MaxSteps(500))
    for _ in range(300):
        search.run(MaxSteps(search.steps + 1))
        assert search.score == pytest.approx(search.best_score)


@settings(max_examples=30, deadline=None)
@given(model=random_models(max_variables=7, max_factors=6), seed=st.integers(0, 10**6))
def test_fresh_starts_and_crossings_never_lose_the_best(model: GraphicalModel, seed: int) -> None:
    search = new_search(model, {}, Tree(min_region=1, max_region=3, blocks=1, restart_idle=1), seed)
    naive, known = Naive(model, {}, search.model.log_zero), (10**9, 0.0)
    for _ in range(60):
        advance(search)
        check_against_naive(search, naive)
        check_best(search, naive)
        best = (search.best_zeros, -search.best_score)
        assert best <= (known[0], known[1] + 1e-9)
        known = best


def two_islands() -> GraphicalModel:
    """Two frustrated grids, joined by one weak factor: a search is rarely at its best in both at once."""
    grids = [families.ising_grid(rows=6, columns=6, wrap=True, seed=seed) for seed in (3, 4)]
    tables = [
        ([i + 36 * half for i in factor.scope], factor.log_table)
        for half, grid in enumerate(grids)
        for factor in grid.factors
    ]
    return GraphicalModel.from_tables([2] * 72, [*tables, ((0, 36), [0.01, 0.0, 0.0, 0.01])])


def test_crossing_joins_what_fresh_starts_do_well_in_different_places() -> None:
    """Without crossing, a restarted search would have to be at the optimum of both islands at once."""
    model = two_islands()
    optimum = new_search(model, {}, Tree())
    optimum.run(MaxSteps(60_000))
    search = new_search(
        model, {}, Tree(min_region=2, max_region=8, blocks=1, block_entries=4, restart_idle=1)
    )
    joined = 0
    for _ in range(4000):
        before, best = standing(search), search.best_score
        search.run(MaxSteps(search.steps + 1))
        changed = sum(old != new for old, new in zip(before, standing(search), strict=True))
        joined += search.best_score > best + 1e-9 and changed > 16  # more than a region
    assert joined > 0
    assert search.best_score <= optimum.best_score + 1e-9


def test_a_model_with_a_table_too_large_for_a_block_is_still_searched() -> None:
    rng = np.random.default_rng(0)
    model = GraphicalModel.from_tables(
        [20, 20, 2], [((0, 1), rng.normal(size=(20, 20))), ((1, 2), rng.normal(size=40))]
    )
    search = new_search(model, {}, Tree())
    search.run(MaxSteps(2000))
    assert search.best_score == pytest.approx(Naive(model, {}, search.model.log_zero).best()[1])


def test_a_variable_of_more_values_than_a_table_may_have_is_still_searched() -> None:
    rng = np.random.default_rng(1)
    model = GraphicalModel.from_tables([40, 2], [((0, 1), rng.normal(size=(40, 2)))])
    search = new_search(model, {}, Tree(block_entries=16))
    search.run(MaxSteps(5000))
    assert search.best_score == pytest.approx(Naive(model, {}, search.model.log_zero).best()[1])


def test_stamps_are_renewed_before_they_outgrow_their_arrays() -> None:
    model = MODELS["grid"]
    usual, late = (new_search(model, {}, Tree(), seed=3) for _ in range(2))
    late.own.counters["stamp"] = MAX_STAMP - 100
    for search in (usual, late):
        search.run(MaxSteps(2000))
    assert 0 < late.own.counters[0]["stamp"] < MAX_STAMP - 100
    assert standing(late) == standing(usual)
    assert late.trace.steps.tolist() == usual.trace.steps.tolist()
