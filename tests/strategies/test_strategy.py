"""Settings of the strategies, and what every strategy must do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from beacon.strategies.gls.penalty_weight import default_penalty_weight

from beacon.errors import UsageError
from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.batch import SearchBatch
from beacon.runner.result import Result
from beacon.runner.stop import MaxRuntime, MaxSteps, TargetScore
from beacon.solver import solve
from beacon.strategies.strategy import (
    STRATEGIES,
    Auto,
    GlsPlus,
    Greedy,
    Tree,
    make_strategy,
)
from tests.engine.helpers import small_models, some_evidence
from tests.reference import Naive

MODELS = small_models()


def weight_of(domain_sizes: list[int], tables: Sequence[tuple[tuple[int, ...], list[float]]]) -> float:
    return default_penalty_weight(compile_model(GraphicalModel.from_tables(domain_sizes, tables)))


def worth(result: Result) -> tuple[int, float]:
    """Smaller is better: zero factors first, then the score."""
    return result.zero_factors, -result.floored_log_score


# What every strategy must do.


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("name", MODELS)
def test_it_keeps_the_evidence_and_reports_a_score_that_can_be_recomputed(strategy: str, name: str) -> None:
    model = MODELS[name]
    for seed in range(3):
        evidence = some_evidence(model, seed + 1, seed)
        for propagate in (True, False):
            result = solve(
                model, evidence, strategy=strategy, stop=MaxSteps(300), seed=seed, propagate=propagate
            )
            assert {i: result.assignment[i] for i in evidence} == evidence
            assert result.log_score == pytest.approx(model.log_score(result.assignment))
            assert result.zero_factors == model.num_zero_factors(result.assignment)
            assert result.floored_log_score == pytest.approx(
                model.floored_log_score(result.assignment, result.log_zero)
            )
            assert result.method == strategy


@pytest.mark.parametrize("name", MODELS)
def test_it_is_never_worse_than_its_start(strategy: str, name: str) -> None:
    model, rng = MODELS[name], np.random.default_rng(3)
    for _ in range(3):
        start = rng.integers(model.domain_sizes)
        first = solve(model, strategy=strategy, start=start, stop=MaxSteps(0))
        assert first.assignment.tolist() == start.tolist()
        assert worth(solve(model, strategy=strategy, start=start, stop=MaxSteps(100))) <= worth(first)


@pytest.mark.parametrize("name", MODELS)
def test_it_finds_the_optimum_of_a_small_model(strategy: str, name: str) -> None:
    model = MODELS[name]
    evidence = some_evidence(model, 1, seed=5)
    result = solve(model, evidence, strategy=strategy, stop=MaxSteps(5000))
    zeros, score = Naive(model, evidence, result.log_zero).best()
    assert result.zero_factors == zeros
    assert result.floored_log_score == pytest.approx(score)


def test_it_does_the_same_again_with_the_same_seed_and_something_else_with_another(strategy: str) -> None:
    model = families.ising_grid(rows=12, columns=12, wrap=True, seed=1)
    first, again, other = (solve(model, strategy=strategy, stop=MaxSteps(150), seed=s) for s in (1, 1, 2))
    assert first.assignment.tolist() == again.assignment.tolist()
    assert first.steps == again.steps
    for column in ("steps", "scores", "zero_factors"):
        assert getattr(first.trace, column).tolist() == getattr(again.trace, column).tolist()
    assert first.assignment.tolist() != other.assignment.tolist()


def test_it_goes_on_where_it_stopped_as_if_it_had_not(strategy: str) -> None:
    model = families.weighted_coloring(num_vertices=40, density=0.3, seed=1)
    queries = [some_evidence(model, 4, seed) for seed in range(3)]
    whole, cut = (SearchBatch(model, queries, strategy=strategy, seed=5) for _ in range(2))
    whole.run_until(MaxSteps(800))
    for steps in (1, 2, 50, 51, 300, 800):
        cut.run_until(MaxSteps(steps))
    assert cut.assignments.tolist() == whole.assignments.tolist()
    assert cut.best_assignments.tolist() == whole.best_assignments.tolist()
    assert cut.best_scores.tolist() == whole.best_scores.tolist()
    assert [t.steps.tolist() for t in cut.traces] == [t.steps.tolist() for t in whole.traces]


def test_it_counts_steps_and_reports_improvements(strategy: str) -> None:
    model = families.ising_grid(rows=10, columns=10, wrap=True, seed=1)
    result = solve(model, strategy=strategy, stop=MaxSteps(500))
    assert result.stop == "steps"
    assert result.steps >= 500  # a strategy may finish a larger move that it has begun
    assert len(result.trace) > 5
    assert result.trace.steps[-1] <= result.steps
    assert result.trace.scores[-1] == pytest.approx(result.floored_log_score)
    assert result.seconds > 0


def test_it_stops_at_a_target(strategy: str) -> None:
    model = families.ising_grid(rows=10, columns=10, wrap=True, seed=1)
    goal = solve(model, strategy=strategy, stop=MaxSteps(300)).log_score
    result = solve(model, strategy=strategy, stop=MaxSteps(3000) | TargetScore(goal))
    assert result.stop == "target"
    assert result.log_score >= goal - 1e-9


def test_it_runs_many_queries_side_by_side(strategy: str) -> None:
    model = MODELS["bayes"]
    queries = [some_evidence(model, 3, seed) for seed in range(5)]
    batch = SearchBatch(model, queries, strategy=strategy, threads=2)
    batch.run(200)
    for query, result in zip(queries, batch.results, strict=True):
        assert result.evidence == query
        assert {i: result.assignment[i] for i in query} == query
    assert batch.best_scores.tolist() == pytest.approx([r.floored_log_score for r in batch.results])


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
def test_it_ends_where_there_is_nothing_to_find(strategy: str, model: GraphicalModel) -> None:
    result = solve(model, strategy=strategy, stop=MaxSteps(10**6))
    assert result.stop in {"optimal", "stalled", "nothing to search"}
    assert len(result.assignment) == model.num_variables
    assert result.log_score == model.log_score(result.assignment)


def test_utilities_from_probability_one_do_not_wait_for_ever_on_a_constant() -> None:
    tables = [((0,), [5.0, 1.0]), ((0,), [1.0, 4.9]), ((), [-3.0])]
    model = GraphicalModel.from_tables([2], tables)
    strategy = GlsPlus(relative_utilities=False)
    assert solve(model, strategy=strategy, stop=MaxSteps(100) | MaxRuntime(0.5)).stop != "seconds"


# Settings.


def test_strategies_go_by_name() -> None:
    assert make_strategy("gls+") == GlsPlus()
    assert make_strategy("greedy") == Greedy()
    for name, kind in STRATEGIES.items():
        assert make_strategy(name) == kind()
        assert make_strategy(name).name == name


def test_a_strategy_with_settings_passes_through() -> None:
    strategy = GlsPlus(penalty_weight=3.0)
    assert make_strategy(strategy) is strategy


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no strategy is called 'annealing'; there are: .*greedy, gls\+"):
        make_strategy("annealing")


@pytest.mark.parametrize("weight", [0, -1.0, math.inf, math.nan])
def test_a_penalty_weight_must_be_positive(weight: float) -> None:
    with pytest.raises(UsageError, match=f"penalty_weight must be a positive number; found {weight}"):
        GlsPlus(penalty_weight=weight)


@pytest.mark.parametrize("name", ["smoothing", "harvest_share"])
@pytest.mark.parametrize("value", [-0.1, 1.01, math.nan])
def test_smoothing_and_the_share_of_harvests_must_lie_between_zero_and_one(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=rf"{name} must be a number from 0 to 1; found {value}"):
        GlsPlus(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [GlsPlus, Tree])
@pytest.mark.parametrize("value", [-1, math.nan])
def test_idleness_must_not_be_negative(kind: Any, value: float) -> None:
    with pytest.raises(UsageError, match=f"restart_idle must be 0 or more; found {value}"):
        kind(restart_idle=value)


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (Auto, {"gls": "gls+"}, "gls needs settings, such as GlsPlus(); found 'gls+'"),
        (Auto, {"tree": "tree"}, "tree needs settings, such as Tree(); found 'tree'"),
        (Auto, {"gls": Greedy()}, "gls needs settings, such as GlsPlus(); found Greedy()"),
        (Auto, {"tree": None}, "tree needs settings, such as Tree(); found None"),
        (Auto, {"min_share": "0.1"}, "min_share needs a number; found '0.1'"),
        (Auto, {"first_round": 0.5}, "first_round must be a whole number of at least 1; found 0.5"),
        (GlsPlus, {"penalty_weight": "2"}, "penalty_weight must be a positive number; found '2'"),
        (
            GlsPlus,
            {"restart_interval": math.inf},
            "restart_interval must be a whole number of at least 0; found inf",
        ),
        (
            GlsPlus,
            {"smoothing_interval": -1},
            "smoothing_interval must be a whole number of at least 0; found -1",
        ),
        (GlsPlus, {"smoothing": None}, "smoothing must be a number from 0 to 1; found None"),
        (Tree, {"min_region": "8"}, "min_region must be a whole number of at least 1; found '8'"),
        (Tree, {"sweeps": 2.5}, "sweeps must be a whole number of at least 1; found 2.5"),
        (Tree, {"acceptance": -1}, "acceptance must be 0 or more; found -1"),
        (Tree, {"restart_idle": "never"}, "restart_idle must be 0 or more; found 'never'"),
    ],
)
def test_settings_of_the_wrong_kind_are_refused(kind: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        kind(**settings)
    assert str(caught.value) == message


def test_fitting_fills_in_the_penalty_weight_and_keeps_a_given_one() -> None:
    flat = compile_model(MODELS["grid"])
    assert GlsPlus().fitted(flat).penalty_weight == default_penalty_weight(flat)
    assert GlsPlus(penalty_weight=7.0, smoothing=0.5).fitted(flat) == GlsPlus(
        penalty_weight=7.0, smoothing=0.5
    )


# The default penalty weight, on tables made by hand.


def test_the_penalty_weight_is_the_typical_range_of_the_tables() -> None:
    assert weight_of([2, 2], [((0,), [0.0, -3.0]), ((1,), [5.0, 1.0])]) == pytest.approx(math.sqrt(12.5))
    assert weight_of([3, 2], [((0, 1), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])]) == pytest.approx(5.0)


def test_constants_and_single_valued_tables_do_not_count() -> None:
    tables = [((0,), [0.0, -3.0]), ((), [-50.0]), ((1,), [-70.0])]
    assert weight_of([2, 1], tables) == pytest.approx(3.0)


def test_the_penalty_weight_is_less_where_variables_have_many_factors() -> None:
    assert weight_of([2], [((0,), [0.0, -3.0])] * 4) == pytest.approx(3.0)
    assert weight_of([2], [((0,), [0.0, -3.0])] * 16) == pytest.approx(3.0 * math.sqrt(4 / 16))


def test_hard_constraints_set_the_scale_where_a_tenth_of_the_tables_have_zeros() -> None:
    soft, hard = ((0,), [0.0, -2.0]), ((0,), [0.0, -math.inf])
    one_in_ten, one_in_eleven = [hard, *[soft] * 9], [hard, *[soft] * 10]
    assert weight_of([2], one_in_ten) == pytest.approx(100.0 * math.sqrt(4 / 10))
    typical = math.sqrt((100.0**2 + 10 * 2.0**2) / 11)
    assert weight_of([2], one_in_eleven) == pytest.approx(typical * math.sqrt(4 / 11))


@pytest.mark.parametrize(
    ("domain_sizes", "tables"),
    [
        ([], []),
        ([2, 2], []),
        ([2], [((), [-5.0])]),
        ([1, 1], [((0,), [-5.0]), ((0, 1), [-1.0])]),
        ([2, 2], [((0, 1), [-3.0] * 4)]),
        ([2], [((0,), [-math.inf] * 2)]),
    ],
    ids=["empty", "no tables", "constants", "one entry", "all equal", "all zero"],
)
def test_the_penalty_weight_of_tables_that_distinguish_nothing_is_one(
    domain_sizes: list[int], tables: list[tuple[tuple[int, ...], list[float]]]
) -> None:
    assert weight_of(domain_sizes, tables) == 1.0


def test_penalties_that_fade_too_fast_to_leave_an_optimum_end_the_search() -> None:
    both_or_none = np.array([[0.0, -np.inf], [-np.inf, 0.5]])
    ring = GraphicalModel.from_tables([2] * 6, [((i, (i + 1) % 6), both_or_none) for i in range(6)])
    fading = GlsPlus(3.0, smoothing=0.5, smoothing_interval=3)
    result = solve(ring, strategy=fading, start=[0] * 6, stop=MaxSteps(200))
    assert (result.stop, result.steps) == ("stalled", 0)
    lasting = GlsPlus(3.0, smoothing=1.0)
    assert solve(ring, strategy=lasting, start=[0] * 6, stop=MaxSteps(200)).log_score == 3.0
