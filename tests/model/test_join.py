"""Factors of equal scope joined: the same scores and zeros, fewer tables, and what rounding may do."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import beacon
from beacon.model.families import ising_grid
from beacon.model.flat import FlatModel, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.model.join import join_factors
from beacon.runner.runner import Runner
from tests.reference import assignments
from tests.small_strategies import small_models


def entries_of(flat: FlatModel, assignment: list[int]) -> list[float]:
    """The entry of each factor, by scopes and strides."""
    places = [flat.scopes[begin:end].tolist() for begin, end in pairwise(flat.scope_starts.tolist())]
    steps = [sum(assignment[i] * stride for i, stride in rows) for rows in places]
    return [
        float(flat.log_table[first + step]) for first, step in zip(flat.table_starts, steps, strict=False)
    ]


def exact_score(flat: FlatModel, assignment: list[int]) -> tuple[int, Fraction]:
    """Zeros, and the sum of all else without any rounding."""
    entries = entries_of(flat, assignment)
    return entries.count(flat.log_zero), sum((Fraction(e) for e in entries if e != flat.log_zero), Fraction())


def scopes_of(flat: FlatModel) -> list[frozenset[int]]:
    bounds = pairwise(flat.scope_starts.tolist())
    return [frozenset(flat.scopes[begin:end, 0].tolist()) for begin, end in bounds]


@st.composite
def doubled_models(draw: st.DrawFn) -> GraphicalModel:
    """A model some of whose factors come again with other tables and their variables in another order."""
    model = draw(small_models(max_variables=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = [(factor.scope, factor.log_table) for factor in model.factors]
    for factor in model.factors:
        for _ in range(draw(st.integers(0, 2))):
            scope = tuple(rng.permutation(factor.scope).tolist())
            shape = [int(model.domain_sizes[i]) for i in scope]
            tables.append((scope, rng.normal(scale=draw(st.sampled_from([1e-3, 1.0, 1e6])), size=shape)))
    order = rng.permutation(len(tables))
    return GraphicalModel.from_tables(model.domain_sizes.tolist(), [tables[k] for k in order])


@settings(max_examples=150, deadline=None)
@given(doubled_models())
def test_scores_are_the_same_but_for_what_rounding_may_do(model: GraphicalModel) -> None:
    flat = compile_model(model)
    joined = join_factors(flat)
    for assignment in list(assignments(model, {}))[:50]:
        zeros, score = exact_score(flat, assignment)
        joined_zeros, joined_score = exact_score(joined, assignment)
        assert joined_zeros == zeros
        if zeros == 0:
            assert abs(joined_score - score) <= joined.off_by


@settings(max_examples=60, deadline=None)
@given(doubled_models())
def test_no_two_factors_without_zeros_have_the_same_variables(model: GraphicalModel) -> None:
    flat = compile_model(model)
    joined = join_factors(flat)
    has_zeros = [
        bool((joined.log_table[begin:end] == joined.log_zero).any())
        for begin, end in pairwise(joined.table_starts.tolist())
    ]
    scopes = [scope for scope, zeros in zip(scopes_of(joined), has_zeros, strict=True) if not zeros]
    if joined is not flat:
        assert len(set(scopes)) == len(scopes)
    assert set(scopes_of(joined)) == set(scopes_of(flat))


def test_a_model_without_equal_scopes_is_itself() -> None:
    flat = compile_model(ising_grid(4, 4))
    assert join_factors(flat) is flat
    assert flat.off_by == 0.0


def test_sums_that_would_pass_for_zeros_are_not_made() -> None:
    hard = ((0, 1), np.array([[0.0, -np.inf], [0.0, 0.0]]))
    low = [((1, 2), np.full((2, 2), -60.0)), ((2, 1), np.full((2, 2), -60.0))]
    flat = compile_model(GraphicalModel.from_tables([2, 2, 2], [hard, *low]), log_zero=-100.0)
    assert join_factors(flat) is flat
    free = compile_model(GraphicalModel.from_tables([2, 2, 2], low))
    assert join_factors(free).num_factors == 1


@pytest.mark.parametrize(("strategy", "joins"), [("auto", True), ("gls+", False), ("greedy", False)])
def test_only_the_mix_searches_joined_factors(strategy: str, joins: bool) -> None:
    table = np.arange(4.0).reshape(2, 2)
    model = GraphicalModel.from_tables([2, 2], [((0, 1), table), ((1, 0), table)])
    runner = Runner(model, strategy)
    assert runner.searched.num_factors == (1 if joins else 2)
    assert runner.flat.num_factors == 2


@settings(max_examples=25, deadline=None)
@given(doubled_models())
def test_the_mix_finds_the_optimum_of_doubled_models(model: GraphicalModel) -> None:
    result = beacon.solve(model, stop=beacon.MaxSteps(200))
    best = max(model.log_score(x) for x in assignments(model, {}))
    assert result.log_score == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_models_of_wide_ranges_and_zeros_are_joined_and_solved() -> None:
    pair = (0, 1)
    tables = [(pair, [0.0, 6e14, 1.0, -np.inf]), (pair, [0.0, 1.0, 2.0, 3.0]), (pair, [0.0, 1.0, 2.0, 3.0])]
    model = GraphicalModel.from_tables([2, 2], tables)
    assert beacon.solve(model, strategy="auto", stop=beacon.MaxSteps(10)).assignment.tolist() == [0, 1]
