from __future__ import annotations

import _thread
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import beacon
from beacon.errors import EvidenceError
from beacon.guide.fast_guide import FastGuide
from beacon.model.families import ising_grid
from beacon.runner.search import Search
from tests.exact.small_models import KINDS, small_queries
from tests.guide.helpers import random_weights

SMALL, LARGE = ising_grid(6, 6, seed=3), ising_grid(40, 40, seed=3)


@pytest.mark.parametrize("kind", KINDS)
def test_observing_one_by_one_is_the_same_as_afresh(kind: str) -> None:
    for model, evidence in small_queries(kind, 15, seed=21):
        solver, observed = beacon.Solver(model, stop=beacon.MaxSteps(500)), dict[int, int]()
        for variable, value in evidence.items():
            solver.observe(variable, value)
            observed[variable] = value
            found, afresh = solver.solve(), beacon.solve(model, observed, stop=beacon.MaxSteps(500))
            assert found.proof == afresh.proof
            if found.is_optimal and afresh.is_optimal:
                assert found.log_score == pytest.approx(afresh.log_score)
        for variable in evidence:
            solver.retract(variable)
        assert solver.observed == {}
        assert solver.solve().floored_log_score == pytest.approx(
            beacon.solve(model, stop=beacon.MaxSteps(500)).floored_log_score
        )


def test_other_evidence_is_a_query_of_its_own() -> None:
    solver = beacon.Solver(LARGE, stop=beacon.MaxSteps(500))
    solver.observe("x_0_0", "1")
    solver.solve()
    asked = solver.solve({"x_1_1": "0"})
    afresh = beacon.solve(LARGE, {"x_1_1": "0"}, stop=beacon.MaxSteps(500))
    assert asked.assignment.tolist() == afresh.assignment.tolist()
    assert solver.observed == {"x_0_0": "1"}
    assert 0 not in asked.evidence


def test_a_search_goes_on_from_the_last_answer() -> None:
    solver = beacon.Solver(LARGE, stop=beacon.MaxSteps(3000))
    first = solver.solve()
    again = solver.solve(stop=beacon.MaxSteps(0))
    assert again.assignment.tolist() == first.assignment.tolist()
    solver.observe("x_3_3", 1 - int(first.assignment[LARGE.name_to_variable["x_3_3"]]))
    changed = solver.solve(stop=beacon.MaxSteps(0))
    assert np.count_nonzero(changed.assignment != first.assignment) == 1


def test_observations_are_replaced_and_retracted() -> None:
    solver = beacon.Solver(SMALL)
    solver.observe("x_0_0", 0)
    solver.observe("x_0_0", "1")
    assert solver.observed == {"x_0_0": "1"}
    assert repr(solver) == f"Solver({SMALL!r}, 1 observed)"
    solver.retract("x_0_0")
    with pytest.raises(EvidenceError, match="'x_0_0' is not observed, so it cannot be retracted"):
        solver.retract("x_0_0")
    with pytest.raises(EvidenceError, match="no variable is called 'x_9_9'"):
        solver.observe("x_9_9", 0)
    with pytest.raises(EvidenceError, match="has no value 'red'"):
        solver.observe("x_0_0", "red")


def test_answers_besides_the_best_may_be_asked_for() -> None:
    solver = beacon.Solver(SMALL)
    solver.observe("x_0_0", 1)
    result = solver.solve(alternatives=3, margins=True, suppose={"x_1_1": 0})
    assert result.alternatives is not None
    assert len(result.alternatives) == 3
    assert result.margins is not None
    assert result.supposed is not None
    assert result.supposed.evidence == {0: 1, SMALL.name_to_variable["x_1_1"]: 0}


def test_several_threads_may_ask_at_once() -> None:
    solver = beacon.Solver(SMALL)
    queries = [{i: int(i % 2)} for i in range(36)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(solver.solve, queries))
    assert [result.evidence for result in found] == queries
    expected = beacon.solve_many(SMALL, queries)
    assert [result.log_score for result in found] == [result.log_score for result in expected]


def test_no_threads_are_started_by_a_query_without_a_guide() -> None:
    solver = beacon.Solver(SMALL)
    before = threading.active_count()
    for value in (0, 1):
        solver.solve({"x_0_0": value})
    assert threading.active_count() <= before  # those of other tests may end meanwhile


def test_a_guide_stays_loaded() -> None:
    guide = FastGuide(SMALL, random_weights(SMALL))
    solver = beacon.Solver(SMALL, guide=guide, strategy="gls+", stop=beacon.MaxSteps(100))
    found = solver.solve({"x_0_0": 1})
    afresh = beacon.solve(SMALL, {"x_0_0": 1}, guide=guide, strategy="gls+", stop=beacon.MaxSteps(100))
    assert found.assignment.tolist() == afresh.assignment.tolist()


def test_the_time_limit_counts_from_the_call() -> None:
    solver = beacon.Solver(LARGE, stop=beacon.MaxRuntime(0.1))
    result = solver.solve()
    assert 0.1 <= result.seconds < 0.3


def test_a_listener_hears_improvements_and_bounds_and_may_cancel() -> None:
    solver, bounds, cancelled = beacon.Solver(LARGE), list[float](), threading.Event()

    def hear(search: Search) -> None:
        bounds.append(search.upper_bound)
        if len(set(bounds)) > 2:
            cancelled.set()

    result = solver.solve({}, stop=beacon.MaxRuntime(20.0), on_improvement=hear, cancelled=cancelled)
    assert result.stop == "interrupted"
    assert result.seconds < 10
    assert bounds == sorted(bounds, reverse=True)
    assert result.upper_bound is not None
    assert result.upper_bound == pytest.approx(bounds[-1])


@pytest.mark.parametrize("is_guided", [False, True])
def test_ctrl_c_is_not_caught_and_leaves_the_solver_as_it_was(is_guided: bool) -> None:
    guide = FastGuide(LARGE, random_weights(LARGE)) if is_guided else None
    solver = beacon.Solver(LARGE, guide=guide, strategy="gls+", stop=beacon.MaxSteps(300))
    solver.observe("x_0_0", 1)
    afresh = beacon.solve(LARGE, {"x_0_0": 1}, guide=guide, strategy="gls+", stop=beacon.MaxSteps(300))
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        solver.solve(stop=beacon.MaxRuntime(60))
    timer.join()
    assert solver.observed == {"x_0_0": "1"}
    for _ in range(2):  # whatever the first has left behind
        result = solver.solve({"x_0_0": 1})
        assert result.assignment.tolist() == afresh.assignment.tolist()
