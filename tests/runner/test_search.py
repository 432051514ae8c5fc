"""One search: where it begins, how it goes on, what it records and says of itself."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.engine.core import MAX_EVENTS, CoreState
from beacon.engine.incumbent import RUNNING, Limits
from beacon.errors import UsageError
from beacon.model import families
from beacon.model.flat import FlatModel, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.pool import num_threads
from beacon.runner.search import FIRST_WORK, Search, Trace
from beacon.runner.stop import MaxRuntime, MaxSteps
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import STRATEGIES, Strategy, make_strategy
from tests.engine.helpers import new_search, small_models, some_evidence, standing
from tests.reference import Naive
from tests.small_strategies import small_models as random_models

MODELS = small_models()
GRID = families.ising_grid(rows=5, columns=5, wrap=True, seed=2)


def test_a_search_begins_at_the_given_start() -> None:
    start = np.arange(25) % 2
    search = Search(compile_model(GRID), {}, GlsPlus(), start=start)
    assert standing(search) == search.best_assignment.tolist() == start.tolist()
    assert search.score == search.best_score == pytest.approx(GRID.log_score(start))


def test_a_search_without_a_start_begins_at_random_with_the_evidence() -> None:
    evidence = {0: 1, 7: 0}
    starts = [standing(new_search(GRID, evidence, GlsPlus(), seed)) for seed in range(60)]
    assert all(start[0] == 1 and start[7] == 0 for start in starts)
    shares = np.mean(starts, axis=0)
    assert (np.abs(np.delete(shares, [0, 7]) - 0.5) < 0.35).all()


@pytest.mark.parametrize("name", MODELS)
def test_score_and_zeros_are_those_of_the_current_assignment(name: str) -> None:
    model = MODELS[name]
    evidence = some_evidence(model, 2, seed=1)
    search = new_search(model, evidence, GlsPlus(), seed=4)
    naive = Naive(model, evidence, search.model.log_zero)
    for steps in range(0, 100, 10):
        search.run(MaxSteps(steps))
        x = standing(search)
        assert search.score == pytest.approx(naive.score(x))
        assert search.zeros == naive.zeros(x)


def test_a_million_steps_leave_no_rounding_errors_behind() -> None:
    search = new_search(GRID, {}, GlsPlus())
    search.run(MaxSteps((1 << 20) + 10))
    assert search.steps == (1 << 20) + 10
    assert search.score == pytest.approx(GRID.log_score(standing(search)), abs=1e-9)
    assert search.best_score == pytest.approx(GRID.log_score(search.best_assignment), abs=1e-9)


def test_a_cancelled_search_says_that_it_was_interrupted() -> None:
    cancelled = threading.Event()
    search = new_search(GRID, {}, GlsPlus())
    assert search.run(MaxSteps(100), cancelled) == "steps"
    cancelled.set()
    assert search.run(MaxSteps(10**6), cancelled) == "interrupted"
    assert search.steps == 100


def test_a_search_can_be_cancelled_while_it_runs() -> None:
    cancelled = threading.Event()
    threading.Timer(0.05, cancelled.set).start()
    search = new_search(GRID, {}, GlsPlus())
    assert search.run(MaxRuntime(60), cancelled) == "interrupted"
    assert search.steps > 0


def test_improvements_are_announced_with_the_search() -> None:
    search, heard = new_search(families.ising_grid(rows=20, columns=20, seed=0), {}, GlsPlus()), []
    search.run(MaxSteps(5000), on_improvement=lambda s: heard.append((s, s.best_score)))
    assert heard
    assert all(announced is search for announced, _ in heard)
    scores = [score for _, score in heard]
    assert scores == sorted(set(scores))
    assert scores[-1] == search.best_score


def test_nothing_is_announced_where_nothing_improves() -> None:
    best = new_search(GRID, {}, GlsPlus())
    best.run(MaxSteps(50_000))
    search = Search(compile_model(GRID), {}, Greedy(), start=best.best_assignment)
    heard: list[Search] = []
    search.run(MaxSteps(2000), on_improvement=heard.append)
    assert heard == []


def test_a_search_with_nothing_free_says_so() -> None:
    search = new_search(GRID, dict.fromkeys(range(25), 1), GlsPlus())
    assert search.run(MaxSteps(100)) == "nothing to search"
    assert search.steps == 0
    assert search.best_assignment.tolist() == [1] * 25


@dataclass(frozen=True)
class TwoPaces(Strategy):
    """Every tenth call is of another kind."""

    name: ClassVar[str] = "two paces"

    def new_state(self, model: FlatModel, core: CoreState) -> list[int]:
        return []

    def at_work(self, own: list[int]) -> int:
        return int(len(own) % 10 == 9)

    def advance(self, model: FlatModel, core: CoreState, own: list[int], limits: Limits) -> int:
        counters = core.counters[0]
        own.append(limits.work - int(counters["work"]))
        counters["work"], counters["steps"] = limits.work, counters["steps"] + 1
        return RUNNING


def test_how_much_a_call_may_do_is_learned_for_each_kind_of_work() -> None:
    search = new_search(GRID, {}, TwoPaces())
    search.run(MaxSteps(12))
    assert search.own[0] == search.own[9] == FIRST_WORK
    assert min(search.own[8], search.own[10]) > FIRST_WORK


def test_a_search_that_is_over_stays_over() -> None:
    chain = families.ising_grid(rows=1, columns=4, field=0, seed=0)
    search = new_search(chain, {}, GlsPlus())
    assert search.run(MaxSteps(1000)) == "optimal"
    steps = search.steps
    assert search.run(MaxSteps(2000)) == "optimal"
    assert search.steps == steps


def test_the_number_of_threads_is_as_asked_or_one_per_core() -> None:
    assert num_threads(3) == 3
    assert num_threads(None) >= 1
    for wrong in (0, -2):
        with pytest.raises(UsageError, match=f"threads must be a whole number of at least 1; found {wrong}"):
            num_threads(wrong)


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
