"""Factors as arrays: views, conditions and digests against one factor at a time."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import ModelError
from beacon.model.factors import Factors
from beacon.model.families import ising_grid
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.model.sweep import sweep_width
from beacon.model.width import width_bound
from tests.model.test_width import treewidth
from tests.small_strategies import same_factors, small_models

PAIR = GraphicalModel.from_tables([2, 3], [((1, 0), np.arange(6.0)), ((), [0.5]), ((0,), [1.0, -np.inf])])


def test_a_factor_is_a_view_made_on_request() -> None:
    factor = PAIR.factors[0]
    assert (factor.scope, factor.log_table.shape) == ((1, 0), (3, 2))
    assert np.shares_memory(factor.log_table, PAIR.factors.log_table)
    assert [f.scope for f in PAIR.factors] == [f.scope for f in PAIR.factors[:]] == [(1, 0), (), (0,)]
    assert PAIR.factors[-1].log_table.tolist() == [1.0, -np.inf]
    with pytest.raises(IndexError):
        PAIR.factors[3]


def test_a_copy_in_another_process_is_the_same_and_frozen() -> None:
    copy = pickle.loads(pickle.dumps(PAIR))
    assert same_factors(copy, PAIR)
    assert copy.names == PAIR.names
    with pytest.raises(ValueError, match="read-only"):
        copy.factors.log_table[0] = 1.0


def test_a_flat_model_shares_tables_without_zeros() -> None:
    grid = ising_grid(3, 3)
    assert np.shares_memory(compile_model(grid).log_table, grid.factors.log_table)
    assert not np.shares_memory(compile_model(PAIR).log_table, PAIR.factors.log_table)


@pytest.mark.parametrize(
    ("variables", "log_table", "problem"),
    [
        ([0, 2], np.zeros(4), r"factor 0 over variables \[0, 2\]: variables are 0..1, found 2"),
        ([1, 1], np.zeros(4), r"factor 0 over variables \[1, 1\]: a variable occurs twice"),
        ([0, 1], np.zeros(5), "expected 4 table entries, found 5"),
        ([0, 1], np.array([0, 0, 0, np.nan]), r"log-potentials must be numbers below \+inf, found nan"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(
    variables: list[int], log_table: np.ndarray, problem: str
) -> None:
    with pytest.raises(ModelError, match=problem):
        Factors(np.array([2, 2]), np.array([2]), np.array(variables), log_table)


def test_a_repeat_in_a_wide_scope_is_found() -> None:
    arities, variables = np.array([1, 3, 2]), np.array([0, 2, 1, 2, 0, 1])
    with pytest.raises(ModelError, match=r"factor 1 over variables \[2, 1, 2\]: a variable occurs twice"):
        Factors(np.full(3, 2), arities, variables, np.zeros(14))


@settings(max_examples=60, deadline=None)
@given(small_models(), st.data())
def test_conditioning_cuts_each_table(model: GraphicalModel, data: st.DataObject) -> None:
    observed = data.draw(st.sets(st.sampled_from(range(model.num_variables))))
    evidence = {i: data.draw(st.integers(0, len(model.labels[i]) - 1)) for i in observed}
    found = model.factors.conditioned(evidence)
    for old, new in zip(model.factors, found, strict=True):
        cut = tuple(evidence.get(i, slice(None)) for i in old.scope)
        np.testing.assert_array_equal(new.log_table, old.log_table[cut])


@settings(max_examples=60, deadline=None)
@given(small_models(max_variables=7, max_factors=8))
def test_a_sweep_is_never_below_the_treewidth(model: GraphicalModel) -> None:
    assert sweep_width(model.factors) >= treewidth(model.primal_graph())


def test_a_sweep_of_a_grid_keeps_its_shorter_side() -> None:
    assert sweep_width(ising_grid(40, 300).factors) <= 41
    assert sweep_width(GraphicalModel.from_tables([2] * 5, []).factors) == 0


def test_a_rough_bound_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = ising_grid(30, 30)
    assert not width_bound(grid.factors).is_rough
    monkeypatch.setattr("beacon.model.width.MAX_MIN_DEGREE_VARIABLES", 100)
    assert width_bound(grid.factors) == (30, True)
