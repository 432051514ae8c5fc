"""Starts crossed with opinions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beacon.engine.core import CoreState, new_core
from beacon.engine.cross import cross_opinions, num_affordable
from beacon.engine.floored import floored_scores
from beacon.model.families import ising_grid
from beacon.model.flat import FlatModel, as_fixed, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.strategies.auto import Auto
from tests.engine.helpers import small_models, some_evidence

MODELS = small_models()


def crossed(flat: FlatModel, evidence: dict[int, int], start: object, opinions: object) -> CoreState:
    core = new_core(flat, as_fixed(evidence, flat.num_variables), 0, flips=False)
    np.copyto(core.assignment, np.asarray(start), where=core.is_free)
    cross_opinions(flat, core, np.asarray(opinions))
    return core


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(5))
def test_the_outcome_is_no_worse_than_the_start_or_any_opinion(name: str, seed: int) -> None:
    model, rng = MODELS[name], np.random.default_rng(seed)
    flat, evidence = compile_model(model), some_evidence(model, 2, seed)
    rows = rng.integers(0, model.domain_sizes, (4, model.num_variables))
    rows[:, list(evidence)] = list(evidence.values())
    core = crossed(flat, evidence, rows[0], rows[1:])
    assert core.assignment[list(evidence)].tolist() == list(evidence.values())
    (found,), _ = floored_scores(flat, core.assignment[None].astype(np.int64))
    assert found >= floored_scores(flat, rows)[0].max() - 1e-9
    assert np.array_equal(core.assignment, core.best)
    assert not core.is_changed.any()
    assert core.counters[0]["num_events"] == 0


def halves() -> GraphicalModel:
    """Two chains, 0 to 2 and 4 to 6: in each all values want to be 1, and to be equal even more."""
    equal, nothing, field = np.array([[5.0, 0.0], [0.0, 5.0]]), np.zeros((2, 2)), np.array([0.0, 1.0])
    pairs = [((i, i + 1), nothing if i in {2, 3} else equal) for i in range(6)]
    return GraphicalModel.from_tables([2] * 7, [*pairs, *(((i,), field) for i in (0, 1, 2, 4, 5, 6))])


def test_each_opinion_gives_the_cluster_in_which_it_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beacon.engine.cross.construct_assignment", lambda model, core: None)  # it is best
    flat = compile_model(halves())
    zeros = [0] * 7  # a local optimum: to flip one variable breaks its chain
    one_half, other_half = [1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1]
    assert crossed(flat, {}, zeros, [zeros]).assignment.tolist() == zeros
    assert crossed(flat, {}, zeros, [one_half, other_half]).assignment.tolist() == [1, 1, 1, 0, 1, 1, 1]


def test_a_constructed_start_is_one_of_the_opinions() -> None:
    found = crossed(compile_model(halves()), {3: 0}, [0] * 7, [[0] * 7])
    assert found.assignment.tolist() == [1, 1, 1, 0, 1, 1, 1]


def test_a_search_begins_at_the_crossed_start() -> None:
    flat = compile_model(ising_grid(12, 12, seed=3))
    rng = np.random.default_rng(0)
    start, *opinions = rng.integers(0, 2, (6, 144))
    plain = Search(flat, {}, Auto(exact=False), start)
    better = Search(flat, {}, Auto(exact=False), start, opinions=np.array(opinions))
    assert better.best_score > plain.best_score
    assert better.trace.scores[0] == better.best_score
    assert better.trace.scores[0] == pytest.approx(
        floored_scores(flat, crossed(flat, {}, start, opinions).assignment[None].astype(np.int64))[0][0]
    )


def test_time_limits_how_many_opinions_are_taken() -> None:
    flat = compile_model(ising_grid(50, 50))
    few, many = num_affordable(flat, 0.01), num_affordable(flat, 0.1)
    assert 0 < few < many
    assert many + 2 == pytest.approx(10 * (few + 2))  # the start and a constructed one come first
    assert num_affordable(flat, 1e-5) == 0
    assert num_affordable(flat, math.inf) == math.inf
