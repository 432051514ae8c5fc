"""Elimination against brute force: the optimum, an assignment that reaches it, and nothing over the cap."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beacon.exact.plan import Plan, plan
from beacon.exact.solve import SolvedParts, solve_parts
from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.query import reduce_query
from tests.exact.small_models import KINDS, flat_query, is_close, joint_table, optimum, small_queries

COUNT = 300
CAP = 10_000


def solved(model: GraphicalModel, evidence: dict[int, int], seed: int = 0, cap: int = 10**7) -> SolvedParts:
    reduced = reduce_query(*flat_query(model, evidence))
    return solve_parts(reduced, plan(reduced, seed, cap), seed=seed, max_entries=cap)


def several_grids(sides: list[int]) -> GraphicalModel:
    """Grids of several sides that no factor joins."""
    tables, sizes = [], 0
    for seed, side in enumerate(sides):
        grid = ising_grid(side, side, seed=seed)
        tables += [([sizes + i for i in factor.scope], factor.log_table) for factor in grid.factors]
        sizes += side * side
    return GraphicalModel.from_tables([2] * sizes, tables)


@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_found_with_an_assignment_that_has_it(kind: str) -> None:
    for model, evidence in small_queries(kind, COUNT, seed=5):
        answer = solved(model, evidence, seed=3)
        best = optimum(model, evidence)
        assert answer.is_complete
        assert answer.is_impossible == (best == -math.inf)
        if best > -math.inf:
            assignment = answer.complete()
            assert is_close(answer.score, best)
            assert is_close(model.log_score(assignment), best)
            assert all(assignment[i] == value for i, value in evidence.items())
            assert (answer.fixed == assignment).all()


@pytest.mark.parametrize("side", [3, 4])
def test_frustrated_grids_are_solved(side: int) -> None:
    for seed in range(20):
        grid = ising_grid(side, side, wrap=True, seed=seed)
        assert is_close(solved(grid, {}).score, optimum(grid, {}))


def test_the_same_seed_gives_the_same_answer_and_other_seeds_other_optima() -> None:
    ties = GraphicalModel.from_tables([3] * 6, [((i, (i + 2) % 6), [0.0] * 9) for i in range(6)])
    answers = {seed: tuple(solved(ties, {}, seed).complete().tolist()) for seed in range(30)}
    assert answers == {seed: tuple(solved(ties, {}, seed).complete().tolist()) for seed in range(30)}
    assert len(set(answers.values())) > 20


def test_every_optimum_is_found_by_some_seed() -> None:
    model = GraphicalModel.from_tables([2] * 4, [((i, (i + 1) % 4), [0.0, 1.0, 1.0, 0.0]) for i in range(4)])
    found = {tuple(solved(model, {}, seed).complete().tolist()) for seed in range(60)}
    assert found == {(0, 1, 0, 1), (1, 0, 1, 0)}


def test_parts_over_the_cap_are_left_and_the_others_solved() -> None:
    model = several_grids([3, 12, 4])
    answer = solved(model, {}, cap=2_000)
    assert answer.is_solved.tolist() == [True, False, True]
    free = np.flatnonzero(answer.fixed < 0)
    assert (free.min(), free.max()) == (9, 9 + 144 - 1)


def test_a_search_of_the_open_parts_completes_the_answer() -> None:
    model = several_grids([3, 3, 3])
    reduced = reduce_query(*flat_query(model, {}))
    chosen = np.array([True, False, True])
    answer = solve_parts(reduced, plan(reduced), parts=chosen)
    assert answer.is_solved.tolist() == chosen.tolist()
    fixed = answer.fixed
    assert (np.flatnonzero(fixed < 0) == np.arange(9, 18)).all()
    given = {int(i): int(fixed[i]) for i in np.flatnonzero(fixed >= 0)}
    joint = joint_table(model, given)
    searched = np.array(np.unravel_index(joint.argmax(), joint.shape))
    whole = answer.complete(np.where(fixed >= 0, fixed, searched))
    assert is_close(model.log_score(whole), solved(model, {}).score)


@pytest.mark.parametrize("kind", KINDS)
def test_solved_in_part_the_best_rest_gives_the_optimum(kind: str) -> None:
    rng = np.random.default_rng(0)
    for model, evidence in small_queries(kind, 60, seed=6):
        reduced = reduce_query(*flat_query(model, evidence))
        best = optimum(model, evidence)
        if best == -math.inf:
            continue
        answer = solve_parts(reduced, plan(reduced), parts=rng.random(reduced.num_parts) < 0.5)
        given = {int(i): int(value) for i, value in enumerate(answer.fixed) if value >= 0}
        assert is_close(optimum(model, given), best)


def test_the_cost_is_known_before_and_no_more_is_made() -> None:
    model = several_grids([5, 6, 7])
    reduced = reduce_query(*flat_query(model, {}))
    prospect = plan(reduced)
    answer = solve_parts(reduced, prospect)
    kept, _, places = prospect.needs(answer.is_solved)
    made = len(answer.tables.table) - reduced.tables.counts[2]
    assert answer.is_complete
    assert made == kept
    assert answer.tables.counts[2] - reduced.tables.counts[2] <= kept
    assert answer.tables.counts[1] - reduced.tables.counts[1] <= places


@pytest.mark.parametrize("cap", [1, 50, 500, 5_000, 50_000])
def test_no_more_than_the_cap_is_ever_made(cap: int) -> None:
    model = several_grids([4, 5, 6, 7, 8])
    reduced = reduce_query(*flat_query(model, {}))
    generous = plan(reduced)
    answer = solve_parts(reduced, generous, parts=np.ones(5, dtype=np.bool_), max_entries=cap)
    is_new = answer.tables is not reduced.tables
    made = len(answer.tables.table) - reduced.tables.counts[2] if is_new else 0
    assert made + generous.needs(answer.is_solved)[1] <= cap
    assert (np.diff(np.flatnonzero(np.isinf(plan(reduced, max_entries=cap).work)), prepend=-1) >= 1).all()


def test_a_plan_over_the_cap_costs_infinity() -> None:
    reduced = reduce_query(*flat_query(several_grids([3, 20]), {}))
    prospect = plan(reduced, max_entries=1000)
    assert np.isfinite(prospect.entries[0])
    assert np.isinf(prospect.entries[1])
    assert solve_parts(reduced, prospect).is_solved.tolist() == [True, False]


def test_an_order_that_takes_too_much_work_is_given_up() -> None:
    reduced = reduce_query(*flat_query(ising_grid(30, 30), {}))
    assert np.isinf(plan(reduced, max_work=10_000.0).entries[0])


def test_several_tries_are_no_worse_than_one() -> None:
    reduced = reduce_query(*flat_query(ising_grid(14, 14), {}))
    works = [float(plan(reduced, seed).work[0]) for seed in range(10)]
    assert max(works) < 3 * min(works)
    assert isinstance(plan(reduced), Plan)


def test_a_plan_is_the_same_for_the_same_seed() -> None:
    reduced = reduce_query(*flat_query(ising_grid(12, 12), {}))
    assert (plan(reduced, 4).order == plan(reduced, 4).order).all()


def test_impossible_evidence_that_propagation_misses_is_proved_by_elimination() -> None:
    differ = [-math.inf, 0.0, 0.0, -math.inf]
    triangle = GraphicalModel.from_tables([2] * 3, [((i, (i + 1) % 3), differ) for i in range(3)])
    assert solved(triangle, {}).is_impossible
    odd = 13 * [((0,), [0.0, 0.0])] + [((i, (i + 1) % 13), differ) for i in range(13)]
    clique = [((i, j), np.where(np.eye(3), -np.inf, 0.0)) for i in range(4) for j in range(i)]
    assert solved(GraphicalModel.from_tables([2] * 13, odd), {}).is_impossible
    assert solved(GraphicalModel.from_tables([3] * 4, clique), {}).is_impossible
