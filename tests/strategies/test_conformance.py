"""What every strategy must do: Beacon's own by name, one made here, and mixes of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner import search as search_module
from beacon.runner.batch import SearchBatch
from beacon.runner.result import Result
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps, NoImprovement, TargetScore
from beacon.solver import solve, solve_many
from beacon.strategies.gls import GlsState
from beacon.strategies.strategy import Strategy
from tests.engine.helpers import (
    check_against_naive,
    check_best,
    new_search,
    penalties_of,
    put,
    small_models,
    some_evidence,
    standing,
)
from tests.reference import Naive
from tests.runner.test_search import check_monotone
from tests.small_strategies import small_models as random_models
from tests.strategies.contenders import CONTENDERS, FLIPS_ONLY, MIXES, Turns

MODELS = small_models()
COLORING = families.weighted_coloring(num_vertices=40, density=0.3, seed=1)
GRID = families.ising_grid(rows=10, columns=10, wrap=True, seed=1)  # frustrated: its optimum is not proved
LARGEST_MOVE = 4 * 200  # a region perturbed, and three blocks in it


@pytest.fixture(params=CONTENDERS)
def strategy(request: pytest.FixtureRequest) -> Strategy:
    return CONTENDERS[request.param]


def worth(result: Result) -> tuple[int, float]:
    """Smaller is better: zero factors first, then the score."""
    return result.zero_factors, -result.floored_log_score


def story(search: Search) -> list[Any]:
    """All that a search shows of itself, but for its clock."""
    trace = search.trace
    columns = [trace.steps.tolist(), trace.scores.tolist(), trace.zero_factors.tolist()]
    return [*columns, standing(search), search.best_assignment.tolist(), search.best_score, search.steps]


# What it finds.


@settings(max_examples=15, deadline=None)
@given(model=random_models(max_variables=5, max_domain=3), seed=st.integers(0, 10**6))
@pytest.mark.parametrize("name", CONTENDERS)
def test_it_finds_the_best_assignment_of_any_small_model(name: str, model: GraphicalModel, seed: int) -> None:
    evidence = some_evidence(model, seed % 3, seed)
    result = solve(
        model, evidence, strategy=CONTENDERS[name], stop=MaxSteps(4000), seed=seed, propagate=False
    )
    zeros, score = Naive(model, evidence, result.log_zero).best()
    assert {i: result.assignment[i] for i in evidence} == evidence
    assert (result.zero_factors, result.floored_log_score) == (zeros, pytest.approx(score, abs=1e-9))
    assert result.floored_log_score == pytest.approx(
        model.floored_log_score(result.assignment, result.log_zero), abs=1e-9
    )


@pytest.mark.parametrize("name", MODELS)
def test_it_finds_the_best_assignment_of_a_small_model_of_each_family(strategy: Strategy, name: str) -> None:
    model = MODELS[name]
    for seed in range(2):
        evidence = some_evidence(model, seed, seed)
        result = solve(model, evidence, strategy=strategy, stop=MaxSteps(5000), seed=seed)
        zeros, score = Naive(model, evidence, result.log_zero).best()
        assert (result.zero_factors, result.floored_log_score) == (zeros, pytest.approx(score))


@pytest.mark.parametrize("name", MODELS)
def test_it_keeps_the_evidence_and_reports_a_score_that_can_be_recomputed(
    strategy: Strategy, name: str
) -> None:
    model = MODELS[name]
    for seed in range(2):
        evidence = some_evidence(model, seed + 1, seed)
        result = solve(model, evidence, strategy=strategy, stop=MaxSteps(40), seed=seed, propagate=seed == 0)
        assert {i: result.assignment[i] for i in evidence} == evidence
        assert result.log_score == pytest.approx(model.log_score(result.assignment))
        assert result.zero_factors == model.num_zero_factors(result.assignment)
        assert result.method == strategy.name


def test_it_is_never_worse_than_its_start(strategy: Strategy) -> None:
    rng = np.random.default_rng(3)
    for model in MODELS.values():
        start = rng.integers(model.domain_sizes)
        first = solve(model, strategy=strategy, start=start, stop=MaxSteps(0))
        assert first.assignment.tolist() == start.tolist()
        assert worth(solve(model, strategy=strategy, start=start, stop=MaxSteps(30))) <= worth(first)


@pytest.mark.parametrize("propagate", [True, False])
def test_an_impossible_query_gets_the_fewest_zeros(strategy: Strategy, propagate: bool) -> None:
    equal, other = [0.0, -math.inf, -math.inf, -1.0], [-math.inf, -0.5, -2.0, -math.inf]
    tables = [((0, 1), equal), ((1, 2), equal), ((0, 2), other), ((2, 3), other), ((3,), [0.0, -3.0])]
    model = GraphicalModel.from_tables([2] * 4, tables)  # no assignment satisfies the first three
    for evidence in ({}, {0: 0}, {0: 1, 3: 1}):
        result = solve(model, evidence, strategy=strategy, stop=MaxSteps(500), propagate=propagate)
        zeros, score = Naive(model, evidence, result.log_zero).best()
        assert zeros > 0
        assert result.log_score == -math.inf
        assert (result.zero_factors, result.floored_log_score) == (zeros, pytest.approx(score))


@pytest.mark.parametrize(
    "model",
    [
        GraphicalModel.from_tables([], []),
        GraphicalModel.from_tables([], [((), [-math.inf])]),
        GraphicalModel.from_tables([3, 2], []),
        GraphicalModel.from_tables([3, 2], [((), [-4.0]), ((), [-math.inf])]),
        GraphicalModel.from_tables([1, 1], [((0, 1), [-2.0])]),
        GraphicalModel.from_tables([2, 1], [((0, 1), [-math.inf, -math.inf])]),
        GraphicalModel.from_tables([2, 2], [((0, 1), [-1.0] * 4)]),
    ],
    ids=["empty", "zero", "no factors", "constants", "single values", "all zero", "all equal"],
)
def test_it_ends_where_there_is_nothing_to_find(strategy: Strategy, model: GraphicalModel) -> None:
    result = solve(model, strategy=strategy, stop=MaxSteps(10**6))
    assert result.stop in {"optimal", "stalled", "nothing to search"}
    assert len(result.assignment) == model.num_variables
    assert result.log_score == model.log_score(result.assignment)


def test_a_query_without_a_free_variable_is_answered_at_once(strategy: Strategy) -> None:
    evidence = dict.fromkeys(range(GRID.num_variables), 1)
    result = solve(GRID, evidence, strategy=strategy, stop=MaxSteps(10**9))
    assert (result.stop, result.steps, len(result.trace)) == ("nothing to search", 0, 1)
    assert result.assignment.tolist() == [1] * GRID.num_variables


def test_variables_with_a_single_value_are_left_alone(strategy: Strategy) -> None:
    rng = np.random.default_rng(5)
    sizes = [1, 3, 1, 2, 1]
    scopes = [(0, 1), (1, 2, 3), (3, 4), (1, 3)]
    tables = [(scope, rng.normal(size=[sizes[i] for i in scope])) for scope in scopes]
    model = GraphicalModel.from_tables(sizes, tables)
    result = solve(model, strategy=strategy, stop=MaxSteps(500))
    assert result.assignment[[0, 2, 4]].tolist() == [0, 0, 0]
    assert result.log_score == pytest.approx(Naive(model, {}, result.log_zero).best()[1])


# How it runs.


@pytest.mark.parametrize("sizes", [[1] * 60, [7, 1, 50, 2], [400]], ids=["by one", "unevenly", "at once"])
def test_where_it_goes_does_not_depend_on_where_it_was_stopped(strategy: Strategy, sizes: list[int]) -> None:
    for model, evidence in ((COLORING, some_evidence(COLORING, 4, 1)), (MODELS["bayes"], {})):
        whole, cut = (new_search(model, evidence, strategy, seed=5) for _ in range(2))
        for size in sizes:
            cut.run(MaxSteps(cut.steps + size))
        whole.run(MaxSteps(cut.steps))
        assert story(cut) == story(whole)
        for search in (whole, cut):
            search.run(MaxSteps(cut.steps + 500))
        assert story(cut) == story(whole)


def test_how_long_its_kernel_runs_does_not_change_where_it_goes(
    strategy: Strategy, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = new_search(COLORING, {}, strategy, seed=9)
    usual.run(MaxSteps(1500))
    monkeypatch.setattr(search_module, "FIRST_WORK", 1)
    monkeypatch.setattr(search_module, "CALL_SECONDS", 1e-6)
    hasty = new_search(COLORING, {}, strategy, seed=9)
    hasty.run(MaxSteps(1500))
    assert story(hasty) == story(usual)


def test_asking_how_it_stands_does_not_change_where_it_goes(strategy: Strategy) -> None:
    asked, unasked = (new_search(COLORING, {}, strategy, seed=2) for _ in range(2))
    for steps in range(20, 400, 20):
        asked.run(MaxSteps(steps))
        naive = Naive(COLORING, {}, asked.model.log_zero)
        assert asked.score == pytest.approx(naive.score(standing(asked)))
        check_best(asked, naive)
    unasked.run(MaxSteps(asked.steps))
    assert story(asked) == story(unasked)


def test_it_does_the_same_again_with_the_same_seed_and_something_else_with_another(
    strategy: Strategy,
) -> None:
    first, again, other = (new_search(GRID, {}, strategy, seed) for seed in (1, 1, 2))
    for search in (first, again, other):
        search.run(MaxSteps(150))
    assert story(first) == story(again)
    assert story(first) != story(other)


def test_it_does_the_same_in_one_thread_and_in_two(strategy: Strategy) -> None:
    queries = [some_evidence(COLORING, 4, seed) for seed in range(4)]
    one, two = (
        solve_many(COLORING, queries, strategy=strategy, stop=MaxSteps(300), seed=5, threads=threads)
        for threads in (1, 2)
    )
    for left, right in zip(one, two, strict=True):
        assert left.assignment.tolist() == right.assignment.tolist()
        assert left.trace.steps.tolist() == right.trace.steps.tolist()
        assert left.trace.scores.tolist() == right.trace.scores.tolist()
        assert left.steps == right.steps


def test_it_runs_many_queries_side_by_side(strategy: Strategy) -> None:
    model = MODELS["bayes"]
    queries = [some_evidence(model, 3, seed) for seed in range(5)]
    batch = SearchBatch(model, queries, strategy=strategy, threads=2)
    batch.run(200)
    for query, result in zip(queries, batch.results, strict=True):
        assert {i: result.assignment[i] for i in query} == query
    assert batch.best_scores.tolist() == pytest.approx([r.floored_log_score for r in batch.results])


@pytest.mark.parametrize("name", CONTENDERS)
def test_it_stops_when_it_has_made_its_steps(name: str) -> None:
    search = new_search(GRID, {}, CONTENDERS[name])
    for steps in (0, 1, 2, 50, 51, 2000):
        before = search.steps
        assert search.run(MaxSteps(steps)) == "steps"
        most = max(before, steps) + (0 if name in FLIPS_ONLY else LARGEST_MOVE)
        assert max(before, steps) <= search.steps <= most
    assert search.run(NoImprovement(300)) == "no improvement"
    assert search.steps >= search.trace.steps[-1] + 300


def test_it_stops_at_a_target(strategy: Strategy) -> None:
    goal = solve(GRID, strategy=strategy, stop=MaxSteps(300)).log_score
    result = solve(GRID, strategy=strategy, stop=MaxSteps(300_000) | TargetScore(goal))
    assert result.stop == "target"
    assert result.log_score >= goal - 1e-9


def test_its_trace_only_gets_better_and_ends_at_its_best(strategy: Strategy) -> None:
    for model in (GRID, MODELS["oddities"], MODELS["bayes"]):
        search = new_search(model, {}, strategy)
        search.run(MaxSteps(600))
        check_monotone(search.trace)
        assert search.trace.steps[-1] <= search.steps
        assert search.trace.scores[-1] == pytest.approx(search.best_score)
        assert search.trace.zero_factors[-1] == search.best_zeros


# Going on from another assignment.


def naive_of(search: Search, model: GraphicalModel) -> Naive:
    """The naive version of a search, with its penalties if it has any."""
    naive = Naive(model, {}, search.model.log_zero)
    if isinstance(search.own, GlsState):
        naive.weight = search.strategy.fitted(search.model).penalty_weight  # type: ignore[attr-defined]
        naive.penalties = penalties_of(search, model)
    return naive


@pytest.mark.parametrize("name", ["grid", "coloring", "bayes", "oddities"])
@pytest.mark.parametrize("steps", [0, 3, 150])
def test_settling_at_another_assignment_leaves_what_recomputation_gives(
    strategy: Strategy, name: str, steps: int
) -> None:
    model, rng = MODELS[name], np.random.default_rng(7)
    search = new_search(model, {}, strategy, seed=3)
    for _ in range(4):
        search.run(MaxSteps(search.steps + steps))
        known = (search.best_zeros, -search.best_score)
        there = rng.integers(model.domain_sizes).tolist()
        put(search, there)
        naive = naive_of(search, model)
        assert standing(search) == there
        check_against_naive(search, naive)
        check_best(search, naive)
        seen = (naive.zeros(there), -naive.score(there))
        assert (search.best_zeros, -search.best_score) <= (min(known, seen)[0], min(known, seen)[1] + 1e-9)
        search.run(MaxSteps(search.steps + 5))
        check_against_naive(search, naive_of(search, model))
        check_best(search, naive)
        check_monotone(search.trace)


@pytest.mark.parametrize("name", ["gls+", "turns", "auto", "own arm first"])
def test_it_goes_on_from_there(name: str) -> None:
    search = new_search(COLORING, {}, CONTENDERS[name])
    search.run(MaxSteps(5))
    there = [(value + 1) % 3 for value in standing(search)]
    put(search, there)
    search.run(MaxSteps(search.steps + 1))
    assert sum(old != new for old, new in zip(there, standing(search), strict=True)) == 1


# What a strategy of one's own remembers.


def test_what_a_strategy_remembers_outlasts_every_call() -> None:
    whole, cut = (new_search(COLORING, {0: 1}, Turns(), seed=5) for _ in range(2))
    for steps in range(1, 301):
        cut.run(MaxSteps(steps))
    whole.run(MaxSteps(300))
    assert cut.own.flips.tolist() == whole.own.flips.tolist()
    assert cut.own.flips.sum() == 300
    assert cut.own.flips[0] == 0
    assert cut.own.turn.tolist() == whole.own.turn.tolist()


@pytest.mark.parametrize("name", ["own arm", "own arm first"])
def test_what_an_arm_remembers_outlasts_the_turns_of_the_others(name: str) -> None:
    search = new_search(COLORING, {}, MIXES[name])
    search.run(MaxSteps(20_000))
    (arm,) = (arm for arm in search.own.arms if isinstance(arm.strategy, Turns))
    assert 0 < arm.own.flips.sum() < search.steps
    assert arm.own.flips.sum() == arm.core.counters[0]["steps"]


def test_two_searches_share_nothing() -> None:
    flat = compile_model(COLORING)
    first, second = (Search(flat, {}, Turns(), seed=seed) for seed in (0, 0))
    first.run(MaxSteps(100))
    assert second.own.flips.sum() == 0
    assert second.steps == 0
