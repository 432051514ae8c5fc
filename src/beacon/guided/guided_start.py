"""Where a guide would begin: starts from scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beacon.guided.guide import EvidenceGuide, Guide, StateBatch
from beacon.guided.moves import Moves, real_moves

Generators = np.random.Generator | Sequence[np.random.Generator]


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


def sampled_starts(
    moves: Moves, scores: NDArray[np.float32], states: StateBatch, rng: Generators
) -> NDArray[np.int64]:
    """[states, variables] values drawn from each variable's scores, normalised; evidence as it is.

    With one generator per state, a row does not depend on the others. Where all scores of a variable are
    zero, its values are equally likely.
    """
    weights = scores.astype(np.float64)
    weights += moves.per_move((moves.total(weights) <= 0).astype(np.float64))
    # a race: the first of exponential waiting times with these rates is each value with its probability
    first = moves.best_values(weights / _waiting_times(rng, weights.shape))
    return np.where(states.observed, states.assignments, first)


def _waiting_times(rng: Generators, shape: tuple[int, ...]) -> NDArray[np.float64]:
    if isinstance(rng, np.random.Generator):
        times = rng.standard_exponential(shape)
    else:
        times = np.array([generator.standard_exponential(shape[1]) for generator in rng]).reshape(shape)
    return np.maximum(times, np.finfo(np.float64).tiny)
