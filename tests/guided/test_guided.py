"""Guided selection against the formula computed the long way, and what follows from the formula."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beacon.guided.guidance import Candidates, Guidance
from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import Strategy
from tests.engine.helpers import new_search, small_models, some_evidence, standing
from tests.reference import Move, Naive
from tests.small_strategies import small_models as random_models

MODELS = small_models()
CANDIDATES: list[Candidates] = ["improving", "all"]
STRATEGIES = [Greedy(), GlsPlus(penalty_weight=2.5), GlsPlus(20.0, smoothing=0.5, smoothing_interval=3)]
IDS = ["greedy", "gls+", "gls+ with smoothing"]
Scores = NDArray[np.float32]


def random_scores(model: GraphicalModel, seed: int, levels: int = 0) -> Scores:
    """Random scores, of a few levels (and so often tied) if asked."""
    rng, size = np.random.default_rng(seed), int(model.domain_sizes.sum())
    numbers = rng.integers(levels, size=size) / (levels - 1) if levels else rng.random(size)
    return numbers.astype(np.float32)


def by_move(model: GraphicalModel, scores: Scores) -> dict[Move, float]:
    moves = [(i, v) for i in range(model.num_variables) for v in range(model.domain_sizes[i])]
    return {move: float(score) for move, score in zip(moves, scores, strict=True)}


def step(search: Search, scores: Scores, guidance: Guidance) -> str:
    return search.run(MaxSteps(search.steps + 1), scores=scores, guidance=guidance)


def follow(search: Search, naive: Naive, scores: Scores, guidance: Guidance, steps: int) -> int:
    """Advance a search flip by flip; each flip must be one that the formula allows. Count those checked."""
    strategy, lookup, checked, optima = search.strategy, by_move(naive.model, scores), 0, 0
    for _ in range(steps):
        before = standing(search)
        if step(search, scores, guidance) != "steps":
            break
        after = standing(search)
        while isinstance(strategy, GlsPlus) and not naive.best_moves(before):
            optima += 1
            if strategy.smoothing < 1 and optima % strategy.smoothing_interval == 0:
                naive.smooth(strategy.smoothing)
            naive.penalise(before)
        allowed = naive.guided_moves(before, lookup, guidance.weight, guidance.candidates)
        if allowed:  # else Greedy has restarted before its flip
            changes = [(i, after[i]) for i in range(len(after)) if before[i] != after[i]]
            assert len(changes) == 1
            assert changes[0] in allowed
            checked += 1
    return checked


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=IDS)
def test_each_flip_is_one_that_the_formula_selects(
    name: str, candidates: Candidates, strategy: Strategy
) -> None:
    checked = 0
    for seed, (observed, weight) in enumerate([(0, 0.5), (2, 0.2), (2, 1.0)]):
        evidence = some_evidence(MODELS[name], observed, seed)
        search = new_search(MODELS[name], evidence, strategy, seed)
        naive = Naive(MODELS[name], evidence, search.model.log_zero, getattr(strategy, "penalty_weight", 0.0))
        scores = random_scores(MODELS[name], seed, levels=3 * (seed % 2))
        guidance = Guidance(weight, candidates, stall=0)
        checked += follow(search, naive, scores, guidance, steps=12)
    assert checked > 5


@settings(max_examples=40, deadline=None)
@given(
    model=random_models(),
    seed=st.integers(0, 10**6),
    weight=st.sampled_from([0.1, 0.5, 0.9, 1.0]),
    candidates=st.sampled_from(CANDIDATES),
    levels=st.sampled_from([0, 2, 4]),
)
def test_any_model_is_searched_by_the_formula(
    model: GraphicalModel, seed: int, weight: float, candidates: Candidates, levels: int
) -> None:
    evidence = some_evidence(model, seed % 3, seed)
    search = Search(compile_model(model), evidence, GlsPlus(penalty_weight=2.0), seed=seed)
    naive = Naive(model, evidence, search.model.log_zero, 2.0)
    follow(search, naive, random_scores(model, seed, levels), Guidance(weight, candidates, stall=0), 15)
    x = standing(search)
    assert search.score == pytest.approx(naive.score(x), abs=1e-6)
    assert search.best_score == pytest.approx(naive.score(search.best_assignment.tolist()), abs=1e-6)
    assert {i: x[i] for i in evidence} == evidence


def multi_valued() -> GraphicalModel:
    return families.weighted_coloring(num_vertices=30, density=0.2, num_colors=4, seed=3)


BIGGER = {
    "grid": families.ising_grid(rows=9, columns=9, wrap=True, seed=2),
    "coloring": multi_valued(),
    "bayes": families.random_bayes_net(num_variables=70, max_domain=3, zero_fraction=0.3, seed=4),
    "diagnosis": families.diagnosis(num_diseases=15, num_findings=8, seed=1),
}


@pytest.mark.parametrize("name", BIGGER)
@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize(
    "strategy", [Greedy(), GlsPlus(), GlsPlus(smoothing=0.99, smoothing_interval=5)], ids=IDS
)
@pytest.mark.parametrize("levels", [0, 3])
def test_trees_kept_over_many_steps_select_what_fresh_ones_select(
    name: str, candidates: Candidates, strategy: Strategy, levels: int
) -> None:
    model, guidance = BIGGER[name], Guidance(0.5, candidates, stall=0.5)
    evidence, scores = some_evidence(model, 3, 1), random_scores(model, 5, levels)
    whole, stepwise = (new_search(model, evidence, strategy, seed=2) for _ in range(2))
    whole.run(MaxSteps(300), scores=scores, guidance=guidance)
    while step(stepwise, scores, guidance) == "steps" and stepwise.steps < 300:  # builds the trees each time
        pass
    assert whole.steps == stepwise.steps
    assert standing(whole) == standing(stepwise)
    assert whole.trace.steps.tolist() == stepwise.trace.steps.tolist()


@pytest.mark.parametrize("name", BIGGER)
@pytest.mark.parametrize("seed", range(3))
def test_an_oracle_leads_to_the_reference_in_as_many_steps_as_values_are_wrong(name: str, seed: int) -> None:
    model, rng = BIGGER[name], np.random.default_rng(seed)
    reference = np.array([rng.integers(size) for size in model.domain_sizes])
    scores = np.concatenate(
        [np.eye(s, dtype=np.float32)[v] for s, v in zip(model.domain_sizes, reference, strict=True)]
    )
    evidence = {i: int(reference[i]) for i in rng.choice(model.num_variables, 4, replace=False)}
    search = new_search(model, evidence, GlsPlus(), seed)  # its penalty rounds are not steps
    guidance = Guidance(1.0, "all", stall=0)
    for left in range(int((standing(search) != reference).sum()), 0, -1):
        assert (standing(search) != reference).sum() == left
        assert step(search, scores, guidance) == "steps"
    assert standing(search) == reference.tolist()


@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize("strategy", [Greedy(), GlsPlus()], ids=lambda s: s.name)
@pytest.mark.parametrize("weight", [0.2, 0.9])
def test_a_guide_that_favours_nothing_changes_nothing(
    candidates: Candidates, strategy: Strategy, weight: float
) -> None:
    model = no_two_gains_are_equal()
    alone, guided = (new_search(model, {3: 1}, strategy, seed=5) for _ in range(2))
    scores = np.full(int(model.domain_sizes.sum()), 0.7, dtype=np.float32)
    for steps in itertools.islice(itertools.count(7, 7), 60):
        alone.run(MaxSteps(steps))
        guided.run(MaxSteps(steps), scores=scores, guidance=Guidance(weight, candidates, stall=0))
        assert standing(alone) == standing(guided)
    assert alone.best_score == guided.best_score
    assert alone.trace.steps.tolist() == guided.trace.steps.tolist()
    assert alone.trace.steps[-1] < alone.steps  # local optima were met and left


def no_two_gains_are_equal() -> GraphicalModel:
    """Random tables over random pairs and triples of variables of two to four values."""
    rng, sizes = np.random.default_rng(0), [2, 3, 4, 2, 3] * 6
    scopes = [rng.choice(30, size=2 + k % 2, replace=False).tolist() for k in range(60)]
    return GraphicalModel.from_tables(
        sizes, [(scope, rng.normal(size=[sizes[i] for i in scope]).ravel()) for scope in scopes]
    )
