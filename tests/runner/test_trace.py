"""The record of improvements."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.engine.core import MAX_EVENTS
from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.runner.trace import Trace
from beacon.strategies.gls import GlsPlus
from beacon.strategies.strategy import STRATEGIES, make_strategy
from tests.engine.helpers import new_search, small_models, some_evidence
from tests.small_strategies import small_models as random_models

MODELS = small_models()


def small_trace() -> Trace:
    return Trace(
        steps=np.array([0, 3, 3, 10]),
        seconds=np.array([0.0, 0.5, 0.5, 2.0]),
        scores=np.array([-9.0, -7.0, -6.0, -1.0]),
        zero_factors=np.array([0, 0, 0, 0]),
    )


def check_monotone(trace: Trace) -> None:
    """Every row is better than the one before: fewer zeros, or as many and a higher score."""
    rows = list(zip(trace.zero_factors.tolist(), (-trace.scores).tolist(), strict=True))
    assert all(later < earlier for earlier, later in pairwise(rows))
    assert (np.diff(trace.steps) >= 0).all()
    assert (np.diff(trace.seconds) >= 0).all()


def test_the_best_score_at_a_step_is_that_of_the_last_improvement_until_then() -> None:
    assert small_trace().best_at([0, 1, 2, 3, 9, 10, 10**9]).tolist() == [-9, -9, -9, -6, -6, -1, -1]
    assert small_trace().best_at(4) == -6


def test_before_the_first_step_the_best_is_the_start() -> None:
    assert small_trace().best_at([-1, -(10**9)]).tolist() == [-9, -9]


def test_the_best_score_after_some_time_is_that_of_the_last_improvement_until_then() -> None:
    assert small_trace().best_after([-1.0, 0.0, 0.4, 0.5, 1.9, 2.0, 60]).tolist() == [
        -9,
        -9,
        -9,
        -6,
        -6,
        -1,
        -1,
    ]


def test_the_length_is_the_number_of_improvements() -> None:
    assert len(small_trace()) == 4


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", MODELS)
def test_a_trace_begins_at_the_start_and_each_row_is_better(name: str, strategy: str) -> None:
    model = MODELS[name]
    search = new_search(model, some_evidence(model, 1, seed=4), make_strategy(strategy), seed=3)
    start_zeros, start_score = search.zeros, search.score
    search.run(MaxSteps(400))
    trace = search.trace
    check_monotone(trace)
    assert (trace.steps[0], trace.seconds[0]) == (0, 0.0)
    assert (trace.zero_factors[0], trace.scores[0]) == (start_zeros, pytest.approx(start_score))
    assert (trace.zero_factors[-1], trace.scores[-1]) == (search.best_zeros, search.best_score)
    assert trace.steps[-1] <= search.steps
    assert trace.seconds[-1] <= search.seconds


@settings(max_examples=25, deadline=None)
@given(model=random_models(), seed=st.integers(0, 10**6), strategy=st.sampled_from(list(STRATEGIES)))
def test_the_trace_of_any_search_only_gets_better(model: GraphicalModel, seed: int, strategy: str) -> None:
    search = new_search(model, {}, make_strategy(strategy), seed)
    search.run(MaxSteps(100))
    check_monotone(search.trace)


@pytest.mark.parametrize("name", ["grid", "coloring", "bayes", "oddities"])
def test_the_best_at_each_step_is_what_a_search_stopped_there_knows(name: str) -> None:
    model, steps = MODELS[name], range(0, 120)
    whole = new_search(model, {}, GlsPlus(), seed=6)
    whole.run(MaxSteps(200))
    stopped = new_search(model, {}, GlsPlus(), seed=6)
    known = []
    for step in steps:
        stopped.run(MaxSteps(step))
        known.append(stopped.best_score)
    assert whole.trace.best_at(np.array(steps)).tolist() == known


def test_more_improvements_than_a_kernel_has_room_for_are_all_recorded() -> None:
    count = 3 * MAX_EVENTS
    frustrated = [((0,), [0.0, -1.0]), ((0,), [-1.0, 0.0])]  # no assignment reaches the bound
    tables = [((i,), [0.0, 1.0 + i / count]) for i in range(count)]
    model = GraphicalModel.from_tables([2] * count, [*frustrated, *tables])
    search = Search(compile_model(model), {}, GlsPlus(), start=np.zeros(count, dtype=np.int64))
    search.run(MaxSteps(count))
    assert search.trace.steps.tolist() == list(range(count + 1))
    check_monotone(search.trace)


def test_improvements_are_timed_within_the_search() -> None:
    search = new_search(families.ising_grid(rows=15, columns=15, wrap=True, seed=0), {}, GlsPlus())
    search.run(MaxSteps(20_000))
    search.run(MaxSteps(40_000))
    check_monotone(search.trace)
    assert search.trace.best_after(search.seconds) == search.best_score
    assert search.trace.best_after(0.0) == search.trace.scores[0]
