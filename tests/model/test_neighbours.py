"""Who shares a factor with whom, against sets made factor by factor."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import small_models


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
