"""Queries answered in one call: the answers of the long way, whatever the room, and never over the caps."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import beacon
from beacon.exact import at_once as module
from beacon.exact.at_once import AtOnce, Caps, at_once
from beacon.exact.plan import plan
from beacon.exact.solve import solve_parts
from beacon.model.families import ising_grid
from beacon.model.flat import as_fixed, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.query import reduce_query
from tests.exact.small_models import KINDS, flat_query, is_close, optimum, small_queries

CAPS = Caps(entries=1e7, work=1e8, order_work=1e8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_that_of_the_long_way_assignment_for_assignment(kind: str) -> None:
    for model, evidence in small_queries(kind, 200, seed=15):
        flat, fixed = flat_query(model, evidence)
        answer = at_once(flat).answer(flat, fixed, 3, CAPS)
        reduced = reduce_query(flat, fixed)
        solved = solve_parts(reduced, plan(reduced, 3, CAPS.entries), seed=3)
        if answer is None:
            assert solved.is_impossible
            continue
        assert answer[1] == solved.score
        assert is_close(answer[1], optimum(model, evidence))
        assert (answer[0] == solved.complete()).all()
        assert is_close(model.log_score(answer[0]), answer[1])


@pytest.mark.parametrize("first", [1, 7, 64])
def test_the_room_grows_and_the_answers_stay(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = ising_grid(9, 9, seed=2)
    flat, fixed = flat_query(grid, {0: 1, 40: 0})
    roomy = AtOnce(flat).answer(flat, fixed, 0, CAPS)
    monkeypatch.setattr(module, "FIRST_ROOM", first)
    narrow = AtOnce(flat).answer(flat, fixed, 0, CAPS)
    assert roomy is not None
    assert narrow is not None
    assert (roomy[0] == narrow[0]).all()


def test_a_room_serves_query_after_query() -> None:
    grid = ising_grid(7, 7, seed=5)
    flat, server = compile_model(grid), AtOnce(compile_model(grid))
    rng = np.random.default_rng(0)
    rows = [np.where(rng.random(49) < 0.2, rng.integers(0, 2, 49), -1).astype(np.int32) for _ in range(40)]
    again = [server.answer(flat, row, 0, CAPS) for row in rows]
    fresh = [AtOnce(flat).answer(flat, row, 0, CAPS) for row in rows]
    with ThreadPoolExecutor(4) as pool:
        side_by_side = list(pool.map(lambda row: server.answer(flat, row, 0, CAPS), rows))
    for one, other, third in zip(again, fresh, side_by_side, strict=True):
        assert one is not None
        assert other is not None
        assert third is not None
        assert one[1] == other[1] == third[1]
        assert (one[0] == other[0]).all()
        assert (one[0] == third[0]).all()


@pytest.mark.parametrize("caps", [CAPS._replace(entries=500.0), CAPS._replace(work=500.0)])
def test_what_is_over_a_cap_is_left_and_no_room_is_made_for_it(
    caps: Caps, monkeypatch: pytest.MonkeyPatch
) -> None:
    flat, fixed = flat_query(ising_grid(12, 12), {})
    server, made = AtOnce(flat), []
    new_room = module._new_room
    monkeypatch.setattr(module, "_new_room", lambda *sizes: made.append(sizes) or new_room(*sizes))
    assert server.answer(flat, fixed, 0, caps) is None
    assert len(made) == 1  # the first one, no larger
    assert server.answer(flat, fixed, 0, CAPS) is not None


def test_a_query_over_the_memory_cap_never_allocates_it() -> None:
    grid = ising_grid(40, 40)
    flat = compile_model(grid)
    reduced = reduce_query(flat, as_fixed({}, grid.num_variables))
    assert plan(reduced, max_entries=1e30).entries.max() > 1e11  # a terabyte: it would not go unnoticed
    result = beacon.solve(grid, stop=beacon.MaxSteps(100))
    assert result.proof is None


def test_a_model_that_is_always_too_wide_is_hardly_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    flat, fixed = flat_query(ising_grid(12, 12), {})
    server, tried = AtOnce(flat), []
    answer = module.answer_at_once
    monkeypatch.setattr(module, "answer_at_once", lambda *given: tried.append(1) or answer(*given))
    for _ in range(100):
        assert server.answer(flat, fixed, 0, CAPS._replace(entries=500.0)) is None
    assert len(tried) < 15
    assert any(
        server.answer(flat, fixed, 0, CAPS) is not None for _ in range(40)
    )  # and still is, now and then


def test_impossible_evidence_is_left_to_the_long_way() -> None:
    differ = [-math.inf, 0.0, 0.0, -math.inf]
    triangle = GraphicalModel.from_tables([2] * 3, [((i, (i + 1) % 3), differ) for i in range(3)])
    flat, fixed = flat_query(triangle, {})
    assert at_once(flat).answer(flat, fixed, 0, CAPS) is None
    assert beacon.solve(triangle).is_impossible


def test_large_seeds_are_seeds_too() -> None:
    flat, fixed = flat_query(ising_grid(3, 3), {})
    assert at_once(flat).answer(flat, fixed, 2**80 + 1, CAPS) is not None
