"""Impossible values that joined factors find: only such ones, and more than single factors tell."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from beacon.exact.value_bounds import impossible_moves
from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.query import reduce_query
from beacon.runner import known
from beacon.runner.stop import MaxSteps
from beacon.solver import solve
from tests.exact.small_models import flat_query, joint_table, small_queries

SIDE = 6


def switched_grid(seed: int) -> GraphicalModel:
    """A switch that couples a grid where it is on; a triangle of two colours forbids that.

    No single factor forbids the switch: any two corners of the triangle can be different, only not all three.
    """
    rng, first = np.random.default_rng(seed), 4
    differ = [[[0.0, 0.0], [0.0, 0.0]], [[-math.inf, 0.0], [0.0, -math.inf]]]
    tables = [((0, i, j), np.array(differ)) for i, j in ((1, 2), (2, 3), (1, 3))]
    pairs = [(k % 3 + 1, first + k) for k in range(9)]
    for y, x in np.ndindex(SIDE, SIDE):
        at = first + y * SIDE + x
        pairs += [(at, at + step) for step, fits in ((1, x + 1 < SIDE), (SIDE, y + 1 < SIDE)) if fits]
        tables.append(((at,), rng.normal(0, 1, 2)))
    for pair in pairs:
        tables.append(((0, *pair), np.array([np.zeros((2, 2)), rng.normal(2, 1, (2, 2))])))
    return GraphicalModel.from_tables([2] * (first + SIDE * SIDE), tables)


def check_impossible(model: GraphicalModel, evidence: dict[int, int], removed: NDArray[np.bool_]) -> None:
    """No assignment that is possible has one of these moves."""
    joint, starts = joint_table(model, evidence), np.cumsum([0, *model.domain_sizes])
    for move in np.flatnonzero(removed):
        variable = int(np.searchsorted(starts, move, side="right")) - 1
        assert joint.take(move - starts[variable], axis=variable).max() == -math.inf


@pytest.mark.parametrize("kind", ["zeros", "many zeros", "deterministic"])
def test_no_possible_assignment_has_an_impossible_value(kind: str) -> None:
    for model, evidence in small_queries(kind, 150, seed=5):
        removed = impossible_moves(reduce_query(*flat_query(model, evidence)))
        check_impossible(model, evidence, removed)


def test_pairs_lose_values_that_no_single_factor_forbids_and_no_others() -> None:
    num_removed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        pairs = itertools.combinations(range(6), 2)
        tables = [(pair, np.where(rng.random((3, 3)) < 0.4, -np.inf, 0.0)) for pair in pairs]
        model = GraphicalModel.from_tables([3] * 6, tables)
        removed = impossible_moves(reduce_query(*flat_query(model, {})))
        check_impossible(model, {}, removed)
        num_removed += int(removed.sum())
    assert num_removed > 20


@pytest.mark.parametrize("seed", range(3))
def test_a_query_too_wide_to_eliminate_is_solved_without_its_impossible_values(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(known, "ENTRIES_PER_SECOND", 7000)
    model = switched_grid(seed)
    singles = [factor.log_table.max() for factor in model.factors if len(factor.scope) == 1]
    result = solve(model, stop=MaxSteps(10))
    assert (result.proof, result.steps) == ("elimination", 0)
    assert result.log_score == pytest.approx(sum(singles))
    monkeypatch.setattr(known, "JOIN_SECONDS", math.inf)
    assert solve(model, stop=MaxSteps(10)).steps > 0


def test_without_zeros_no_values_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "ENTRIES_PER_SECOND", 0)
    monkeypatch.setattr(
        "beacon.exact.value_bounds.impossible_moves", lambda *_: pytest.fail("looked for zeros")
    )
    assert solve(ising_grid(5, 5), stop=MaxSteps(300)).steps > 0


def test_nothing_is_impossible_where_no_order_is_found() -> None:
    reduced = reduce_query(*flat_query(switched_grid(0), {}))
    assert impossible_moves(reduced).any()
    assert not impossible_moves(reduced, max_order_work=1.0).any()
