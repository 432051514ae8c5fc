"""Starts by messages: exact on trees, and never a bad bargain where the factors are wide."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

import beacon
from beacon.engine import message_start
from beacon.engine.construct import construct_assignment
from beacon.engine.core import new_core
from beacon.engine.cross import cross_opinions
from beacon.engine.floored import floored_scores
from beacon.engine.message_start import (
    LEAST_PASSES,
    MOST_PASSES,
    begin_by_messages,
    begin_in_time,
    begin_where_it_pays,
)
from beacon.guide.solved import SolvedGuide
from beacon.guided.guidance import GuideUse
from beacon.model.families import ising_grid, weighted_coloring
from beacon.model.flat import as_fixed, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.runner import Query, Runner
from beacon.runner.stop import MaxSteps
from tests.engine.helpers import small_models, some_evidence

MODELS = small_models()


def begun(model: GraphicalModel, evidence: dict[int, int]) -> np.ndarray:
    flat = compile_model(model)
    core = new_core(flat, as_fixed(evidence, flat.num_variables), 0, flips=False)
    begin_by_messages(flat, core)
    return core.assignment.astype(np.int64)


def star(seed: int) -> GraphicalModel:
    rng = np.random.default_rng(seed)
    factors = [((0, leaf), rng.normal(size=(2, 3))) for leaf in range(1, 6)]
    fields = [((i,), rng.normal(size=2 if i == 0 else 3)) for i in range(6)]
    return GraphicalModel.from_tables([2, 3, 3, 3, 3, 3], [*factors, *fields])


@pytest.mark.parametrize("seed", range(5))
def test_on_a_star_the_start_is_the_optimum(seed: int) -> None:
    model = star(seed)
    found, evidence = begun(model, {3: 1}), {3: 1}
    assert found[3] == 1
    best = beacon.solve(model, evidence, stop=MaxSteps(1000))
    assert best.is_optimal
    assert model.log_score(found) == pytest.approx(best.log_score)


@pytest.mark.parametrize("name", MODELS)
def test_evidence_is_kept_and_the_values_are_possible(name: str) -> None:
    model, evidence = MODELS[name], some_evidence(MODELS[name], 2, 1)
    found = begun(model, evidence)
    model.check_assignment(found)
    assert found[list(evidence)].tolist() == list(evidence.values())


def test_on_a_grid_it_is_better_than_a_constructed_start() -> None:
    model = ising_grid(20, 20, seed=3)
    flat = compile_model(model)
    steps, made = MaxSteps(0), begun(model, {})
    constructed = beacon.solve(model, strategy="auto", start="constructed", stop=steps)
    assert floored_scores(flat, made[None])[0][0] > constructed.log_score


def descended(model: GraphicalModel, evidence: dict[int, int]) -> float:
    """The score of a constructed start after its descent."""
    flat = compile_model(model)
    core = new_core(flat, as_fixed(evidence, flat.num_variables), 0, flips=False)
    construct_assignment(flat, core)
    cross_opinions(flat, core, np.empty((0, flat.num_variables), dtype=np.int64))
    return float(floored_scores(flat, core.assignment[None].astype(np.int64))[0][0])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("most", [1, 4])
def test_it_is_no_worse_than_a_constructed_start_after_its_descent(name: str, most: int) -> None:
    model, evidence = MODELS[name], some_evidence(MODELS[name], 2, 1)
    flat = compile_model(model)
    core = new_core(flat, as_fixed(evidence, flat.num_variables), 0, flips=False)
    begin_by_messages(flat, core, most)
    assert np.array_equal(core.assignment, core.best)
    (found,), _ = floored_scores(flat, core.assignment[None].astype(np.int64))
    assert found >= descended(model, evidence) - 1e-9


def test_each_pass_adds_to_what_the_ones_before_have_found() -> None:
    flat, scores = compile_model(ising_grid(40, 40, seed=3)), []
    for most in (1, 2, 4, 8, 16):
        core = new_core(flat, as_fixed({}, flat.num_variables), 0, flips=False)
        begin_by_messages(flat, core, most)
        scores.append(floored_scores(flat, core.assignment[None].astype(np.int64))[0][0])
    assert scores == sorted(scores)
    assert scores[-1] > scores[0]


@pytest.mark.parametrize("name", MODELS)
def test_links_of_a_factor_are_partners(name: str) -> None:
    flat = compile_model(MODELS[name])
    links, factors = message_start._links(flat), flat.pairs[:, 0]
    for link, partner in enumerate(links.partners.tolist()):
        if flat.pairs[link, 2] < 0:
            assert partner == -1
        else:
            assert links.partners[partner] == link
            assert factors[partner] == factors[link]
            assert partner != link
    lengths = np.repeat(flat.domain_sizes, np.diff(flat.pair_starts))
    assert np.array_equal(np.diff(links.starts), lengths)
    joined = flat.pairs[:, 2] >= 0
    assert (
        message_start._num_entries(flat) == (lengths[joined] * flat.domain_sizes[flat.pairs[joined, 2]]).sum()
    )


def passes_of(begin: object) -> int:
    return begin.keywords["most"] if isinstance(begin, partial) else 0


def test_passes_are_as_many_as_the_time_limit_allows() -> None:
    flat = compile_model(ising_grid(60, 60, seed=1))
    counts = [passes_of(begin_in_time(flat, seconds)) for seconds in (1e-5, 0.002, 0.005, 0.01, 1.0)]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == MOST_PASSES
    assert begin_in_time(flat, 1e-5) is construct_assignment


def test_the_mix_begins_with_messages_where_a_few_passes_are_cheap() -> None:
    grid = compile_model(ising_grid(60, 60, seed=1))
    counts = [passes_of(begin_where_it_pays(grid, seconds)) for seconds in np.geomspace(1e-4, 1, 40)]
    assert counts[0] == 0
    assert counts[-1] == MOST_PASSES
    assert min(set(counts) - {0}) == LEAST_PASSES
    triples = [((i, i + 1, i + 2), np.arange(8.0)) for i in range(50)]
    wide = compile_model(GraphicalModel.from_tables([2] * 52, triples))
    assert begin_where_it_pays(wide, 1.0) is construct_assignment


def test_where_passes_are_dear_many_must_be_affordable() -> None:
    colouring = compile_model(weighted_coloring(100, density=0.5, num_colors=4, seed=1))
    dear = message_start._num_entries(colouring) / colouring.num_variables / message_start.DEAR
    counts = [passes_of(begin_where_it_pays(colouring, seconds)) for seconds in np.geomspace(1e-4, 1, 200)]
    assert LEAST_PASSES < dear <= min(set(counts) - {0}) < MOST_PASSES
    dense = compile_model(weighted_coloring(40, density=1.0, num_colors=30, seed=1))
    assert begin_where_it_pays(dense, 60.0) is construct_assignment


def test_no_pass_begins_that_would_end_late() -> None:
    flat = compile_model(ising_grid(60, 60, seed=1))
    now = [0.0]

    def clock() -> float:  # a second between two looks at it
        now[0] += 1.0
        return now[0]

    def looks(seconds: float) -> float:
        now[0] = 0.0
        core = new_core(flat, as_fixed({}, flat.num_variables), 0, flips=False)
        begin_by_messages(flat, core, 8, seconds, clock)
        return now[0]

    assert looks(4.5) < looks(8.5) < looks(1e9) == looks(math.inf)


def test_without_a_time_limit_the_clock_has_no_say() -> None:
    flat = compile_model(ising_grid(60, 60, seed=1))
    assert passes_of(begin_where_it_pays(flat, math.inf)) == MOST_PASSES
    runs = [beacon.solve(ising_grid(30, 30, seed=2), stop=MaxSteps(500), seed=4) for _ in range(2)]
    assert runs[0].trace.scores.tolist() == runs[1].trace.scores.tolist()


def test_a_guides_use_may_begin_by_messages_with_its_opinions_or_alone() -> None:
    model = ising_grid(10, 10, seed=2)
    best = beacon.solve(model, stop=beacon.MaxRuntime(0.2)).assignment
    guide = SolvedGuide(model, best[None])
    query = Query({})

    def score(use: GuideUse, steps: int = 0) -> float:
        runner = Runner(model, "gls+", guide, use, threads=1)
        ((_, outcome),) = runner.run([query], [MaxSteps(steps)], lambda _, found: found)
        return outcome.score

    alone, crossed = score(GuideUse("messages", opinions=0)), score(GuideUse("messages", opinions=1))
    assert alone == pytest.approx(model.log_score(begun(model, {})))
    assert crossed == pytest.approx(model.log_score(best)) or crossed > alone
    assert score(GuideUse("constructed", opinions=1)) >= score(GuideUse("constructed", opinions=0))


def test_a_search_that_is_over_ends_the_passes_whatever_its_limit() -> None:
    flat = compile_model(ising_grid(60, 60, seed=1))
    looks = [0]

    def clock() -> float:  # cancelled in the second pass
        looks[0] += 1
        return math.inf if looks[0] > 4 else 0.0

    core = new_core(flat, as_fixed({}, flat.num_variables), 0, flips=False)
    begin_by_messages(flat, core, MOST_PASSES, math.inf, clock)
    assert looks[0] == 5
