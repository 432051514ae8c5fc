"""Moves in rows of scores, against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.guided.moves import Moves
from beacon.model.graphical_model import GraphicalModel

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=8)


def moves_of(sizes: list[int]) -> Moves:
    return Moves.of(GraphicalModel.from_tables(sizes, []))


@settings(max_examples=60, deadline=None)
@given(sizes=SIZES, seed=st.integers(0, 1000), rows=st.integers(0, 4))
def test_what_is_computed_per_variable_is_what_loops_compute(sizes: list[int], seed: int, rows: int) -> None:
    moves = moves_of(sizes)
    scores = np.random.default_rng(seed).integers(0, 4, (rows, len(moves))).astype(np.float64)
    pieces = [np.split(row, moves.starts[1:]) for row in scores]
    assert moves.largest(scores).tolist() == [[piece.max() for piece in row] for row in pieces]
    assert moves.total(scores).tolist() == [[piece.sum() for piece in row] for row in pieces]
    assert moves.best_values(scores).tolist() == [[piece.argmax() for piece in row] for row in pieces]
    soft = [np.concatenate([np.exp(piece) / np.exp(piece).sum() for piece in row]) for row in pieces]
    np.testing.assert_allclose(moves.softmax(scores), np.array(soft).reshape(scores.shape), rtol=1e-12)


@given(sizes=SIZES)
def test_every_move_knows_its_variable_and_value(sizes: list[int]) -> None:
    moves = moves_of(sizes)
    pairs = [(i, v) for i, size in enumerate(sizes) for v in range(size)]
    assert list(zip(moves.variable_of, moves.value_of, strict=True)) == pairs
    assignment = np.array([[size - 1 for size in sizes]])
    assert [pairs[k] for k in moves.of_assignments(assignment)[0]] == [
        (i, s - 1) for i, s in enumerate(sizes)
    ]


def test_large_logits_do_not_overflow() -> None:
    soft = moves_of([2, 3]).softmax(np.array([[1000.0, -1000.0, 500.0, 500.0, -np.inf]]))
    assert soft.tolist() == [[1.0, 0.0, 0.5, 0.5, 0.0]]
