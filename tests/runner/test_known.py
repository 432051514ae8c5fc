"""What the default strategy knows about a query, against brute force: optima, bounds, proofs, gaps."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from beacon.engine.incumbent import RUNNING
from beacon.errors import UsageError
from beacon.evaluation.method import Budget, EngineMethod, Query
from beacon.exact.bound import Bound
from beacon.exact.plan import Plan
from beacon.learn.teacher import Teacher, TeacherSettings
from beacon.model.families import ising_grid
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner import bounding, known
from beacon.runner.bounding import Bounding
from beacon.runner.known import Effort, know
from beacon.runner.result import Result
from beacon.runner.stop import MaxGap, MaxRuntime, MaxSteps, Stop, TargetScore
from beacon.solver import solve, solve_many
from beacon.strategies.auto import Auto
from tests.evaluation.helpers import network_of
from tests.exact.small_models import KINDS, is_close, optimum, small_queries
from tests.exact.test_bound import knots
from tests.exact.test_solve import several_grids

COUNT = 40
MIXED = several_grids([3, 4, 6, 7])
GRID = ising_grid(5, 5)


@pytest.fixture(params=[0, 40, 600])
def _little_work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elimination may sum few entries or none, so that parts are left to search."""
    monkeypatch.setattr(known, "ENTRIES_PER_SECOND", request.param)


def check_claims(result: Result, best: float) -> None:
    """Whatever a result says about the optimum is true."""
    assert result.is_impossible <= (best == -math.inf)
    if result.is_optimal and best > -math.inf:
        assert is_close(result.log_score, best)
        assert result.gap == 0.0
    if result.upper_bound is not None:
        assert result.upper_bound >= best or is_close(result.upper_bound, best)
        assert result.upper_bound >= result.log_score
    if result.gap is not None and result.log_score > -math.inf:
        assert result.log_score >= best - result.gap - 1e-9 * max(1.0, abs(best))


@pytest.mark.parametrize("kind", KINDS)
def test_small_models_are_solved_with_a_proof(kind: str) -> None:
    for model, evidence in small_queries(kind, COUNT, seed=1):
        result, best = solve(model, evidence, stop=MaxSteps(300)), optimum(model, evidence)
        check_claims(result, best)
        assert result.is_impossible == (best == -math.inf)
        if best > -math.inf:
            assert is_close(result.log_score, best)
            assert (result.proof, result.stop, result.steps) == ("elimination", "optimal", 0)
            assert len(result.trace) == 1
            assert result.total_seconds >= result.seconds >= result.trace.seconds[0] > 0


@pytest.mark.usefixtures("_little_work")
@pytest.mark.parametrize("kind", KINDS)
def test_parts_that_are_not_eliminated_are_searched_and_bounded(kind: str) -> None:
    for model, evidence in small_queries(kind, COUNT, seed=2):
        result, best = solve(model, evidence, stop=MaxSteps(300)), optimum(model, evidence)
        check_claims(result, best)
        if best > -math.inf:
            assert is_close(result.log_score, best)


@pytest.mark.usefixtures("_little_work")
def test_an_independent_part_is_exact_while_another_is_searched() -> None:
    exact = solve(MIXED, stop=MaxSteps(20_000), strategy=Auto(exact=False))
    mixed = solve(MIXED, stop=MaxSteps(3_000))
    assert mixed.log_score >= exact.log_score - 1e-9
    assert mixed.steps > 0
    assert mixed.upper_bound is not None
    assert mixed.upper_bound >= exact.log_score


def test_solved_parts_are_left_alone_by_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "ENTRIES_PER_SECOND", 4000)
    found = know(compile_model(MIXED), {}, Effort(), 0)
    assert found.is_solved.any()
    assert not found.is_complete
    fixed = found.fixed
    start = solve(MIXED, stop=MaxSteps(0))
    assert (start.assignment[fixed >= 0] == fixed[fixed >= 0]).all()


def test_no_search_is_made_where_elimination_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beacon.runner.runner.Search", None)
    monkeypatch.setattr("beacon.runner.runner.warm_up_search", None)
    assert solve(ising_grid(5, 5), stop=MaxRuntime(1.0)).proof == "elimination"


@pytest.mark.parametrize("strategy", ["gls+", "tree", Auto(exact=False)])
def test_other_strategies_search_and_know_only_the_obvious_bound(strategy: str) -> None:
    result = solve(ising_grid(5, 5), strategy=strategy, stop=MaxSteps(500))
    assert result.steps >= 500
    assert (result.proof, result.upper_bound, result.gap) == (None, None, None)
    agreed = GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -1.0, -2.0])])
    result = solve(agreed, strategy=strategy, stop=MaxSteps(500))
    assert (result.stop, result.proof, result.upper_bound, result.gap) == ("optimal", "bound", 0.0, 0.0)


def test_without_propagation_nothing_is_known() -> None:
    result = solve(ising_grid(5, 5), propagate=False, stop=MaxSteps(500))
    assert (result.steps, result.proof, result.upper_bound) == (500, None, None)


def test_a_search_that_meets_the_bound_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "ENTRIES_PER_SECOND", 0)
    aligned = GraphicalModel.from_tables(
        [2] * 16,
        [((i, j), [1.0, 0.0, 0.0, 1.0]) for i in range(16) for j in range(i)] + [((3,), [0.0, 2.0])],
    )
    result = solve(aligned, {0: 0}, stop=MaxSteps(20_000))
    assert result.log_score == 120.0
    check_claims(result, 120.0)
    forest = several_grids([2, 2, 2])  # messages are exact on a single cycle that is not frustrated
    result = solve(forest, stop=MaxSteps(20_000))
    check_claims(result, solve(forest, strategy=Auto(exact=False), stop=MaxSteps(20_000)).log_score)


def test_impossible_evidence_is_said_to_be() -> None:
    differ = [((i, j), np.where(np.eye(2) > 0, -np.inf, 0.0)) for i, j in [(0, 1), (1, 2), (0, 2)]]
    triangle = GraphicalModel.from_tables([2, 2, 2], differ)  # no two colours are enough
    result = solve(triangle, stop=MaxRuntime(60.0))
    assert result.is_impossible
    assert (result.stop, result.zero_factors) == ("impossible", 1)
    assert (result.is_optimal, result.upper_bound, result.gap) == (False, None, None)
    assert result.seconds < 10
    assert "proved impossible" in result.summary()
    assert result.to_dict()["impossible"] is True
    assert not solve(triangle, strategy="gls+", stop=MaxSteps(100)).is_impossible


@pytest.mark.parametrize("stop", [MaxSteps(100), MaxRuntime(5.0)], ids=["steps", "seconds"])
def test_impossible_evidence_is_no_optimum_though_the_floored_score_meets_its_bound(stop: Stop) -> None:
    copied = np.where(np.eye(2) > 0, 0.0, -np.inf)
    model = GraphicalModel.from_tables([2, 2, 2], [((0, 1), copied), ((2,), [0.0, -1.0])])
    result = solve(model, {0: 1, 1: 0}, suppose={2: 1}, stop=stop)
    assert result.supposed is not None
    for one in (result, result.supposed):
        assert (one.is_impossible, one.stop, one.zero_factors) == (True, "impossible", 1)
        assert (one.is_optimal, one.proof, one.upper_bound, one.gap) == (False, None, None, None)
        assert "certainty" not in one.summary()


def test_single_values_and_empty_models() -> None:
    single = GraphicalModel.from_tables([1, 1], [((0, 1), [-2.0])])
    assert (solve(single).log_score, solve(single).proof) == (-2.0, "elimination")
    empty = GraphicalModel.from_tables([], [((), [-1.5])])
    assert (solve(empty).log_score, solve(empty).proof) == (-1.5, "elimination")
    nothing = solve(GraphicalModel.from_tables([], []))
    assert (nothing.log_score, nothing.gap, nothing.is_optimal) == (0.0, 0.0, True)


@pytest.mark.parametrize("start", [[0] * 25, [1] * 25])
def test_a_start_does_not_stand_in_the_way_of_the_optimum(start: list[int]) -> None:
    grid = ising_grid(5, 5)
    assert solve(grid, start=start).log_score == solve(grid).log_score


def test_a_start_of_probability_zero_gives_way_only_to_something_better(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(known, "ENTRIES_PER_SECOND", 0)
    differ = np.where(np.eye(3) > 0, -np.inf, 0.0)
    ring = GraphicalModel.from_tables([3] * 5, [((i, j), differ) for i in range(5) for j in range(i)][:7])
    result = solve(ring, {0: 0}, start=[0, 0, 0, 0, 0], stop=MaxSteps(500))
    check_claims(result, optimum(ring, {0: 0}))
    assert result.zero_factors <= 7


def test_results_by_steps_do_not_depend_on_threads_or_order() -> None:
    queries = [{0: 0}, {0: 1}, {5: 1}, {30: 0, 60: 1}, {}]
    one = solve_many(MIXED, queries, stop=MaxSteps(800), threads=1)
    two = solve_many(MIXED, queries[::-1], stop=MaxSteps(800), threads=2)[::-1]
    for a, b in zip(one, two, strict=True):
        assert (a.assignment == b.assignment).all()
        assert (a.upper_bound, a.proof, a.steps) == (b.upper_bound, b.proof, b.steps)


def test_the_search_stops_within_the_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "ENTRIES_PER_SECOND", 0)
    monkeypatch.setattr(bounding, "MAX_PASSES", 4)
    monkeypatch.setattr(bounding, "MIN_PASSES", 4)  # a loose bound
    grid = ising_grid(6, 6)
    widest = solve(grid, stop=MaxSteps(5_000)).gap
    assert widest is not None
    assert widest > 0
    result = solve(grid, stop=MaxSteps(5_000) | MaxGap(widest + 0.1))
    assert result.stop == "gap"
    assert result.steps < 5_000
    assert result.gap is not None
    assert result.gap <= widest + 0.1
    assert f"at most {100 * result.gap / result.log_score:.2g} %" in result.summary()


def test_the_obvious_bound_serves_a_gap_where_there_is_no_other() -> None:
    result = solve(ising_grid(6, 6), strategy="gls+", stop=MaxSteps(5_000) | MaxGap(100.0))
    assert result.stop == "gap"
    assert result.gap is not None
    assert result.gap <= 100.0


def test_gaps_combine_and_are_checked() -> None:
    stop = MaxGap(1.0) | MaxGap(3.0) | MaxSteps(5)
    assert stop.gap == 3.0
    assert not MaxGap(1.0).is_bounded
    with pytest.raises(UsageError, match="MaxGap needs a limit of 0 or more; found -1"):
        MaxGap(-1)
    with pytest.raises(UsageError, match="MaxGap needs a finite number of nats; found inf"):
        MaxGap(math.inf)


def test_a_target_is_a_target_though_a_bound_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "ENTRIES_PER_SECOND", 0)
    result = solve(ising_grid(6, 6), stop=MaxSteps(5_000) | TargetScore(10.0))
    assert result.stop == "target"
    assert result.gap is not None


def test_zeros_with_a_shallow_floor_are_no_proof() -> None:
    """A floor above what possible assignments score makes broken ones look better than the bound."""
    zero = -math.inf
    tables = [((i, (i + 1) % 6), [zero, -4.0, -4.0, zero]) for i in range(6)]
    model = GraphicalModel.from_tables([2] * 6, [*tables, ((0, 3), [-1.0, -2.0, -3.0, -4.0])])
    for effort in (True, False):
        result = solve(model, log_zero=-4.5, stop=MaxSteps(400), strategy=Auto(exact=effort))
        check_claims(result, optimum(model, {}))
        assert result.zero_factors == 0


def test_a_short_time_limit_leaves_large_models_to_the_search() -> None:
    flat = compile_model(ising_grid(20, 20))
    assert Effort.within(1.0).pays_to_reduce(flat)
    assert not Effort.within(1e-6).pays_to_reduce(flat)
    assert Effort.within(math.inf).pays_to_reduce(flat)
    result = solve(ising_grid(20, 20), stop=MaxRuntime(0.0))
    assert (result.stop, result.proof) == ("seconds", None)


def test_the_time_limit_counts_everything() -> None:
    result = solve(ising_grid(40, 40), stop=MaxRuntime(0.2))
    assert 0.15 < result.seconds < 0.4
    assert result.trace.seconds[0] > 0


def test_references_and_runs_of_an_evaluation_are_marked_as_proved() -> None:
    reference = Teacher(GRID, TeacherSettings(steps=100)).find({0: 1}, [0, 1])
    assert reference.source == "auto, proved optimal"
    assert is_close(reference.score, solve(GRID, {0: 1}).log_score)
    network, start = network_of(GRID), np.zeros(25, dtype=np.int64)
    asked = [Query(0, {0: 0}, start)]
    for propagate in (True, False):
        method = EngineMethod.named("auto", propagate)
        ((_, run),) = method.run(network, asked, Budget(steps=(50,)), seed=0, threads=1)
        assert run.proved == propagate
        assert (run.steps == 0) == propagate


@pytest.fixture
def _eager_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is eliminated before the search, and the bound has half of the time from the beginning."""
    monkeypatch.setattr(known, "ENTRIES_PER_SECOND", 0)
    monkeypatch.setattr(bounding, "FIRST_SHARE", 0.5)


@pytest.mark.usefixtures("_eager_bound")
@pytest.mark.parametrize("zeros", [0.0, 0.1, 0.3, 0.5])
def test_claims_beside_a_search_are_true(zeros: float) -> None:
    rng, num_proved = np.random.default_rng(1), 0
    for _ in range(60):
        model, evidence = knots(rng, zeros)
        result, best = solve(model, evidence, stop=MaxRuntime(0.02)), optimum(model, evidence)
        check_claims(result, best)
        assert (np.diff(result.trace.bounds) < 0).all()
        num_proved += result.is_optimal or result.is_impossible
    assert num_proved >= 30


@pytest.mark.usefixtures("_eager_bound")
def test_the_bound_ends_a_search_that_has_found_the_optimum() -> None:
    grid = ising_grid(9, 9, wrap=True, seed=3)
    result = solve(grid, stop=MaxRuntime(60.0))
    assert (result.stop, result.proof, result.gap) == ("optimal", "bound", 0.0)
    assert result.seconds < 30
    trace = result.trace
    assert len(trace.bounds) == len(trace.bound_seconds) > 1
    assert (np.diff(trace.bound_seconds) > 0).all()
    assert (np.diff(trace.bounds) < 0).all()
    assert trace.bound_after(0.0) == math.inf
    assert trace.bound_after(result.seconds) == trace.bounds[-1]
    assert trace.bounds[-1] - result.log_score < 1e-6
    check_claims(result, solve(grid, stop=MaxSteps(3_000), strategy=Auto(exact=False)).log_score)


@pytest.mark.usefixtures("_eager_bound")
def test_a_gap_is_met_while_the_bound_falls() -> None:
    grid = ising_grid(30, 30, seed=3)
    result = solve(grid, stop=MaxRuntime(60.0) | MaxGap(40.0))
    assert result.stop in {"gap", "optimal"}
    assert result.gap is not None
    assert result.gap <= 40.0
    assert result.seconds < 30
    assert result.trace.bounds[0] - result.trace.scores[-1] > 40.0  # not met at the first bound


@pytest.mark.usefixtures("_eager_bound")
def test_what_the_bound_decodes_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the search finds nothing, the answer is the bound's."""
    monkeypatch.setattr(Auto, "advance", lambda *arguments: _spend_time())
    grid = ising_grid(9, 9, wrap=True, seed=3)
    result = solve(grid, start=[0] * 81, stop=MaxRuntime(3.0))
    assert result.log_score > grid.log_score([0] * 81)
    assert result.trace.scores[-1] == pytest.approx(result.log_score)
    check_claims(
        result, solve(grid, stop=MaxRuntime(60.0)).log_score if result.is_optimal else result.log_score
    )


def _spend_time() -> int:
    time.sleep(0.005)
    return RUNNING


def test_a_bound_that_does_not_move_has_a_small_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "ENTRIES_PER_SECOND", 0)
    flat = compile_model(several_grids([9]))
    found = Bounding(know(flat, {}, Effort.within(1.0), 0), Effort.within(1.0))
    bound = Bound(found.solved)
    found.score = 0.0
    for gap, share in [(100.0, 0.05), (99.0, 0.02), (20.0, 0.16), (4.0, 0.5), (2.4, 0.5), (2.4, 0.02)]:
        bound.upper_bound = gap
        if gap < 100.0:
            found._adapt_share(bound)
        found._gap = gap
        assert found._share == pytest.approx(share, rel=0.1)


@pytest.mark.parametrize(
    ("gap", "idle_share", "share"),
    [(1.0, 1.0, 0.41), (1.0, 0.1, 0.05), (0.0, 1.0, 0.5), (50.0, 1.0, 0.05), (101.0, 1.0, 0.05)],
)
def test_a_bound_that_is_near_gets_more_where_the_search_finds_nothing(
    gap: float, idle_share: float, share: float
) -> None:
    flat = compile_model(several_grids([9]))
    found = Bounding(know(flat, {}, Effort.within(1.0), 0), Effort.within(1.0))
    found.score, found.upper_bound, found._first_gap = 7.0, 7.0 + gap, 100.0
    assert found._share_of_time(idle_share) == pytest.approx(share, rel=0.01)


@pytest.mark.parametrize(("seconds", "is_cheap"), [(0.8, True), (1.2, False)])
def test_a_small_part_is_eliminated_only_if_that_is_cheap_against_its_share_of_the_search(
    seconds: float, is_cheap: bool
) -> None:
    work = 0.1 * known.MAX_SHARE * seconds * known.ENTRIES_PER_SECOND
    costs = np.array([[math.inf] * 5, [work] * 5])
    prospect = Plan(np.arange(100, dtype=np.int32), costs)
    chosen = known._cheap_parts(prospect, np.array([90, 10], dtype=np.int32), Effort.within(1.0))
    assert chosen.tolist() == [False, is_cheap]
