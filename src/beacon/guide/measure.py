"""How good scores are, measured against references: the same numbers for every guide."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.guided.guide import StateBatch
from beacon.guided.moves import Moves, real_moves

SMALLEST = 1e-7  # scores nearer to 0 or 1 count as this near


class Quality(NamedTuple):
    """How well probabilities predict references."""

    loss: float
    """Mean cross-entropy over the query variables, in nats."""
    accuracy: float
    """Share of the query variables whose most likely value is the reference's."""


def prediction_quality(
    moves: Moves,
    probabilities: NDArray[np.float32],
    observed: NDArray[np.bool_],
    references: NDArray[np.integer],
) -> Quality:
    """Quality of one distribution per variable; variables with a single value do not count."""
    asked = ~observed & (moves.domain_sizes > 1)
    right = np.take_along_axis(probabilities, moves.of_assignments(references), axis=1)[asked]
    hits = (moves.best_values(probabilities) == references)[asked]
    if not len(hits):
        return Quality(0.0, 1.0)
    return Quality(float(-np.log(np.maximum(right, SMALLEST), dtype=np.float64).mean()), float(hits.mean()))


def top_move_accuracy(
    moves: Moves, scores: NDArray[np.float32], states: StateBatch, references: NDArray[np.integer]
) -> float:
    """α: share of the states apart from their reference whose top-scored move brings them closer to it.

    NaN where every state is at its reference.
    """
    is_move = real_moves(moves, states)
    apart = ((states.assignments != references) & ~states.observed).any(axis=1)
    top = np.where(is_move, scores, -np.inf).argmax(axis=1)[apart]
    rows = np.flatnonzero(apart)
    closer = references[rows, moves.variable_of[top]] == moves.value_of[top]
    return float(closer.mean()) if len(rows) else float("nan")


def move_loss(
    moves: Moves, scores: NDArray[np.float32], states: StateBatch, references: NDArray[np.integer]
) -> float:
    """Binary cross-entropy: mean over the moves of a state, then over the states that have any."""
    is_move = real_moves(moves, states)
    likely = np.clip(scores.astype(np.float64), SMALLEST, 1 - SMALLEST)
    label = moves.per_move(references) == moves.value_of
    losses = -np.where(label, np.log(likely), np.log1p(-likely))
    counts = is_move.sum(axis=1)
    means = np.where(is_move, losses, 0.0).sum(axis=1)[counts > 0] / counts[counts > 0]
    return float(means.mean()) if len(means) else float("nan")
