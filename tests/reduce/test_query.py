"""The reduced query: the same optimum, the same scores on the way back, and as small as promised."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from beacon.exact.solve import unsolved
from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.query import ReducedQuery, reduce_query
from beacon.reduce.tables import ALIVE, VARIABLE
from tests.exact.small_models import KINDS, flat_query, is_close, joint_table, optimum, small_queries

COUNT = 250


def reduced_joint(reduced: ReducedQuery) -> float:
    """The optimum of the parts' own tables and the constant, by adding up their joint table."""
    tables, left = reduced.tables, reduced.members.tolist()
    scopes = [([v], tables.unary[tables.unary_starts[v] : tables.unary_starts[v + 1]]) for v in left]
    scopes += [living_factor(reduced, f) for f in range(tables.counts[0]) if tables.consumers[f] == ALIVE]
    position = {v: k for k, v in enumerate(left)}
    named = [([position[v] for v in scope], table) for scope, table in scopes]
    model = GraphicalModel.from_tables([int(tables.sizes[v]) for v in left], named)
    return reduced.constant + optimum(model, {})


def living_factor(reduced: ReducedQuery, factor: int) -> tuple[list[int], list[float]]:
    tables = reduced.tables
    scope = tables.places[tables.scope_starts[factor] : tables.scope_starts[factor + 1], VARIABLE].tolist()
    return scope, tables.table[tables.table_starts[factor] : tables.table_starts[factor + 1]].tolist()


def parts_of(reduced: ReducedQuery) -> list[NDArray[np.int32]]:
    return np.split(reduced.members, reduced.part_starts[1:-1]) if reduced.num_parts else []


@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_that_of_the_query(kind: str) -> None:
    for model, evidence in small_queries(kind, COUNT):
        reduced = reduce_query(*flat_query(model, evidence))
        best = optimum(model, evidence)
        if reduced.is_impossible:
            assert best == -math.inf
        else:
            assert is_close(reduced_joint(reduced), best)


@pytest.mark.parametrize("kind", KINDS)
def test_the_way_back_is_the_best_completion(kind: str) -> None:
    rng = np.random.default_rng(0)
    for model, evidence in small_queries(kind, COUNT, seed=1):
        reduced = reduce_query(*flat_query(model, evidence))
        if reduced.is_impossible:
            continue
        wish = rng.integers(0, model.domain_sizes)
        completed = unsolved(reduced).complete(wish)
        inside = {int(i): int(completed[i]) for i in reduced.variables[reduced.members]}
        assert all(completed[i] == value for i, value in evidence.items())
        assert is_close(model.log_score(completed), optimum(model, evidence | inside))


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_are_left_are_kept_on_the_way_back(kind: str) -> None:
    for model, evidence in small_queries(kind, 100, seed=2):
        reduced = reduce_query(*flat_query(model, evidence))
        joint = joint_table(model, evidence)
        if reduced.is_impossible or joint.max() == -math.inf:
            continue
        best = np.unravel_index(joint.argmax(), joint.shape)
        assignment = np.array([evidence.get(i, int(value)) for i, value in enumerate(best)])
        completed = unsolved(reduced).complete(assignment)
        inside = reduced.variables[reduced.members]
        assert (completed[inside] == assignment[inside]).all()
        assert is_close(model.log_score(completed), float(joint.max()))


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_independent_and_hold_all_that_is_left(kind: str) -> None:
    for model, evidence in small_queries(kind, 100, seed=3):
        reduced = reduce_query(*flat_query(model, evidence))
        assert sorted([*reduced.members.tolist(), *reduced.steps.tolist()]) == list(
            range(len(reduced.variables))
        )
        part_of = {int(v): k for k, part in enumerate(parts_of(reduced)) for v in part}
        for factor in range(reduced.tables.counts[0]):
            if reduced.tables.consumers[factor] == ALIVE:
                scope, _ = living_factor(reduced, factor)
                assert len({part_of[v] for v in scope}) == 1
                assert len(scope) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_living_factors_have_the_same_scope(kind: str) -> None:
    for model, evidence in small_queries(kind, 100, seed=4):
        reduced = reduce_query(*flat_query(model, evidence))
        scopes = [
            tuple(living_factor(reduced, f)[0])
            for f in range(reduced.tables.counts[0])
            if reduced.tables.consumers[f] == ALIVE
        ]
        assert len(scopes) == len(set(scopes))
        assert all(list(scope) == sorted(scope) for scope in scopes)


def test_a_tree_and_a_cycle_leave_nothing() -> None:
    rng = np.random.default_rng(0)
    tree = [((int(rng.integers(i)), i), rng.normal(size=9)) for i in range(1, 200)]
    cycle = [((i, (i + 1) % 200), rng.normal(size=9)) for i in range(200)]
    for tables in (tree, cycle):
        reduced = reduce_query(*flat_query(GraphicalModel.from_tables([3] * 200, tables), {}))
        assert reduced.num_parts == 0
        assert len(reduced.steps) == 200


def test_a_grid_with_its_middle_row_observed_falls_into_two_parts() -> None:
    grid = ising_grid(9, 9)
    reduced = reduce_query(*flat_query(grid, {4 * 9 + column: 0 for column in range(9)}))
    assert reduced.num_parts == 2
    sides = [{int(i) // 9 < 4 for i in reduced.variables[part]} for part in parts_of(reduced)]
    assert sorted(map(tuple, sides)) == [(False,), (True,)]


def test_more_room_is_made_for_wide_tables() -> None:
    rng = np.random.default_rng(0)
    wide = GraphicalModel.from_tables(
        [4] * 8, [((0, 1, 2, 3, 4, 5), rng.normal(size=4**6)), ((6, 7), [0.0] * 16)]
    )
    reduced = reduce_query(*flat_query(wide, {}))
    assert reduced.num_parts == 0
    assert is_close(reduced.constant, optimum(wide, {}))


def test_many_factors_of_one_variable_are_quick_to_join() -> None:
    tables = [((0, 1 + k % 3000), [0.0, 1.0, 2.0, float(k)]) for k in range(6000)]
    reduced = reduce_query(*flat_query(GraphicalModel.from_tables([2] * 3001, tables), {}))
    assert reduced.num_parts == 0
    assert reduced.constant == sum(3000 + 2 * k for k in range(3000))


def test_evidence_that_contradicts_a_zero_is_impossible() -> None:
    model = GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -math.inf, -math.inf, 0.0])])
    reduced = reduce_query(*flat_query(model, {0: 0, 1: 1}))
    assert reduced.is_impossible
    assert reduced.constant == -math.inf


def test_the_query_given_is_not_changed() -> None:
    flat, fixed = flat_query(ising_grid(3, 3), {0: 1})
    before = fixed.copy()
    reduce_query(flat, fixed)
    assert (fixed == before).all()
