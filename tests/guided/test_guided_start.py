"""Starts from scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.guide.fast_guide import FastGuide
from beacon.guide.trivial import OracleGuide, UniformGuide
from beacon.guided.guide import Guide, StateBatch, States
from beacon.guided.guided_start import starts_from_scores
from beacon.guided.moves import Moves
from tests.guide.helpers import MIXED, random_states, random_weights

MOVES = Moves.of(MIXED)
STATES = random_states(MIXED, 30)


def guided_starts(moves: Moves, guide: Guide, states: StateBatch) -> NDArray[np.int64]:
    """[states, variables] where to begin after one scoring of the given (random) assignments."""
    return starts_from_scores(moves, guide, guide.score(states), states)


class FixedGuide:
    """Always gives the same scores."""

    def __init__(self, scores: NDArray[np.float32]) -> None:
        self.scores = scores

    def score(self, states: StateBatch) -> NDArray[np.float32]:
        return np.broadcast_to(self.scores, (len(states.assignments), len(self.scores)))


def test_the_oracle_starts_at_the_reference() -> None:
    references = np.where(STATES.observed, STATES.assignments, random_states(MIXED, 30, seed=8).assignments)
    assert np.array_equal(guided_starts(MOVES, OracleGuide(MIXED, references), STATES), references)


def test_who_knows_nothing_leaves_the_start_as_it_is() -> None:
    assert np.array_equal(guided_starts(MOVES, UniformGuide(MIXED), STATES), STATES.assignments)


def test_only_moves_above_one_half_are_made() -> None:
    #                       x0        x1             x2   x3                  x4
    scores = np.array([0.9, 0.51, 0.5, 0.3, 0.2, 0.9, 0.6, 0.7, 0.0, 0.0, 0.1, 0.5], dtype=np.float32)
    states = States(np.array([[0, 1, 0, 3, 0], [1, 0, 0, 1, 1]]), np.zeros((2, 5), dtype=np.bool_))
    starts = guided_starts(MOVES, FixedGuide(scores), states)
    # staying is no move: x0 leaves 0 for 1 in the first row although 0 has the higher score
    assert starts.tolist() == [[1, 1, 0, 1, 0], [0, 0, 0, 0, 1]]


def test_evidence_is_kept_whatever_the_guide_says() -> None:
    starts = guided_starts(MOVES, OracleGuide(MIXED, [1, 2, 0, 3, 1]), STATES)
    assert np.array_equal(starts[STATES.observed], STATES.assignments[STATES.observed])
    assert not np.array_equal(starts, STATES.assignments)


def test_a_guide_of_the_evidence_names_every_value() -> None:
    guide = FastGuide(MIXED, random_weights(MIXED))
    starts = guided_starts(MOVES, guide, STATES)
    scores = guide.score(STATES)
    for row, start in enumerate(starts):
        likely = [piece.argmax() for piece in np.split(scores[row], MOVES.starts[1:])]
        assert start.tolist() == np.where(STATES.observed[row], STATES.assignments[row], likely).tolist()
