"""Starts crossed with opinions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beacon.engine import cross
from beacon.engine.core import CoreState, new_core, recount
from beacon.engine.cross import (
    Crossings,
    LaterOpinions,
    cross_opinions,
    descent_seconds,
    num_affordable,
)
from beacon.engine.floored import floored_scores
from beacon.engine.incumbent import first_best, floored_best_of
from beacon.model.families import ising_grid
from beacon.model.flat import FlatModel, as_fixed, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
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


HALVES = [[1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1]]


def at_zeros(share: float, work: int) -> tuple[FlatModel, CoreState, Crossings]:
    """A search of the two chains, at a local optimum, after this much work."""
    flat = compile_model(halves())
    core = new_core(flat, as_fixed({}, 7), 0, flips=False)
    recount(flat, core)
    first_best(core)
    core.counters[0]["work"] = work
    return flat, core, Crossings(LaterOpinions(np.array(HALVES), share))


def test_later_the_best_takes_what_opinions_have_and_the_place_stays() -> None:
    flat, core, crossings = at_zeros(0.5, 1_000_000)
    core.counters[0]["num_events"] = 0
    crossings.cross_due(flat, core)
    assert core.best.tolist() == [1, 1, 1, 0, 1, 1, 1]
    assert core.assignment.tolist() == [0] * 7
    (score,), _ = floored_scores(flat, core.best[None].astype(np.int64))
    assert floored_best_of(core) == pytest.approx(score)
    assert core.events["score"][: core.counters[0]["num_events"]].max() == pytest.approx(score)


def spent_on(flat: FlatModel, core: CoreState, crossings: Crossings, work: int = 0) -> int:
    """What crossing takes after this much more work."""
    core.counters[0]["work"] += work
    before = int(core.counters[0]["work"])
    crossings.cross_due(flat, core)
    return int(core.counters[0]["work"]) - before


def one_crossing(flat: FlatModel) -> int:
    return 1 + cross._num_values(flat) // cross.VALUES_PER_WORK


def test_crossing_takes_no_more_than_its_share_of_the_work() -> None:
    flat, core, crossings = at_zeros(0.5, 20)
    spent = 0
    for _ in range(200):
        spent += spent_on(flat, core, crossings, 1)
        assert spent <= 0.5 * core.counters[0]["work"]
    assert spent > 0
    flat, core, none = at_zeros(0.0, 10**9)
    assert spent_on(flat, core, none) == 0


def test_after_a_turn_of_all_opinions_without_a_gain_crossing_waits_for_a_better_best() -> None:
    flat, core, crossings = at_zeros(0.5, 10**9)
    one = one_crossing(flat)
    assert spent_on(flat, core, crossings) == 4 * one, "two that gain, then both once more"
    assert spent_on(flat, core, crossings, 10**9) == 0
    core.counters[0]["best_score"] += 1.0
    assert spent_on(flat, core, crossings, 10**9) == 2 * one


def test_crossing_gets_less_while_the_search_gains_more_in_as_much_work() -> None:
    flat, core, crossings = at_zeros(0.5, 1000)
    crossings.cross_due(flat, core)
    assert crossings.pace == 1.0, "it gained"
    for pace in (0.5, 0.25, 0.125):
        core.counters[0]["best_score"] += 1.0
        assert spent_on(flat, core, crossings, 1000) > 0
        assert crossings.pace == pace


def test_crossing_gets_more_of_its_share_again_once_it_gains() -> None:
    flat, core, crossings = at_zeros(0.5, 1000)
    crossings.pace, crossings.work, crossings.score = 0.25, 1, floored_best_of(core)
    assert spent_on(flat, core, crossings) > 0
    assert crossings.pace == 0.5


def test_the_mix_crosses_its_best_and_says_so_in_its_trace() -> None:
    model = ising_grid(30, 30, seed=3)
    flat = compile_model(model)
    long = Search(flat, {}, Auto())
    long.run(MaxSteps(200_000))
    later = LaterOpinions(long.best_assignment[None], 0.2)
    assert long.best_score > run_for(flat, None).best_score + 1e-6
    crossed = run_for(flat, later)
    assert crossed.best_score >= long.best_score - 1e-9
    assert crossed.trace.scores[-1] == pytest.approx(crossed.best_score)
    (score,), _ = floored_scores(flat, crossed.best_assignment[None])
    assert crossed.best_score == pytest.approx(score)
    in_parts = Search(flat, {}, Auto(), later=later)
    for steps in range(500, 20_001, 500):
        in_parts.run(MaxSteps(steps))
    assert in_parts.best_assignment.tolist() == crossed.best_assignment.tolist()


def run_for(flat: FlatModel, later: LaterOpinions | None) -> Search:
    search = Search(flat, {}, Auto(), later=later)
    search.run(MaxSteps(20_000))
    return search


def test_crossings_that_are_due_all_at_once_are_made_a_few_at_a_time() -> None:
    flat, core, crossings = at_zeros(0.5, 0)
    crossings.opinions = LaterOpinions(np.array(HALVES * 100), 0.5)
    one = one_crossing(flat)
    assert spent_on(flat, core, crossings, 80 * one) == 4 * one, "a tenth of the forty that are due"


def test_values_in_wide_factors_count_for_each_of_their_variables() -> None:
    def seconds(arity: int) -> float:
        table = (tuple(range(arity)), np.zeros(2**arity))
        return descent_seconds(compile_model(GraphicalModel.from_tables([2] * arity, [table])))

    assert seconds(6) == pytest.approx(4 * seconds(3))  # twice the links, of twice the variables
