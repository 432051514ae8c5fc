"""Recognising Bayesian networks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import ModelError
from beacon.formats import read_model
from beacon.model.bayes import ancestral_order, child_of_factors
from beacon.model.factors import Factor
from beacon.model.families import diagnosis, ising_grid, pedigree, random_bayes_net
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import small_models

COPY = np.log([[0.9, 0.1], [0.1, 0.9]])  # normalised over both of its variables
PRIOR = np.log([0.3, 0.7])


def model_of(*factors: tuple[tuple[int, ...], np.ndarray]) -> GraphicalModel:
    """A model of as many binary variables as the factors mention."""
    return GraphicalModel.from_tables([2] * (1 + max(i for scope, _ in factors for i in scope)), factors)


def is_bayesian_by_trying_all(model: GraphicalModel) -> bool:
    """Try every order of the variables and every child of every factor."""
    choices = []
    for factor in model.factors:
        table = np.exp(factor.log_table)
        axes = [a for a in range(table.ndim) if np.allclose(table.sum(axis=a), 1, rtol=0, atol=1e-3)]
        choices.append([factor.scope[a] for a in axes] if factor.scope else [-1])
        if not factor.scope and factor.log_table != 0:
            return False
    for children in itertools.product(*choices):
        if sorted(c for c in children if c >= 0) != list(range(model.num_variables)):
            continue
        for order in itertools.permutations(range(model.num_variables)):
            if all(
                max(factor.scope, key=order.index, default=-1) == child
                for factor, child in zip(model.factors, children, strict=True)
            ):
                return True
    return False


def test_the_child_may_stand_anywhere_in_a_scope():
    or_gate = np.log(np.maximum([[[1, 0], [0, 0]], [[0, 1], [1, 1]]], 1e-300))  # child first
    model = model_of(((0,), PRIOR), ((1,), PRIOR), ((2, 0, 1), or_gate))
    assert child_of_factors(model) == [0, 1, 2]


def test_a_chain_of_symmetric_tables_is_read_from_its_prior():
    model = model_of(((0, 1), COPY), ((1, 2), COPY), ((2,), PRIOR))
    assert child_of_factors(model) == [0, 1, 2]
    assert ancestral_order(model, [0, 1, 2]) == [2, 1, 0]


def test_rounded_tables_are_accepted():
    model = model_of(((0,), np.log([0.3334, 0.6667])))
    assert child_of_factors(model) == [0]


@pytest.mark.parametrize(
    ("what", "factors"),
    [
        ("a cycle", [((0, 1), COPY), ((1, 0), COPY)]),
        ("a variable with two distributions", [((0,), PRIOR), ((0,), PRIOR), ((0, 1), COPY)]),
        ("two factors for one variable", [((0,), PRIOR), ((0,), PRIOR)]),
        ("unnormalised tables", [((0,), np.array([0.0, 1.0]))]),
        ("a zero row", [((0,), PRIOR), ((0, 1), np.log([[0.5, 0.5], [1e-300, 1e-300]]))]),
        ("huge potentials", [((0,), np.array([800.0, 0.0]))]),
        ("a constant that is not 1", [((0,), PRIOR), ((), np.array(0.5))]),
    ],
)
def test_other_models_are_refused(what, factors):
    assert child_of_factors(model_of(*factors)) is None, what


def test_a_variable_without_a_factor_is_refused():
    assert child_of_factors(GraphicalModel.from_tables([2, 2], [((0,), PRIOR)])) is None


def test_constants_of_one_are_no_ones_distribution():
    assert child_of_factors(model_of(((), np.array(0.0)), ((0,), PRIOR))) == [-1, 0]


@settings(max_examples=100, deadline=None)
@given(
    small_models(max_variables=3, max_domain=2, max_factors=4, potentials=st.sampled_from([0.0, 0.5, 1.0]))
)
def test_the_answer_is_that_of_trying_every_reading(model):
    assert (child_of_factors(model) is not None) == is_bayesian_by_trying_all(model)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.data())
def test_networks_are_recognised_in_any_order_of_factors_and_scopes(seed, data):
    net = random_bayes_net(8, max_parents=2, max_domain=3, seed=seed)
    shuffled = []
    for k in data.draw(st.permutations(range(8))):
        axes = data.draw(st.permutations(range(len(net.factors[k].scope))))
        scope = tuple(net.factors[k].scope[a] for a in axes)
        shuffled.append(Factor(scope, net.factors[k].log_table.transpose(axes).copy()))
    model = GraphicalModel(net.names, net.labels, tuple(shuffled))
    children = child_of_factors(model)
    assert children is not None
    place = {i: k for k, i in enumerate(ancestral_order(model, children))}
    assert sorted(place) == list(range(8))
    for child, factor in zip(children, model.factors, strict=True):
        assert all(place[i] <= place[child] for i in factor.scope)


def test_the_generated_families_are_told_apart():
    assert child_of_factors(diagnosis(seed=3)) is not None
    assert child_of_factors(pedigree(typed=0.0)) is not None
    assert child_of_factors(pedigree(typed=0.5)) is None
    assert child_of_factors(ising_grid(4, 4)) is None


def test_an_order_needs_an_acyclic_network():
    model = model_of(((0, 1), COPY), ((1, 0), COPY))
    with pytest.raises(
        ModelError, match="a Bayesian network needs parents before children; found a cycle: x"
    ):
        ancestral_order(model, [0, 1])


@pytest.mark.parametrize(
    ("file", "bayesian"),
    [
        ("paper/BN_30.uai.xz", True),
        ("paper/BN_45.uai.xz", True),
        ("paper/Promedas_62.uai.xz", True),
        ("more/or_chain_10.fg.uai.xz", True),
        ("more/cpcs54.uai.xz", True),
        ("bif/alarm.bif.xz", True),
        ("bif/munin1.bif.xz", True),
        ("paper/pedigree18.uai.xz", False),  # its evidence is built in
        ("paper/grid20x20.f5.wrap.uai.xz", False),
        ("paper/le450_5a_2.wcsp.uai.xz", False),
    ],
)
def test_published_models_are_told_apart(benchmark_files, file, bayesian):
    assert (child_of_factors(read_model(benchmark_files / file)) is not None) == bayesian
