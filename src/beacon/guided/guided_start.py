"""Where a guide would begin: starts from scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.guided.guide import EvidenceGuide, Guide, StateBatch
from beacon.guided.moves import Moves, real_moves


def starts_from_scores(
    moves: Moves, guide: Guide, scores: NDArray[np.float32], states: StateBatch
) -> NDArray[np.int64]:
    """[states, variables] where a guide that scores these states so would begin.

    A guide of the evidence alone names the most likely value of every variable. With any other, each
    variable whose best move scores above one half takes that value, and the rest stay as they are.
    """
    if isinstance(guide, EvidenceGuide):
        return np.where(states.observed, states.assignments, moves.best_values(scores))
    return confident_starts(moves, scores, states)


def confident_starts(moves: Moves, scores: NDArray[np.float32], states: StateBatch) -> NDArray[np.int64]:
    """[states, variables] the states after every free variable made its best move, if above one half."""
    offered = np.where(real_moves(moves, states), scores, np.float32(-1))
    sure = moves.largest(offered) > 0.5
    return np.where(sure, moves.best_values(offered), states.assignments)
