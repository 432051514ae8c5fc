from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from drift import Drift, Step, alpha, can_walk, expected_hitting_bound, measure_drift
from drift import walk as walk_of

from beacon.evaluation.method import Budget, EngineMethod, Network, Query
from beacon.model.families import ising_grid
from beacon.model.flat import compile_model
from beacon.runner.stop import random_start
from tests.evaluation.test_guided_method import EVEN, NETWORK, guided, queries


def walk(*states: str, jumps: tuple[int, ...] = ()) -> list[Step]:
    """Steps to states written as digits; the steps at ``jumps`` are no moves."""
    return [Step(assignment(text), k not in jumps) for k, text in enumerate(states)]


def assignment(text: str) -> np.ndarray:
    return np.array([int(digit) for digit in text])


def test_moves_count_at_any_distance_above_zero() -> None:
    # distances to 1111: 3 → 2 → 3 → 2 → 1 → 0 → 1 → 0; the move that leaves the reference does not count
    steps = walk("1100", "1000", "1010", "1011", "1111", "0111", "1111")
    assert measure_drift(assignment("1000"), steps, assignment("1111")) == Drift(6, 5, 3, 5)


def test_a_move_between_two_wrong_values_is_not_closer() -> None:
    assert measure_drift(assignment("02"), walk("00", "01"), assignment("11")) == Drift(2, 1, 2, None)


def test_a_restart_is_no_move_even_if_it_comes_closer() -> None:
    steps = walk("1110", "1111", jumps=(0,))
    assert measure_drift(assignment("0000"), steps, assignment("1111")) == Drift(1, 1, 4, 2)


def test_a_search_that_begins_at_its_reference_has_arrived() -> None:
    assert measure_drift(assignment("01"), walk("11", "01"), assignment("01")) == Drift(1, 1, 0, 0)


def test_alpha_is_the_share_of_closer_moves() -> None:
    assert alpha(8, 6) == 0.75
    assert math.isnan(alpha(0, 0))


@pytest.mark.parametrize(("distance", "share", "bound"), [(10, 0.75, 20.0), (10, 1.0, 10.0), (0, 0.2, 0.0)])
def test_the_bound_of_the_convergence_theorem(distance: int, share: float, bound: float) -> None:
    assert expected_hitting_bound(distance, share) == pytest.approx(bound)


@pytest.mark.parametrize("share", [0.5, 0.3, math.nan])
def test_the_theorem_says_nothing_without_a_drift(share: float) -> None:
    assert expected_hitting_bound(10, share) == math.inf


@pytest.mark.parametrize("name", ["greedy", "gls+"])
def test_a_walk_follows_the_very_search_that_is_measured(name: str) -> None:
    model = ising_grid(rows=4, columns=4, seed=2)
    network, method = Network("grid", model, compile_model(model)), EngineMethod.named(name)
    evidence = {0: 1, 5: 0}
    query = Query(0, evidence, random_start(model, evidence, seed=3))
    states = [step.assignment.copy() for step in walk_of(method, network, query, 3, 120)]
    scores = [model.log_score(state) for state in [query.start, *states]]
    ((_, run),) = method.run(network, [query], Budget(steps=(1, 60, 120)), 3, threads=1)
    for steps in (1, 60, len(states)):
        assert run.trace.best_at(steps) == pytest.approx(max(scores[: steps + 1]))


def test_tree_moves_cannot_be_followed() -> None:
    assert can_walk(EngineMethod.named("gls+"))
    assert not can_walk(EngineMethod.named("tree"))


def test_a_walk_of_a_guided_method_scores_as_often_as_its_search() -> None:
    method, guide = guided(replace(EVEN, refresh=3))
    (query,) = queries(1)
    states = [step.assignment.copy() for step in walk_of(method, NETWORK, query, 0, 40)]
    assert len(states) == 40
    assert guide.asked == [1] * 14
    scores = [NETWORK.model.log_score(state) for state in [query.start, *states]]
    ((_, found),) = method.run(NETWORK, [query], Budget(steps=(40,)), 0, 1)
    assert [found.trace.best_at(k) for k in range(41)] == pytest.approx(np.maximum.accumulate(scores))
