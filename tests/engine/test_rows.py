"""Rows: searches of models with many values are those of tables, step by step, from less memory."""

from __future__ import annotations

import numpy as np
import pytest

from beacon.engine import rows
from beacon.engine.construct import construct_assignment
from beacon.engine.core import new_core
from beacon.model import factors as factors_module
from beacon.model.flat import FlatModel, as_fixed, compile_model, flatten
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import Strategy
from tests.engine.helpers import check_against_naive, many_values, new_search, penalties_of, standing
from tests.reference import Naive

SIZES = (20, 12, 1, 30, 9, 16, 25, 11)


def by_tables(model: GraphicalModel, monkeypatch: pytest.MonkeyPatch) -> FlatModel:
    """The model as it would be searched without rows."""
    with monkeypatch.context() as patch:
        patch.setattr(rows, "LEAST_ROW", 1000)
        flat = flatten(model.factors, None)
        assert rows.layout_of(flat).num_rows == 0
    return flat


@pytest.mark.parametrize(
    "strategy",
    [Greedy(), GlsPlus(), GlsPlus(restart_idle=5), GlsPlus(smoothing=0.9, smoothing_interval=3)],
    ids=["greedy", "gls+", "restarts", "smoothing"],
)
def test_searches_make_the_same_steps(strategy: Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    model = many_values(SIZES, 0.02)
    with_rows, without = compile_model(model), by_tables(model, monkeypatch)
    assert rows.layout_of(with_rows).num_rows > 0
    evidence = as_fixed({1: 3}, model.num_variables)
    searches = [Search(flat, evidence, strategy, seed=3) for flat in (with_rows, without)]
    for search in searches:
        search.run(MaxSteps(3000))
    first, second = searches
    assert standing(first) == standing(second)
    assert first.trace.scores.tolist() == second.trace.scores.tolist()
    assert first.core.counters["local_optima"] == second.core.counters["local_optima"]


@pytest.mark.parametrize("smoothing", [1.0, 0.9])
def test_what_rows_keep_up_to_date_is_what_recomputation_says(smoothing: float) -> None:
    model = many_values(SIZES, 0.02)
    search = new_search(model, {0: 7}, GlsPlus(smoothing=smoothing, smoothing_interval=5, restart_idle=20))
    for steps in range(20, 800, 130):
        search.run(MaxSteps(steps))
        naive = Naive(model, {0: 7}, search.model.log_zero, search.own.weight[0])
        naive.penalties = penalties_of(search, model)
        check_against_naive(search, naive)


def test_a_search_begins_without_a_copy_and_copies_what_it_meets() -> None:
    search = new_search(many_values((40,) * 8, 0.0), {}, GlsPlus())
    assert search.core.rows is not None
    known, counters = search.core.rows.places, search.core.counters[0]
    assert not known.any()
    search.run(MaxSteps(40))
    assert (known > 0).any()  # with penalties
    assert 0 < np.count_nonzero(known) < len(known) / 4
    assert 0 < counters["own_entries"] <= 40 * np.count_nonzero(known)
    assert np.abs(known).max() <= counters["own_entries"]


def test_only_long_rows_of_pairs_are_kept() -> None:
    assert rows.layout_of(compile_model(many_values((9, 9, 9)))).num_rows == 3 * 9 + 6 * 9
    assert rows.layout_of(compile_model(many_values((8, 8, 8)))).num_rows == 0
    wide = GraphicalModel.from_tables([20] * 3, [((0, 1, 2), np.zeros(8000)), ((0, 1), np.zeros(400))])
    assert rows.layout_of(compile_model(wide)).num_rows == 0
    assert rows.layout_of(compile_model(GraphicalModel.from_tables([20], []))).num_rows == 0


def test_tables_that_are_shared_are_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(1).normal(size=(15, 15))
    ring = GraphicalModel.from_tables([15] * 9, [((i, (i + 1) % 9), table) for i in range(9)])
    assert rows.layout_of(flatten(ring.factors, None)).num_rows > 0
    monkeypatch.setattr(factors_module, "LEAST_SHARED", 1)
    ring = GraphicalModel.from_tables([15] * 9, [((i, (i + 1) % 9), table) for i in range(9)])
    assert ring.factors.is_shared
    assert rows.layout_of(compile_model(ring)).num_rows == 0


def test_the_tops_of_rows_are_their_largest_entries() -> None:
    model = many_values(SIZES, 0.3)
    flat = compile_model(model)
    layout, tops, row = rows.layout_of(flat), rows.row_tops(flat), 0
    for variable, size in enumerate(SIZES):
        assert layout.starts[variable] == row
        for link in range(flat.pair_starts[variable], flat.pair_starts[variable + 1]):
            factor = model.factors[int(flat.pairs[link, 0])]
            axis = factor.scope.index(variable)
            table = np.moveaxis(np.maximum(factor.log_table, flat.log_zero), axis, 0).reshape(size, -1)
            assert tops[row : row + size].tolist() == table.max(axis=1).tolist()
            row += size


def test_constructed_starts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model = many_values(SIZES, 0.1)
    found = []
    for flat in (compile_model(model), by_tables(model, monkeypatch)):
        core = new_core(flat, as_fixed({4: 2}, len(SIZES)), 5)
        construct_assignment(flat, core)
        found.append(core.assignment.tolist())
    assert found[0] == found[1]


def test_values_count_as_work() -> None:
    work = {}
    for size in (10, 100):
        search = new_search(many_values((size,) * 6, 0.0), {}, Greedy())
        search.run(MaxSteps(1))
        work[size] = int(search.core.counters["work"][0])
    assert work == {10: 2 + 6, 100: 2 + 6 + 5 * (100 // rows.VALUES_A_LINK)}
