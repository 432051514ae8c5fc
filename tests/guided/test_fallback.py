"""Guides that mislead: what a search does about them, and what they then cost."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from beacon.guided.guidance import Guidance
from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import Strategy
from tests.engine.helpers import penalties_of, standing

MODELS = {
    "grid": families.ising_grid(8, 8, seed=2),
    "diagnosis": families.diagnosis(num_diseases=40, num_findings=25, seed=1),
    "bayes": families.random_bayes_net(num_variables=60, max_domain=3, zero_fraction=0.4, seed=4),
}
SEEDS = range(20)
STEPS = 600
Scores = NDArray[np.float32]


def oracle_of(model: GraphicalModel, assignment: NDArray[np.int64]) -> Scores:
    """Scores of a guide that is sure of an assignment."""
    rows = [np.arange(size) == value for size, value in zip(model.domain_sizes, assignment, strict=True)]
    return np.concatenate(rows).astype(np.float32)


def wrong_scores(model: GraphicalModel, seed: int) -> Scores:
    """Those of a guide that is sure of an assignment drawn at random."""
    return oracle_of(model, np.random.default_rng(seed).integers(model.domain_sizes))


def search_of(model: GraphicalModel, strategy: Strategy, seed: int) -> Search:
    return Search(compile_model(model), {}, strategy, seed=seed)


def unguided_score(model: GraphicalModel, strategy: Strategy) -> float:
    """Mean best score after so many steps."""
    searches = [search_of(model, strategy, seed) for seed in SEEDS]
    for search in searches:
        search.run(MaxSteps(STEPS))
    return float(np.mean([search.best_score for search in searches]))


def misled_score(model: GraphicalModel, strategy: Strategy, guidance: Guidance, steps: int) -> float:
    """The same with guides that are sure of random assignments."""
    searches = [search_of(model, strategy, seed) for seed in SEEDS]
    for seed, search in zip(SEEDS, searches, strict=True):
        search.run(MaxSteps(steps), scores=wrong_scores(model, seed), guidance=guidance)
    return float(np.mean([search.best_score for search in searches]))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("strategy", [GlsPlus(), Greedy()], ids=["gls+", "greedy"])
@pytest.mark.parametrize("weight", [0.7, 1.0])
def test_a_misled_search_is_level_with_an_unguided_one_after_four_times_the_steps(
    name: str, strategy: Strategy, weight: float
) -> None:
    model = MODELS[name]
    misled = misled_score(model, strategy, Guidance(weight, "all"), 4 * STEPS)
    assert misled >= unguided_score(model, strategy)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("strategy", [GlsPlus(), Greedy()], ids=["gls+", "greedy"])
def test_without_a_fallback_it_is_not_level_after_ten_times_the_steps(name: str, strategy: Strategy) -> None:
    misled = misled_score(MODELS[name], strategy, Guidance(1.0, "all", fallback=False), 10 * STEPS)
    assert misled < unguided_score(MODELS[name], strategy)


@pytest.mark.parametrize("name", MODELS)
def test_restarts_from_a_misleading_guide_cost_twice_the_steps(name: str) -> None:
    guidance = Guidance(0.0, restart_from="guide")
    misled = misled_score(MODELS[name], Greedy(), guidance, 3 * STEPS)
    assert misled >= unguided_score(MODELS[name], Greedy())


def test_without_a_fallback_all_restarts_are_the_guides() -> None:
    model, guidance = MODELS["grid"], Guidance(0.0, restart_from="guide", fallback=False)
    assert misled_score(model, Greedy(), guidance, 10 * STEPS) < unguided_score(model, Greedy())


def is_alone(search: Search) -> bool:
    """Does the search go its own way at present? Only the guide's part of the state says."""
    guided = search._guided
    assert guided is not None
    return bool(guided._guide.counters[0]["is_alone"])


def test_a_search_goes_on_without_the_guide_from_where_it_was_led() -> None:
    model, wrong = MODELS["grid"], np.random.default_rng(0).integers(2, size=64)
    search, scores, guidance = search_of(model, GlsPlus(), 0), oracle_of(model, wrong), Guidance(1.0, "all")
    search.run(MaxSteps(1), scores=scores, guidance=guidance)
    while not is_alone(search):
        before = standing(search)
        search.run(MaxSteps(search.steps + 1), scores=scores, guidance=guidance)
    assert search.steps >= 64
    assert sum(old != new for old, new in zip(before, standing(search), strict=True)) == 1  # no restart
    assert not any(penalties_of(search, model).values())


def test_turns_without_the_guide_take_about_a_third_of_the_steps() -> None:
    model = MODELS["grid"]
    search, guidance = search_of(model, GlsPlus(), 0), Guidance(1.0, "all")
    scores, alone = oracle_of(model, np.random.default_rng(0).integers(2, size=64)), 0
    for steps in range(100, 20_001, 100):
        search.run(MaxSteps(steps), scores=scores, guidance=guidance)
        alone += is_alone(search)
    assert 0.2 < alone / 200 < 0.6


def test_with_the_right_guide_the_fallback_has_nothing_to_do() -> None:
    model = MODELS["grid"]
    best = search_of(model, GlsPlus(), 1)
    best.run(MaxSteps(20_000))
    runs = []
    for fallback in (False, True):
        search = search_of(model, GlsPlus(), 0)
        guidance = Guidance(0.5, "all", fallback=fallback)
        search.run(MaxSteps(60), scores=oracle_of(model, best.best_assignment), guidance=guidance)
        runs.append(search.trace.scores.tolist())
    assert runs[0] == runs[1]
    assert runs[0][-1] == pytest.approx(best.best_score)
