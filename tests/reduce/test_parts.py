"""Independent parts of a query: how they are found, and that each keeps a best of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from tests.engine.helpers import advance, new_search, parts_of, small_models, some_evidence, standing
from tests.reference import Naive
from tests.small_strategies import small_models as random_models

MODELS = small_models()
HALF = slice(0, 9)
OTHER_HALF = slice(9, 18)


def naive_parts(model: GraphicalModel, evidence: dict[int, int]) -> set[frozenset[int]]:
    """Connected components of the variables that a search may change."""
    graph = model.primal_graph()
    waiting = {i for i in range(model.num_variables) if i not in evidence and model.domain_sizes[i] > 1}
    parts = set()
    while waiting:
        part, frontier = set(), {waiting.pop()}
        while frontier:
            part |= frontier
            frontier = {j for i in frontier for j in graph[i]} & waiting
            waiting -= frontier
        parts.add(frozenset(part))
    return parts


def two_halves() -> GraphicalModel:
    """Two frustrated grids that no factor joins."""
    grids = [families.ising_grid(rows=3, columns=3, wrap=True, seed=seed) for seed in (3, 4)]
    tables = [
        ([i + 9 * half for i in factor.scope], factor.log_table)
        for half, grid in enumerate(grids)
        for factor in grid.factors
    ]
    return GraphicalModel.from_tables([2] * 18, tables)


def score_of_half(model: GraphicalModel, half: slice, assignment: NDArray[np.int64]) -> float:
    inside = set(range(half.start, half.stop))
    tables = [(f.scope, f.log_table) for f in model.factors if set(f.scope) <= inside]
    return Naive(GraphicalModel.from_tables([2] * 18, tables), {}, -100.0).score(assignment.tolist())


def visited_states(search: Search, count: int) -> list[NDArray[np.int64]]:
    """Where a search stands at the start and after each flip or penalty."""
    states = [np.array(standing(search))]
    for _ in range(count):
        advance(search)
        states.append(np.array(standing(search)))
    return states


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("observed", [0, 2, 5])
def test_parts_are_the_connected_components_of_the_free_variables(name: str, observed: int) -> None:
    model = MODELS[name]
    evidence = some_evidence(model, observed, seed=2)
    assert parts_of(new_search(model, evidence, Greedy())) == naive_parts(model, evidence)


@settings(max_examples=80, deadline=None)
@given(model=random_models(max_variables=8, max_domain=2), seed=st.integers(0, 10**6))
def test_any_model_is_cut_into_its_components(model: GraphicalModel, seed: int) -> None:
    evidence = some_evidence(model, seed % 4, seed)
    assert parts_of(new_search(model, evidence, Greedy())) == naive_parts(model, evidence)


def test_an_observed_variable_separates_its_neighbours() -> None:
    chain = GraphicalModel.from_tables([2, 2, 2], [((0, 1), [0.0] * 4), ((1, 2), [0.0] * 4)])
    assert parts_of(new_search(chain, {}, Greedy())) == {frozenset({0, 1, 2})}
    assert parts_of(new_search(chain, {1: 0}, Greedy())) == {frozenset({0}), frozenset({2})}


def test_fixed_variables_belong_to_no_part() -> None:
    model = GraphicalModel.from_tables([2, 1, 2], [((0, 1, 2), [0.0, -1.0, -1.0, 0.0])])
    assert parts_of(new_search(model, {0: 1}, Greedy())) == {frozenset({2})}


@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_each_part_is_the_best_that_part_has_been_in(seed: int) -> None:
    model = two_halves()
    search = new_search(model, {}, GlsPlus(penalty_weight=2.0), seed)
    states = visited_states(search, 60)
    for half in (HALF, OTHER_HALF):
        best = max(score_of_half(model, half, state) for state in states)
        assert score_of_half(model, half, search.best_assignment) == pytest.approx(best)


def test_bests_of_the_halves_are_combined_without_ever_being_met_together() -> None:
    model = two_halves()
    combined = 0
    for seed in range(10):
        search = new_search(model, {}, GlsPlus(penalty_weight=2.0), seed)
        seen = max(model.log_score(state) for state in visited_states(search, 60))
        assert search.best_score == pytest.approx(model.log_score(search.best_assignment))
        assert search.best_score >= seen - 1e-9
        combined += search.best_score > seen + 1e-9
    assert combined > 0


def test_a_half_keeps_its_best_while_the_other_is_moved() -> None:
    tables = [((0,), [0.0, 5.0]), ((0,), [0.1, -0.1]), ((1, 2), [0.0, -2.0, -2.0, 1.0]), ((1,), [1.0, 0.0])]
    model = GraphicalModel.from_tables([2, 2, 2], tables)  # the two factors on 0 disagree: bound not reached
    search = Search(compile_model(model), {}, GlsPlus(penalty_weight=1.0), start=np.array([1, 0, 1]))
    visited_states(search, 50)
    assert search.best_assignment[0] == 1
    assert search.best_score == pytest.approx(Naive(model, {}, -100.0).best()[1])
