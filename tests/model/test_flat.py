"""The compiled view of a model against the model itself, and neighbours against sets made by factors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

import beacon
from beacon.errors import ModelError
from beacon.model import families
from beacon.model.flat import FlatModel, compile_model, once_per_model
from beacon.model.graphical_model import GraphicalModel
from tests.reference import assignments, log_potential
from tests.small_strategies import small_models


@settings(max_examples=40, deadline=None)
@given(small_models(max_variables=4))
def test_every_entry_is_found_through_scopes_and_strides(model: GraphicalModel) -> None:
    flat = compile_model(model)
    for assignment in list(assignments(model, {}))[:20]:
        for factor in range(model.num_factors):
            rows = flat.scopes[flat.scope_starts[factor] : flat.scope_starts[factor + 1]]
            entry = flat.table_starts[factor] + sum(assignment[i] * stride for i, stride in rows)
            expected = log_potential(model, factor, assignment)
            assert flat.log_table[entry] == (flat.log_zero if expected == -np.inf else expected)


@settings(max_examples=40, deadline=None)
@given(small_models())
def test_links_name_every_place_of_a_variable_once(model: GraphicalModel) -> None:
    flat = compile_model(model)
    for i in range(model.num_variables):
        narrow = flat.pairs[flat.pair_starts[i] : flat.pair_starts[i + 1]]
        wide = flat.wides[flat.wide_starts[i] : flat.wide_starts[i + 1]]
        factors = [k for k, factor in enumerate(model.factors) if i in factor.scope]
        assert sorted([*narrow[:, 0].tolist(), *wide[:, 0].tolist()]) == factors
        for factor, _, other, _ in narrow.tolist():
            assert {i, other} - {-1} == set(model.factors[factor].scope)


def test_the_arrays_are_frozen() -> None:
    flat = compile_model(GraphicalModel.from_tables([2], [((0,), [0.0, -1.0])]))
    with pytest.raises(ValueError, match="read-only"):
        flat.log_table[0] = 1.0


def test_the_floor_is_minus_100_or_twice_the_lowest_entry() -> None:
    assert compile_model(GraphicalModel.from_tables([2], [((0,), [0.0, -50.0])])).log_zero == -100
    assert compile_model(GraphicalModel.from_tables([2], [((0,), [0.0, -80.0])])).log_zero == -160


def test_the_floor_is_as_low_where_a_constant_is_added_to_a_table() -> None:
    hard = ((0, 1), [0.0, 0.0, 0.0, -np.inf])
    floors = [
        compile_model(GraphicalModel.from_tables([2, 2], [hard, ((0,), [top - 80.0, top])])).log_zero
        for top in (0.0, 40.0, 80.0, 500.0)
    ]
    assert floors == [-160.0] * 4


def test_a_search_is_not_drawn_into_zeros_by_high_entries() -> None:
    """Bids that pay far more than 100 nats each, no two neighbours of a ring may win."""
    conflicts = [((i, (i + 1) % 40), [0.0, 0.0, 0.0, -np.inf]) for i in range(40)]
    bids = [((i,), [0.0, 600.0]) for i in range(40)]
    model = GraphicalModel.from_tables([2] * 40, [*conflicts, *bids])
    for strategy in ("gls+", beacon.Auto(exact=False)):
        result = beacon.solve(model, strategy=strategy, stop=beacon.MaxSteps(2000))
        assert result.zero_factors == 0
        assert result.log_score >= 19 * 600.0


def test_one_zero_more_outweighs_everything_else() -> None:
    model = GraphicalModel.from_tables([2, 2], [((0,), [0.0, -np.inf]), ((1,), [-700.0, 500.0])])
    flat = compile_model(model)
    assert flat.hard_zero + 500.0 < -700.0


def test_one_zero_more_outweighs_a_high_entry_of_another_table() -> None:
    hard, high = ((0,), [-np.inf, 0.0]), ((0,), [1.5, -np.inf])
    flat = compile_model(GraphicalModel.from_tables([2], [hard, hard, high]))
    assert 2 * flat.hard_zero + 1.5 < flat.hard_zero


@pytest.mark.parametrize("size", [1e16, -1e300])
def test_absurdly_large_log_potentials_are_refused(size: float) -> None:
    model = GraphicalModel.from_tables([2], [((0,), [0.0, size])])
    with pytest.raises(ModelError, match="log-potentials beyond ±1e\\+15 cannot be searched"):
        compile_model(model)


def test_a_model_is_flattened_once_for_each_floor() -> None:
    model = GraphicalModel.from_tables([2], [((0,), [0.0, -math.inf])])
    assert compile_model(model) is compile_model(model)
    assert compile_model(model, -7.0) is compile_model(model, -7.0)
    assert compile_model(model, -7.0).log_zero == -7.0 != compile_model(model).log_zero


def test_what_is_known_of_a_model_goes_when_its_tables_go() -> None:
    asked = []

    @once_per_model
    def num_moves(flat: FlatModel) -> int:
        asked.append(flat.num_moves)
        return flat.num_moves

    for size in (2, 3, 3):
        flat = compile_model(GraphicalModel.from_tables([size], []))._replace(log_table=np.zeros(1))
        assert num_moves(flat) == num_moves(flat) == size
        del flat
    assert asked == [2, 3, 3]


def neighbours(model: GraphicalModel) -> list[list[int]]:
    """The neighbours of each variable as the flat model lists them."""
    flat = compile_model(model)
    starts = flat.neighbour_starts.tolist()
    return [flat.neighbours[starts[i] : starts[i + 1]].tolist() for i in range(model.num_variables)]


def naive_neighbours(model: GraphicalModel) -> list[list[int]]:
    """Factor by factor, those of one or two variables first; each neighbour where it is first met."""
    narrow = [factor.scope for factor in model.factors if len(factor.scope) <= 2]
    wide = [factor.scope for factor in model.factors if len(factor.scope) > 2]
    found: list[dict[int, None]] = [{} for _ in range(model.num_variables)]
    for scope in [*narrow, *wide]:
        for i in scope:
            found[i].update(dict.fromkeys(j for j in scope if j != i))
    return [list(others) for others in found]


@settings(max_examples=80, deadline=None)
@given(small_models(max_variables=8, max_factors=10, max_scope=4, max_domain=2))
def test_neighbours_share_a_factor_and_come_once_in_the_order_of_the_links(model: GraphicalModel) -> None:
    assert neighbours(model) == naive_neighbours(model)


@pytest.mark.parametrize("family", families.FAMILIES)
def test_neighbours_in_models_of_every_family(family: str) -> None:
    model = families.FAMILIES[family]()
    assert neighbours(model) == naive_neighbours(model)


@pytest.mark.parametrize(
    ("sizes", "tables", "expected"),
    [
        ([], [], []),
        ([2, 2], [], [[], []]),
        ([2, 2], [((0,), [0.0, 1.0]), ((), [0.5])], [[], []]),
        ([2, 1, 2], [((0, 1, 2), [0.0] * 4)], [[1, 2], [0, 2], [0, 1]]),
        ([2, 2], [((1, 0), [0.0] * 4), ((0, 1), [1.0] * 4)], [[1], [0]]),
    ],
    ids=["no variables", "no factors", "no pairs", "one wide factor", "two factors over one pair"],
)
def test_small_cases(
    sizes: list[int], tables: list[tuple[tuple[int, ...], list[float]]], expected: list[list[int]]
) -> None:
    assert neighbours(GraphicalModel.from_tables(sizes, tables)) == expected
