"""Starts by messages: exact on trees, and never a bad bargain where the factors are wide."""

from __future__ import annotations

import numpy as np
import pytest

import beacon
from beacon.engine.core import new_core
from beacon.engine.floored import floored_scores
from beacon.engine.message_start import begin_by_messages
from beacon.guide.solved import SolvedGuide
from beacon.guided.guidance import GuideUse
from beacon.model.families import ising_grid
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
