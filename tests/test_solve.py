"""The front door without a guide: one query, many queries, interruptions."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon import solver
from beacon.errors import EvidenceError, ModelError, UsageError
from beacon.model import families
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.result import Result
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime, MaxSteps
from beacon.solver import solve, solve_many
from beacon.strategies.auto import Auto
from tests.engine.helpers import small_models, some_evidence
from tests.reference import Naive
from tests.small_strategies import small_models as random_models

ROOT = Path(__file__).resolve().parents[1]
MODELS = small_models()
GRID = families.ising_grid(rows=8, columns=8, wrap=True, seed=2)
SEARCH = Auto(exact=False)  # the subject is the search
QUERIES = [some_evidence(GRID, 6, seed) for seed in range(6)]

INTERRUPTED_BY_A_SIGNAL = """
import json, signal, threading, time
import beacon
from beacon.model.families import ising_grid

improved = threading.Event()
def interrupt():
    improved.wait()
    time.sleep(0.1)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
grid, stop = ising_grid(20, 20), beacon.MaxRuntime(30)
result = beacon.solve(grid, strategy="greedy", stop=stop, on_improvement=lambda search: improved.set())
print(json.dumps([result.stop, result.steps]))
"""


def answer(result: Result) -> tuple[list[int], float, int, str, list[int]]:
    """What must be the same whenever the same query is solved again."""
    steps = result.trace.steps.tolist()
    return result.assignment.tolist(), result.floored_log_score, result.steps, result.stop, steps


@settings(max_examples=30, deadline=None)
@given(model=random_models(), seed=st.integers(0, 10**6))
def test_no_assignment_is_better_than_the_one_found_in_a_small_model(
    model: GraphicalModel, seed: int
) -> None:
    evidence = some_evidence(model, seed % 3, seed)
    result = solve(model, evidence, stop=MaxSteps(2000), seed=seed, propagate=False)
    zeros, score = Naive(model, evidence, result.log_zero).best()
    assert result.zero_factors == zeros
    assert result.floored_log_score == pytest.approx(score, abs=1e-9)


def test_evidence_goes_by_name_or_index() -> None:
    model = families.diagnosis(num_diseases=5, num_findings=3, min_causes=1, max_causes=3, seed=1)
    name = model.names[-1]
    by_name = solve(model, {name: "yes"}, stop=MaxSteps(100))
    by_index = solve(model, {model.num_variables - 1: 1}, stop=MaxSteps(100))
    assert by_name.evidence == by_index.evidence == {model.num_variables - 1: 1}
    assert answer(by_name) == answer(by_index)
    assert by_name.named_assignment[name] == "yes"


def test_wrong_evidence_is_refused() -> None:
    with pytest.raises(EvidenceError, match=r"variable indices are 0\.\.63; found 64"):
        solve(GRID, {64: 0})


@pytest.mark.parametrize("strategy", ["greedy", "gls+"])
def test_results_do_not_depend_on_the_number_of_threads(strategy: str) -> None:
    one, two, many = (
        solve_many(GRID, QUERIES, strategy=strategy, stop=MaxSteps(1000), threads=threads)
        for threads in (1, 2, 5)
    )
    assert [answer(result) for result in one] == [answer(result) for result in two]
    assert [answer(result) for result in one] == [answer(result) for result in many]


def test_a_query_has_the_same_result_alone_and_anywhere_in_a_list() -> None:
    forwards = solve_many(GRID, QUERIES, stop=MaxSteps(500), seed=4)
    backwards = solve_many(GRID, QUERIES[::-1], stop=MaxSteps(500), seed=4)
    alone = [solve(GRID, query, stop=MaxSteps(500), seed=4) for query in QUERIES]
    assert [answer(result) for result in forwards] == [answer(result) for result in alone]
    assert [answer(result) for result in backwards] == [answer(result) for result in alone[::-1]]


def test_the_order_of_the_evidence_does_not_matter() -> None:
    forwards = solve(GRID, {3: 1, 9: 0, 40: 1}, stop=MaxSteps(300))
    backwards = solve(GRID, {40: 1, 9: 0, 3: 1}, stop=MaxSteps(300))
    assert answer(forwards) == answer(backwards)


def test_another_seed_takes_another_way() -> None:
    first, second = (
        solve(GRID, strategy=SEARCH, stop=MaxSteps(300), start="random", seed=seed) for seed in (0, 1)
    )
    assert first.trace.scores.tolist() != second.trace.scores.tolist()


def test_no_queries_have_no_results() -> None:
    assert solve_many(GRID, [], stop=MaxSteps(10)) == []


def test_a_query_may_have_no_free_variable() -> None:
    evidence = dict.fromkeys(range(64), 1)
    result = solve(GRID, evidence, strategy=SEARCH, stop=MaxRuntime(60))
    assert result.stop == "nothing to search"
    assert result.steps == 0
    assert result.assignment.tolist() == [1] * 64
    assert result.log_score == pytest.approx(GRID.log_score([1] * 64))


def test_what_the_evidence_implies_leaves_nothing_to_search() -> None:
    implication = [0.0, -math.inf, 0.0, 0.0]
    chain = GraphicalModel.from_tables([2] * 5, [((i, i + 1), implication) for i in range(4)])
    assert solve(chain, {4: 1}, strategy=SEARCH, stop=MaxRuntime(60)).stop == "nothing to search"
    result = solve(chain, {4: 1}, stop=MaxSteps(100), propagate=False)
    assert result.assignment.tolist() == [1] * 5
    assert result.evidence == {4: 1}


def test_evidence_of_probability_zero_gives_the_fewest_zero_factors() -> None:
    model = GraphicalModel.from_tables(
        [2, 2], [((0, 1), [-math.inf, -math.inf, 0.0, -1.0]), ((1,), [-3.0, 0.0])]
    )
    result = solve(model, {0: 0}, stop=MaxSteps(100))
    assert (result.log_score, result.zero_factors) == (-math.inf, 1)
    assert result.assignment.tolist() == [0, 1]


def test_no_steps_return_the_start() -> None:
    start = np.arange(64) % 2
    result = solve(GRID, start=start, strategy=SEARCH, stop=MaxSteps(0))
    assert result.assignment.tolist() == start.tolist()
    assert (result.steps, result.stop, len(result.trace)) == (0, "steps", 1)


@pytest.mark.parametrize("name", ["bayes", "pedigree", "oddities"])
def test_propagation_does_not_change_the_best_score(name: str) -> None:
    model = MODELS[name]
    for seed in range(4):
        evidence = some_evidence(model, seed, seed)
        scores = [
            solve(model, evidence, stop=MaxSteps(3000), propagate=propagate).floored_log_score
            for propagate in (True, False)
        ]
        assert scores[0] == pytest.approx(scores[1])


def test_log_zero_is_what_zeros_count() -> None:
    model = GraphicalModel.from_tables([2], [((0,), [-math.inf] * 2), ((0,), [-2.0, -5.0])])
    assert solve(model, stop=MaxSteps(10)).floored_log_score == -102.0
    result = solve(model, stop=MaxSteps(10), log_zero=-30.0)
    assert (result.log_zero, result.floored_log_score) == (-30.0, -32.0)


@pytest.mark.parametrize("log_zero", [-5.0, 0.0, 3.0, -math.inf, math.nan, -1e300])
def test_log_zero_must_lie_below_all_tables(log_zero: float) -> None:
    model = GraphicalModel.from_tables([2], [((0,), [-math.inf, 0.0]), ((0,), [-2.0, -5.0])])
    with pytest.raises(
        ModelError, match=re.escape(f"and below the lowest log-potential -5; found {log_zero:g}")
    ):
        solve(model, log_zero=log_zero)


def test_log_zero_must_be_a_number() -> None:
    model = GraphicalModel.from_tables([2], [((0,), [-2.0, -5.0])])
    with pytest.raises(UsageError, match="log_zero needs a number; found 'x'"):
        solve(model, log_zero="x")  # type: ignore[arg-type]


def test_lost_digits_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    pairs = [((i, i + 1), [0.0, -1.0, -1e12, -2.0]) for i in range(300)]
    model = GraphicalModel.from_tables([2] * 301, pairs)
    for seed in (0, 1):
        solve(model, stop=MaxSteps(10), seed=seed)
    (record,) = caplog.records
    text = "add up to 3e+14, so differences below 300 may be lost, and some are 1;"
    assert text in record.getMessage()


def test_ordinary_costs_are_no_reason_to_warn(caplog: pytest.LogCaptureFixture) -> None:
    pairs = [((i, i + 1), [0.0, -1.0, -1e6, -2.0]) for i in range(300)]
    solve(GraphicalModel.from_tables([2] * 301, pairs), stop=MaxSteps(10))
    assert not caplog.records


def test_an_event_ends_all_searches_and_keeps_what_they_have() -> None:
    cancelled = Event()
    cancelled.set()
    results = solve_many(GRID, [{}, {0: 1}], strategy="gls+", stop=MaxRuntime(60), cancelled=cancelled)
    assert [result.stop for result in results] == ["interrupted"] * 2


@pytest.mark.parametrize("threads", [1, 2])
def test_the_set_up_counts_against_the_time_limit(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = families.ising_grid(20, 20)
    solve(model, strategy="gls+", stop=MaxSteps(10))
    resolve = solver.evidence_of_queries

    def slowly(*arguments: Any) -> Any:
        time.sleep(0.3)
        return resolve(*arguments)

    monkeypatch.setattr(solver, "evidence_of_queries", slowly)
    began = time.perf_counter()
    results = solve_many(model, [{}] * 2, strategy="gls+", stop=MaxRuntime(0.5), threads=threads)
    assert time.perf_counter() - began < 0.5 * 2 / threads + 0.15
    assert min(result.seconds for result in results) >= 0.45  # less what the one before took beyond its limit


def test_without_a_stop_the_default_holds() -> None:
    assert solve(GRID, dict.fromkeys(range(64), 1), strategy=SEARCH, stop=None).stop == "nothing to search"


def test_mistakes_are_refused_before_any_search() -> None:
    with pytest.raises(UsageError, match="threads must be a whole number of at least 1; found 0"):
        solve_many(GRID, [{}], threads=0)
    with pytest.raises(UsageError, match="no strategy is called 'best'"):
        solve(GRID, strategy="best")


@pytest.mark.parametrize("threads", [1, 2])
def test_every_result_is_heard_once_with_its_place(threads: int) -> None:
    heard: dict[int, Result] = {}
    results = solve_many(
        GRID, QUERIES, stop=MaxSteps(100), threads=threads, on_result=lambda k, r: heard.update({k: r})
    )
    assert sorted(heard) == list(range(len(QUERIES)))
    assert all(heard[k] is result for k, result in enumerate(results))


def test_improvements_are_heard() -> None:
    heard: list[float] = []
    result = solve(
        GRID,
        strategy=SEARCH,
        start="random",  # from messages there would be nothing to improve
        stop=MaxSteps(2000),
        on_improvement=lambda search: heard.append(search.best_score),
    )
    assert heard
    assert heard[-1] == pytest.approx(result.floored_log_score)


def test_an_error_in_a_listener_reaches_the_caller() -> None:
    def fail(search: Search) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solve(GRID, strategy=SEARCH, start="random", stop=MaxSteps(2000), on_improvement=fail)


def test_an_interrupt_returns_what_the_searches_have() -> None:
    def interrupt(query: int, result: Result) -> None:
        raise KeyboardInterrupt

    fully_observed = dict.fromkeys(range(64), 0)  # the first result, at once
    queries = [fully_observed, *QUERIES]
    results = solve_many(GRID, queries, strategy=SEARCH, stop=MaxRuntime(30), threads=2, on_result=interrupt)
    assert len(results) == len(queries)
    assert results[0].stop == "nothing to search"
    assert {result.stop for result in results[1:]} == {"interrupted"}
    for query, result in zip(QUERIES, results[1:], strict=True):
        assert {i: result.assignment[i] for i in query} == query
        assert result.log_score == pytest.approx(GRID.log_score(result.assignment))
    assert results[-1].steps == 0  # it had not begun


def test_ctrl_c_returns_the_best_so_far() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_BY_A_SIGNAL], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    stop, steps = json.loads(done.stdout)
    assert stop == "interrupted"
    assert steps > 0


@pytest.mark.parametrize("log_zero", [-1e8, -1e12])
def test_a_deep_log_zero_costs_no_precision(log_zero: float) -> None:
    model = families.diagnosis(seed=0)
    result = solve(model, strategy="gls+", stop=MaxSteps(20_000), log_zero=log_zero)
    assert result.zero_factors == 0
    assert result.log_score == pytest.approx(model.log_score(result.assignment))


def test_large_finite_costs_cost_no_precision() -> None:
    base, rng = (
        families.weighted_coloring(num_vertices=200, density=0.03, num_colors=4),
        np.random.default_rng(0),
    )
    tables = [(f.scope, -1e10 * np.eye(4) - rng.uniform(0, 1, (4, 4))) for f in base.factors]
    model = GraphicalModel.from_tables([4] * 200, tables)
    result = solve(model, strategy="gls+", stop=MaxSteps(20_000))
    assert -1000 < result.log_score == pytest.approx(model.log_score(result.assignment))


def test_an_error_in_a_listener_ends_the_other_searches() -> None:
    running: set[Search] = set()

    def fail(query: int, result: Result) -> None:
        raise ZeroDivisionError

    queries, stop = [dict.fromkeys(range(64), 0), *QUERIES[:3]], MaxSteps(2_000_000)
    with pytest.raises(ZeroDivisionError):
        solve_many(
            GRID,
            queries,
            strategy=SEARCH,
            stop=stop,
            threads=2,
            on_result=fail,
            on_improvement=running.add,
        )
    assert all(search.steps < 2_000_000 for search in running)
