"""Forests, exact moves on them, and crossover, against brute force and plain recomputation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from beacon.strategies.tree.crossover import cross_with_best
from beacon.strategies.tree.forest import grow_forest
from beacon.strategies.tree.max_product import best_on_forest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.engine.core import draw_assignment, rebuild
from beacon.engine.incumbent import note_all_changed, save_all_best
from beacon.model import families
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.auto import Auto
from beacon.strategies.tree import Tree
from beacon.strategies.tree.state import MAX_STAMP
from tests.engine.helpers import new_search, small_models, some_evidence
from tests.reference import Naive
from tests.small_strategies import small_models as random_models

MODELS = small_models()


def random_forest(search: Search) -> tuple[list[int], int, int]:
    """Grow a forest over all free variables: its variables, the region's size and the forest's stamp."""
    free = np.flatnonzero(search.state.is_free)
    search.state.trees.region[: len(free)] = free
    stamp = int(grow_forest(search.model, search.state, len(free)))
    return np.flatnonzero(search.state.trees.forest_stamps == stamp).tolist(), len(free), stamp


def joins(model: GraphicalModel, variables: set[int]) -> set[frozenset[int]]:
    """The sets of at least two of these variables that factors join; factors over the same two count once."""
    joined = [frozenset(variables.intersection(factor.scope)) for factor in model.factors]
    pairs = {join for join in joined if len(join) == 2}
    wide = [join for join in joined if len(join) > 2]
    assert len(set(wide)) == len(wide), "two wide factors over the same variables close a cycle"
    return pairs | set(wide)


def has_cycle(model: GraphicalModel, variables: set[int]) -> bool:
    """Does the factor graph on these variables have a cycle? Edges against nodes, tree by tree."""
    roots = {v: v for v in variables}

    def find(v: int) -> int:
        return v if roots[v] == v else find(roots[v])

    for join in joins(model, variables):
        members = [find(v) for v in join]
        if len(set(members)) < len(members):
            return True
        for member in members:
            roots[member] = members[0]
    return False


def best_completion(naive: Naive, assignment: list[int], variables: list[int]) -> tuple[int, float]:
    """Fewest zeros, then best score, over all values of some variables with the others fixed."""
    best = (10**9, 0.0)
    for values in itertools.product(*(range(len(naive.model.labels[v])) for v in variables)):
        changed = list(assignment)
        for variable, value in zip(variables, values, strict=True):
            changed[variable] = value
        best = min(best, (naive.zeros(changed), -naive.score(changed)))
    return best[0], -best[1]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("observed", [0, 2])
def test_a_forest_has_no_cycle_and_any_other_free_variable_would_close_one(name: str, observed: int) -> None:
    model = MODELS[name]
    search = new_search(model, some_evidence(model, observed, 1), Tree())
    for _ in range(5):
        forest, _, _ = random_forest(search)
        assert not has_cycle(model, set(forest))
        for variable in set(np.flatnonzero(search.state.is_free).tolist()) - set(forest):
            try:
                closes = has_cycle(model, {*forest, variable})
            except AssertionError:
                closes = True
            assert closes


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("observed", [0, 2])
def test_a_forest_move_gives_the_best_joint_assignment_of_its_variables(name: str, observed: int) -> None:
    model = MODELS[name]
    evidence = some_evidence(model, observed, 2)
    search = new_search(model, evidence, Tree())
    naive = Naive(model, evidence, search.model.log_zero)
    for _ in range(6):
        draw_assignment(search.model, search.state)
        before = search.state.assignment.tolist()
        forest, size, stamp = random_forest(search)
        changes = best_on_forest(search.model, search.state, search.model.hard_zero, size, stamp)
        after = search.state.assignment.tolist()
        changed = [i for i in range(len(after)) if before[i] != after[i]]
        assert len(changed) == changes
        assert set(changed) <= set(forest)
        zeros, score = best_completion(naive, before, forest)
        assert (naive.zeros(after), naive.score(after)) == (zeros, pytest.approx(score))


@settings(max_examples=60, deadline=None)
@given(model=random_models(max_factors=8, max_scope=4), seed=st.integers(0, 10**6))
def test_a_forest_move_is_exact_on_any_model(model: GraphicalModel, seed: int) -> None:
    evidence = some_evidence(model, seed % 2, seed)
    search = new_search(model, evidence, Tree(), seed)
    naive = Naive(model, evidence, search.model.log_zero)
    before = search.state.assignment.tolist()
    forest, size, stamp = random_forest(search)
    best_on_forest(search.model, search.state, search.model.hard_zero, size, stamp)
    after = search.state.assignment.tolist()
    zeros, score = best_completion(naive, before, forest)
    assert (naive.zeros(after), naive.score(after)) == (zeros, pytest.approx(score, abs=1e-6))


@pytest.mark.parametrize(
    "strategy",
    [
        Tree(min_region=2, max_region=5, restart_idle=3),
        Tree(min_region=2, max_region=5, restart_idle=3, block_entries=0),
        Tree(min_region=2, max_region=5, restart_idle=3, block_entries=16),
        Tree(min_region=2, max_region=5, restart_idle=3, acceptance=0.5),
        Auto(),
        Auto(tree=Tree(min_region=2, max_region=5, restart_idle=3, acceptance=0.5)),
    ],
    ids=lambda s: f"{s.name} {s.block_entries} {getattr(s, 'tree', s).acceptance}",
)
@pytest.mark.parametrize("name", MODELS)
def test_the_search_keeps_its_books_and_finds_the_optimum(name: str, strategy: Tree | Auto) -> None:
    model = MODELS[name]
    for seed in range(3):
        evidence = some_evidence(model, seed, seed)
        search = new_search(model, evidence, strategy, seed)
        naive = Naive(model, evidence, search.model.log_zero)
        first = (search.best_zeros, -search.best_score)
        search.run(MaxSteps(3000))
        x, best = search.state.assignment.tolist(), search.best_assignment.tolist()
        assert search.score == pytest.approx(naive.score(x))
        assert search.zeros == naive.zeros(x)
        assert all(best[variable] == value for variable, value in evidence.items())
        assert (search.best_zeros, -search.best_score) <= first
        zeros, score = naive.best()
        assert (naive.zeros(best), naive.score(best)) == (zeros, pytest.approx(score))


def falls_of(acceptance: float, rounds: int = 400) -> list[float]:
    """How far the score falls from one region to the next."""
    model = families.ising_grid(rows=8, columns=8, wrap=True, seed=1)
    tree = Tree(min_region=2, max_region=60, block_entries=4, acceptance=acceptance, restart_idle=0)
    search = new_search(model, {}, tree)
    search.run(MaxSteps(2000))
    falls = []
    for _ in range(rounds):
        before = search.score
        search.run(MaxSteps(search.steps + 1))  # a region is not interrupted
        if search.score < before - 1e-9:
            falls.append(before - search.score)
    return falls


def test_worse_outcomes_are_kept_only_if_asked_for_and_the_more_readily_the_larger_the_setting() -> None:
    assert falls_of(0.0) == []
    some, many, all_of_them = falls_of(2.0), falls_of(20.0), falls_of(math.inf)
    assert 0 < len(some) < len(many) < len(all_of_them)
    assert np.mean(some) < np.mean(many)


def test_worse_outcomes_with_more_zero_factors_are_never_kept() -> None:
    model = families.random_bayes_net(num_variables=30, zero_fraction=0.5, seed=3)
    search = new_search(model, {}, Tree(min_region=2, max_region=10, acceptance=math.inf, restart_idle=0))
    search.run(MaxSteps(500))
    for _ in range(300):
        before = search.zeros
        search.run(MaxSteps(search.steps + 1))
        assert search.zeros <= before


@pytest.mark.parametrize("acceptance", [0.0, 20.0])
def test_a_search_that_only_strays_and_returns_begins_afresh(acceptance: float) -> None:
    model = families.ising_grid(rows=6, columns=6, wrap=True, seed=1)
    tree = Tree(min_region=2, max_region=60, block_entries=4, acceptance=acceptance, restart_idle=20)
    search, was_fresh = new_search(model, {}, tree), set()
    for _ in range(2000):
        search.run(MaxSteps(search.steps + 1))
        was_fresh.add(bool(search.state.counters[0]["is_fresh"]))
    assert was_fresh == {False, True}


@settings(max_examples=40, deadline=None)
@given(model=random_models(max_variables=7, max_factors=6), seed=st.integers(0, 10**6))
def test_crossover_is_at_least_as_good_as_both_parents(model: GraphicalModel, seed: int) -> None:
    search = new_search(model, {}, Tree(), seed)
    naive = Naive(model, {}, search.model.log_zero)
    first = search.best_assignment.tolist()
    draw_assignment(search.model, search.state)
    second = search.state.assignment.tolist()
    rebuild(search.model, search.state)
    note_all_changed(search.state)
    save_all_best(search.state)
    cross_with_best(search.model, search.state)
    child = search.state.assignment.tolist()
    assert search.score == pytest.approx(naive.score(child), abs=1e-6)
    worth = (naive.zeros(child), round(-naive.score(child), 6))
    assert worth <= min((naive.zeros(x), round(-naive.score(x), 6)) for x in (first, second))


def test_crossover_takes_the_better_of_each_cluster() -> None:
    model = GraphicalModel.from_tables([2, 2], [((0,), [1.0, 0.0]), ((1,), [0.0, 1.0])])
    search = new_search(model, {}, Tree())
    search.state.assignment[:] = [1, 1]
    search.state.best[:] = [0, 0]
    search.state.parts["best_score"] = [1.0, 0.0]
    cross_with_best(search.model, search.state)
    assert search.state.assignment.tolist() == [0, 1]


def test_a_model_with_a_table_too_large_for_a_message_is_still_searched() -> None:
    rng = np.random.default_rng(0)
    model = GraphicalModel.from_tables(
        [20, 20, 2], [((0, 1), rng.normal(size=(20, 20))), ((1, 2), rng.normal(size=40))]
    )
    search = new_search(model, {}, Tree())
    forest, _, _ = random_forest(search)
    assert not {0, 1} <= set(forest)  # 400 entries exceed the cap on joint tables
    search.run(MaxSteps(2000))
    assert search.best_score == pytest.approx(Naive(model, {}, search.model.log_zero).best()[1])


def test_stamps_are_renewed_before_they_outgrow_their_arrays() -> None:
    model = MODELS["grid"]
    search = new_search(model, {}, Tree())
    search.run(MaxSteps(50))
    search.state.trees.stamp[0] = MAX_STAMP + 1
    search.run(MaxSteps(2000))
    assert 0 < search.state.trees.stamp[0] < MAX_STAMP
    assert search.score == pytest.approx(
        Naive(model, {}, search.model.log_zero).score(search.state.assignment.tolist())
    )
