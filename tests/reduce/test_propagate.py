"""What evidence implies, against brute force and against a naive version."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.propagate import fixed_values
from tests.engine.helpers import small_models, some_evidence
from tests.reference import assignments, log_potential
from tests.small_strategies import POTENTIALS
from tests.small_strategies import small_models as random_models

MODELS = small_models()
MOSTLY_POSITIVE = st.sampled_from([0.0, 1.0, 2.0, 3.0])
IMPLICATION = [0.0, -math.inf, 0.0, 0.0]  # the second of two binary variables needs the first


def naive_domains(model: GraphicalModel, evidence: dict[int, int]) -> list[set[int]]:
    """Drop values without an allowed entry in some factor, in rounds over all factors, until none goes."""
    domains = [{evidence[i]} if i in evidence else set(range(n)) for i, n in enumerate(model.domain_sizes)]
    while True:
        before = [set(domain) for domain in domains]
        for factor in model.factors:
            allowed = [
                values
                for values in itertools.product(*(sorted(domains[i]) for i in factor.scope))
                if factor.log_table[values] > -math.inf
            ]
            for place, variable in enumerate(factor.scope):
                domains[variable] &= {values[place] for values in allowed}
        if domains == before:
            return domains


def naive_implied(model: GraphicalModel, evidence: dict[int, int]) -> dict[int, int]:
    domains = naive_domains(model, evidence)
    if not all(domains):
        return {}
    decided = [i for i in range(model.num_variables) if len(domains[i]) == 1 < model.domain_sizes[i]]
    return {i: min(domains[i]) for i in decided if i not in evidence}


def feasible(model: GraphicalModel, evidence: dict[int, int]) -> list[list[int]]:
    every_factor = range(model.num_factors)
    return [
        x
        for x in assignments(model, evidence)
        if all(log_potential(model, factor, x) > -math.inf for factor in every_factor)
    ]


def with_implied(
    model: GraphicalModel, evidence: dict[int, int], start: list[int] | None = None
) -> dict[int, int]:
    fixed = fixed_values(compile_model(model), evidence, None if start is None else np.array(start))
    return {variable: int(fixed[variable]) for variable in np.flatnonzero(fixed >= 0).tolist()}


def implied(model: GraphicalModel, evidence: dict[int, int]) -> dict[int, int]:
    found = with_implied(model, evidence)
    return {variable: value for variable, value in found.items() if variable not in evidence}


@settings(max_examples=60, deadline=None)
@given(model=random_models(max_domain=3, potentials=MOSTLY_POSITIVE), seed=st.integers(0, 10**6))
def test_implied_values_hold_in_every_feasible_assignment(model: GraphicalModel, seed: int) -> None:
    evidence = some_evidence(model, seed % 3, seed)
    values = implied(model, evidence)
    assert not set(values) & set(evidence)
    for assignment in feasible(model, evidence):
        assert {i: assignment[i] for i in values} == values


@settings(max_examples=100, deadline=None)
@given(
    model=random_models(max_variables=7, max_domain=3, max_factors=9, potentials=MOSTLY_POSITIVE),
    seed=st.integers(0, 10**6),
)
def test_exactly_what_a_naive_propagation_finds_is_implied(model: GraphicalModel, seed: int) -> None:
    evidence = some_evidence(model, seed % 4, seed)
    assert implied(model, evidence) == naive_implied(model, evidence)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_every_family_is_propagated_like_the_naive_version(name: str, seed: int) -> None:
    model = MODELS[name]
    evidence = some_evidence(model, seed, seed)
    assert implied(model, evidence) == naive_implied(model, evidence)


@settings(max_examples=20, deadline=None)
@given(model=random_models(potentials=POTENTIALS), seed=st.integers(0, 10**6))
def test_nothing_is_implied_without_zeros(model: GraphicalModel, seed: int) -> None:
    assert implied(model, some_evidence(model, 2, seed)) == {}


def test_implications_run_along_a_chain() -> None:
    chain = GraphicalModel.from_tables([2] * 50, [((i, i + 1), IMPLICATION) for i in range(49)])
    assert implied(chain, {49: 1}) == dict.fromkeys(range(49), 1)
    assert implied(chain, {20: 0}) == dict.fromkeys(range(21, 50), 0)
    assert implied(chain, {}) == {}


def test_nothing_is_implied_by_evidence_of_probability_zero() -> None:
    chain = GraphicalModel.from_tables([2] * 6, [((i, i + 1), IMPLICATION) for i in range(5)])
    assert implied(chain, {0: 0, 5: 1}) == {}
    assert feasible(chain, {0: 0, 5: 1}) == []


def test_a_value_without_support_in_a_wide_factor_is_out() -> None:
    table = np.zeros((3, 2, 2))
    table[1:] = -np.inf
    table[0, 0] = -np.inf
    model = GraphicalModel.from_tables([3, 2, 2], [((0, 1, 2), table)])
    assert implied(model, {}) == {0: 0, 1: 1}


def test_a_diagnosis_without_findings_and_leak_rules_out_certain_causes() -> None:
    model = families.diagnosis(num_diseases=12, num_findings=10, leak=0.0, seed=3)
    finding_names = [name for name in model.names if f"{name}_via_" in " ".join(model.names)]
    evidence = {model.name_to_variable[name]: 0 for name in finding_names}
    values = implied(model, evidence)
    assert values == naive_implied(model, evidence)
    assert len(values) > 20  # the chains of all findings, and diseases that would cause one for certain
    assert set(values.values()) == {0}


def test_implied_values_join_the_evidence() -> None:
    model = GraphicalModel.from_tables([2, 2, 2], [((0, 1), IMPLICATION), ((1, 2), [0.0] * 4)])
    assert with_implied(model, {1: 1}) == {0: 1, 1: 1}
    assert with_implied(model, {1: 1}, [1, 1, 0]) == {0: 1, 1: 1}


def test_implied_values_that_a_start_contradicts_are_left_out() -> None:
    model = GraphicalModel.from_tables([2, 2, 2], [((0, 1), IMPLICATION), ((1, 2), [0.0] * 4)])
    assert with_implied(model, {1: 1}, [0, 1, 0]) == {1: 1}


def test_a_model_of_constants_and_single_values_is_propagated() -> None:
    constants = GraphicalModel.from_tables([], [((), [-math.inf])])
    assert implied(constants, {}) == {}
    single = GraphicalModel.from_tables([1, 2], [((0, 1), [-math.inf, 0.0])])
    assert implied(single, {}) == {1: 1}
