"""One search: where it begins, how it goes on, what it says of itself."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from beacon.errors import UsageError
from beacon.model import families
from beacon.model.flat import compile_model
from beacon.runner.pool import num_threads
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime, MaxSteps
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from tests.engine.helpers import new_search, small_models, some_evidence, standing
from tests.reference import Naive

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
