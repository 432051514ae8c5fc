"""Tables that factors share: the same model in less room, and the same searches step by step."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from beacon import GlsPlus, MaxSteps, read_model, solve, write_model
from beacon.model import factors as factors_module
from beacon.model.evidence import impossible_factor
from beacon.model.factors import Factors
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.margins import flip_losses
from beacon.runner.search import Search
from beacon.strategies.strategy import Strategy
from tests.small_strategies import same_factors

WIDTH, HEIGHT, LABELS = 9, 7, 5


def image(zero: float = 0.0) -> GraphicalModel:
    """Pixels with a table of their own each, and one table for all neighbours."""
    rng, places = np.random.default_rng(0), np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH)
    smooth = -np.minimum(np.abs(np.subtract.outer(np.arange(LABELS), np.arange(LABELS))), 3.0)
    smooth[0, LABELS - 1] = -np.inf if zero else -3.0
    pixels = [((int(i),), rng.normal(size=LABELS)) for i in places.ravel()]
    pairs = [pair for line in (*places, *places.T) for pair in pairwise(line.tolist())]
    return GraphicalModel.from_tables(
        [LABELS] * places.size, [*pixels, *((pair, smooth) for pair in pairs), ((3, 4, 5), np.zeros(125))]
    )


@pytest.fixture(params=[0.0, 1.0], ids=["no zeros", "zeros"])
def both(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> tuple[GraphicalModel, GraphicalModel]:
    """The same model without and with shared tables."""
    plain = image(request.param)
    monkeypatch.setattr(factors_module, "LEAST_SHARED", 1)
    shared = image(request.param)
    assert not plain.factors.is_shared
    assert shared.factors.is_shared
    return plain, shared


def test_it_is_the_same_model_in_less_room(
    both: tuple[GraphicalModel, GraphicalModel], tmp_path: Path
) -> None:
    plain, shared = both
    assert len(shared.factors.log_table) < plain.num_entries / 4
    assert same_factors(shared, plain)
    for name in ("num_entries", "zero_fraction", "fingerprint", "max_scope"):
        assert getattr(shared, name) == getattr(plain, name)
    x = np.arange(plain.num_variables) % LABELS
    assert shared.log_score(x) == plain.log_score(x)
    assert same_factors(shared.condition({4: 1})[0], plain.condition({4: 1})[0])
    assert impossible_factor(shared, {0: 0, 1: 4}) == impossible_factor(plain, {0: 0, 1: 4})
    assert same_factors(shared.scaled(2.0), plain.scaled(2.0))
    assert same_factors(pickle.loads(pickle.dumps(shared)), plain)
    for model, name in ((plain, "plain.lg"), (shared, "shared.lg")):
        write_model(model, tmp_path / name)
    assert (tmp_path / "plain.lg").read_bytes() == (tmp_path / "shared.lg").read_bytes()
    assert read_model(tmp_path / "plain.lg").factors.is_shared


def test_a_reader_finds_out_what_can_be_shared(both: tuple[GraphicalModel, GraphicalModel]) -> None:
    plain, shared = (model.factors for model in both)
    found = plain.shared()
    assert found.is_shared
    assert found.shared() is found
    assert len(found.log_table) == len(shared.log_table)
    expanded = found.expanded()
    assert not expanded.is_shared
    assert expanded.log_table.tobytes() == plain.log_table.tobytes()


def test_tables_that_differ_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors_module, "LEAST_SHARED", 1)
    rng = np.random.default_rng(0)
    scopes = np.array([[i, i + 1] for i in range(50)])
    factors = Factors.of_blocks([5] * 51, (scopes, rng.normal(size=(50, 25))))
    assert factors.shared() is factors


@pytest.mark.parametrize(
    "strategy",
    ["greedy", "gls+", "tree", "auto", GlsPlus(smoothing=0.9, smoothing_interval=3, restart_idle=5)],
)
def test_searches_are_the_same(both: tuple[GraphicalModel, GraphicalModel], strategy: str | Strategy) -> None:
    first, second = (solve(model, {3: 1}, strategy=strategy, stop=MaxSteps(3000), seed=2) for model in both)
    assert first.steps == second.steps
    assert first.assignment.tolist() == second.assignment.tolist()
    assert first.trace.scores.tolist() == second.trace.scores.tolist()


def test_only_penalised_factors_have_tables_of_their_own(both: tuple[GraphicalModel, GraphicalModel]) -> None:
    flat = compile_model(both[1])
    search = Search(flat, np.full(flat.num_variables, -1, dtype=np.int32), GlsPlus().fitted(flat), None, 0)
    search.run(MaxSteps(300))
    entries, stored = search.core.entries, len(flat.log_table)
    has_own = entries >= stored
    penalised = np.flatnonzero(search.own.penalties)
    assert 0 < has_own.sum() < len(entries)
    sizes = np.diff(flat.table_starts)[has_own]
    assert search.core.counters[0]["own_entries"] == sizes.sum()
    assert stored <= penalised.min() <= penalised.max() < stored + sizes.sum()
    firsts = (flat.bases + search.core.own_shifts)[has_own]
    assert np.array_equal(np.sort(firsts), stored + np.cumsum(np.r_[0, sizes[np.argsort(firsts)][:-1]]))
    assert np.array_equal(search.core.table[:stored], flat.log_table)


def test_losses_of_flips_are_the_same(both: tuple[GraphicalModel, GraphicalModel]) -> None:
    x = np.ones(both[0].num_variables, dtype=np.int64)
    first, second = (flip_losses(compile_model(model), x) for model in both)
    assert np.array_equal(first, second)
