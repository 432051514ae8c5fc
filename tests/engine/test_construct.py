"""Constructed starts: each variable takes the value with the best prospects, given those before."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon import MaxSteps, solve
from beacon.engine.construct import construct_assignment
from beacon.errors import UsageError
from beacon.model import families
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import kind_of
from beacon.strategies.auto import Auto
from beacon.strategies.gls import GlsPlus
from tests.engine.helpers import new_search, small_models, some_evidence, standing
from tests.small_strategies import small_models as random_models

MODELS = small_models()
GRID = families.ising_grid(rows=6, columns=6, wrap=True, seed=1)


def prospects(model: GraphicalModel, given: dict[int, int], variable: int, log_zero: float) -> list[float]:
    """By value: the sum of the best entries that the given values leave possible."""
    sums = []
    for value in range(model.domain_sizes[variable]):
        known, total = {**given, variable: value}, 0.0
        for factor in (f for f in model.factors if variable in f.scope):
            choices = [[known[i]] if i in known else range(model.domain_sizes[i]) for i in factor.scope]
            entries = [float(factor.log_table[place]) for place in itertools.product(*choices)]
            total += max(max(entry, log_zero) for entry in entries)
        sums.append(total)
    return sums


def check_constructed(model: GraphicalModel, evidence: dict[int, int], seed: int) -> None:
    """Follow the construction variable by variable, those with the most neighbours first."""
    search = new_search(model, evidence, GlsPlus(), seed)
    construct_assignment(search.model, search.core)
    built, known = standing(search), dict(evidence)
    neighbours = np.diff(search.model.neighbour_starts)
    known |= {i: 0 for i in range(model.num_variables) if model.domain_sizes[i] == 1}
    for variable in sorted(range(model.num_variables), key=lambda i: (-neighbours[i], i)):
        if variable not in known:
            sums = prospects(model, known, variable, search.model.log_zero)
            assert sums[built[variable]] == pytest.approx(max(sums), abs=1e-8)
        known[variable] = built[variable]
    assert all(built[variable] == value for variable, value in evidence.items())


@pytest.mark.parametrize("name", MODELS)
def test_each_variable_takes_a_value_with_the_best_prospects(name: str) -> None:
    for observed in range(3):
        check_constructed(MODELS[name], some_evidence(MODELS[name], observed, observed), observed)


@settings(max_examples=60, deadline=None)
@given(model=random_models(max_variables=6, max_factors=8, max_scope=4), seed=st.integers(0, 10**6))
def test_so_it_does_on_any_model(model: GraphicalModel, seed: int) -> None:
    check_constructed(model, some_evidence(model, seed % 2, seed), seed)


def test_equal_prospects_are_drawn_at_random() -> None:
    model = GraphicalModel.from_tables([3], [((0,), [1.0, 1.0, 0.0])])
    seen = set()
    for seed in range(20):
        search = new_search(model, {}, GlsPlus(), seed)
        construct_assignment(search.model, search.core)
        seen.add(standing(search)[0])
    assert seen == {0, 1}


def test_the_mix_can_begin_at_a_constructed_assignment_and_gls_begins_at_random() -> None:
    built = new_search(GRID, {}, GlsPlus())
    construct_assignment(built.model, built.core)
    assert standing(Search(built.model, {}, Auto(start="constructed"))) == standing(built)
    at_random = standing(new_search(GRID, {}, GlsPlus()))
    assert standing(Search(built.model, {}, Auto(), begin=kind_of("random"))) == at_random
    assert standing(Search(built.model, {}, GlsPlus())) == standing(new_search(GRID, {}, GlsPlus()))
    assert standing(Search(built.model, {}, GlsPlus(), begin=kind_of("constructed"))) == standing(built)


def test_any_strategy_can_be_asked_to_begin_there() -> None:
    scores = {
        start: solve(GRID, strategy="gls+", start=start, stop=MaxSteps(1)).trace.scores[0]
        for start in ("random", "constructed")
    }
    assert scores["constructed"] > scores["random"]


def test_an_unknown_kind_of_start_is_refused() -> None:
    with pytest.raises(
        UsageError, match="start must be 'random', 'constructed' or an assignment; found 'built'"
    ):
        solve(GRID, start="built")  # type: ignore[arg-type]
