"""Scores that know nothing are what they say, and those of frequencies count answers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import controls
import numpy as np
import pytest

import beacon
from beacon.guide.solved import SolvedGuide
from beacon.model.flat import compile_model

MODEL = beacon.GraphicalModel.from_tables([2, 3], [((0, 1), np.ones((2, 3)))])
STATES = np.zeros((2, 2), np.int32)
OBSERVED = np.array([[True, False], [False, False]])
MOVES = np.array([[1, 3], [1, 3]], np.int32)  # x0 = 1, x1 = 1


@pytest.fixture
def shop() -> Any:
    job = SimpleNamespace(network="BN_30", seed=0)
    args = SimpleNamespace(run=Path("run"))
    return SimpleNamespace(model=MODEL, flat=compile_model(MODEL), job=job, args=args)


def test_constant_scores_tell_no_moves_apart(shop: Any) -> None:
    assert not controls.constant(shop)(STATES, OBSERVED, MOVES).any()


def test_random_scores_are_those_of_a_query_and_a_value(shop: Any) -> None:
    score = controls.random(shop)
    first = score(STATES, OBSERVED, MOVES)
    assert first.dtype == np.float32
    assert ((first >= 0) & (first < 1)).all()
    assert len(np.unique(first)) == 4, "another query or value has another score"
    np.testing.assert_array_equal(first, score(STATES + 1, OBSERVED, MOVES))


def test_frequencies_are_shares_of_the_answers(shop: Any, tmp_path: Path, monkeypatch: Any) -> None:
    SolvedGuide(MODEL, np.array([[1, 1], [1, 2], [0, 1], [1, 1]])).save(tmp_path / "guide")
    monkeypatch.setattr(controls, "tuned", lambda run, network: SimpleNamespace(folder=tmp_path / "guide"))
    np.testing.assert_allclose(controls.frequencies(shop)(STATES, OBSERVED, MOVES), [[0.75, 0.75]] * 2)
