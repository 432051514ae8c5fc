"""Speed of what users wait for, with pytest-benchmark: ``make bench``.

Searches begin at the same start every time, so that a round is the same work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from beacon.formats import uai
from beacon.guide.fast_guide import FastGuide, FastWeights
from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.propagate import fixed_values
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.runner.warm_up import warm_up
from beacon.strategies.strategy import STRATEGIES, make_strategy

STEPS = 50_000
ROUNDS = 5


def grid() -> GraphicalModel:
    return families.ising_grid(rows=40, columns=40, wrap=True, seed=0)


MODELS: dict[str, Callable[[], GraphicalModel]] = {
    "grid": grid,
    "diagnosis": lambda: families.diagnosis(num_diseases=200, num_findings=120, seed=0),
    "coloring": lambda: families.weighted_coloring(num_vertices=450, density=0.06, num_colors=3, seed=0),
    "dbn": lambda: families.deep_belief_net(width=20, height=20, hidden=(40, 20), seed=0),
}


def time_search(benchmark: Any, model: GraphicalModel, strategy: str) -> None:
    """Fresh searches of so many steps each; setting one up is not timed."""
    flat, plan = compile_model(model), make_strategy(strategy)
    warm_up(plan)

    def fresh() -> tuple[tuple[Search], dict[str, object]]:
        return (Search(flat, {}, plan, seed=1),), {}

    def run(search: Search) -> Search:
        search.run(MaxSteps(STEPS))
        return search

    search = benchmark.pedantic(run, setup=fresh, rounds=ROUNDS)
    assert search.steps >= STEPS
    benchmark.extra_info["nanoseconds a step"] = round(1e9 * benchmark.stats["min"] / search.steps)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_search_of_many_steps(benchmark: Any, name: str, strategy: str) -> None:
    time_search(benchmark, MODELS[name](), strategy)


def test_setting_up_a_search(benchmark: Any) -> None:
    flat, plan = compile_model(grid()), make_strategy("gls+")
    warm_up(plan)
    search = benchmark(lambda: Search(flat, {}, plan, seed=1))
    assert search.steps == 0


def test_compiling_a_model(benchmark: Any) -> None:
    model = grid()
    flat = benchmark(compile_model, model)
    assert flat.num_factors == model.num_factors


def test_reading_a_uai_text(benchmark: Any) -> None:
    model = grid()
    text = uai.write(model)
    read = benchmark(uai.read, text, "grid.uai")
    assert read.num_factors == model.num_factors


def test_propagating_evidence(benchmark: Any) -> None:
    model = families.diagnosis(num_diseases=200, num_findings=120, leak=0.0, seed=0)
    findings = {i: 0 for i, name in enumerate(model.names) if "_via_" not in name and i >= 200}
    flat = compile_model(model)
    fixed = benchmark(fixed_values, flat, findings, None)
    assert np.count_nonzero(fixed >= 0) > len(findings) + 500


def test_scoring_queries_with_the_fast_guide(benchmark: Any) -> None:
    model, rng = grid(), np.random.default_rng(0)
    moves, width, count = int(model.domain_sizes.sum()), 64, 100
    shapes = [(moves, width), (width, width), (width,), (width, moves), (moves,)]
    guide = FastGuide(model, FastWeights(*(rng.normal(0, 0.1, shape).astype(np.float32) for shape in shapes)))
    assignments = rng.integers(0, 2, (count, model.num_variables))
    observed = rng.random(assignments.shape) < 0.125
    scores = benchmark(guide.probabilities, assignments, observed)
    assert scores.shape == (count, moves)
    benchmark.extra_info["microseconds a query"] = round(1e6 * benchmark.stats["min"] / count, 1)
