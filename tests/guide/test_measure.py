"""Measures of guides, against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beacon.guide.measure import move_loss, prediction_quality, top_move_accuracy
from beacon.guide.trivial import OracleGuide, UniformGuide
from beacon.guided.guide import States
from beacon.guided.moves import Moves
from beacon.model.graphical_model import GraphicalModel
from tests.guide.helpers import MIXED, chain, random_states

MOVES = Moves.of(MIXED)
STATES = random_states(MIXED, 25)
REFERENCES = np.where(STATES.observed, STATES.assignments, random_states(MIXED, 25, seed=4).assignments)
SCORES = np.random.default_rng(2).random((25, len(MOVES))).astype(np.float32)


def moves_of_state(row: int) -> list[tuple[int, int, float]]:
    """(variable, value, score) of every move there is."""
    pairs = zip(MOVES.variable_of.tolist(), MOVES.value_of.tolist(), SCORES[row].tolist(), strict=True)
    state, observed = STATES.assignments[row], STATES.observed[row]
    return [(i, v, score) for i, v, score in pairs if not observed[i] and state[i] != v]


def test_top_move_accuracy_is_the_share_of_states_that_come_closer() -> None:
    hits = []
    for row, (state, reference) in enumerate(zip(STATES.assignments, REFERENCES, strict=True)):
        if (state != reference).any():
            i, v, _ = max(moves_of_state(row), key=lambda move: move[2])
            moved = state.copy()
            moved[i] = v
            hits.append((moved != reference).sum() < (state != reference).sum())
    assert 0 < np.mean(hits) < 1
    assert top_move_accuracy(MOVES, SCORES, STATES, REFERENCES) == pytest.approx(np.mean(hits))


def test_move_loss_is_the_mean_cross_entropy_of_each_state() -> None:
    means = []
    for row, reference in enumerate(REFERENCES):
        losses = [-math.log(s if reference[i] == v else 1 - s) for i, v, s in moves_of_state(row)]
        means += [np.mean(losses)] if losses else []
    assert move_loss(MOVES, SCORES, STATES, REFERENCES) == pytest.approx(np.mean(means), rel=1e-6)


def test_an_oracle_is_always_right_and_loses_nothing() -> None:
    scores = OracleGuide(MIXED, REFERENCES).score(STATES)
    assert top_move_accuracy(MOVES, scores, STATES, REFERENCES) == 1
    assert move_loss(MOVES, scores, STATES, REFERENCES) < 1e-6
    quality = prediction_quality(MOVES, scores, STATES.observed, REFERENCES)
    assert quality == (0, 1)


def test_knowing_nothing_costs_the_entropy() -> None:
    model = chain(8)
    states = random_states(model)
    scores = UniformGuide(model).score(states)
    loss = prediction_quality(Moves.of(model), scores, states.observed, states.assignments).loss
    assert loss == pytest.approx(math.log(2))
    assert move_loss(Moves.of(model), scores, states, states.assignments) == pytest.approx(math.log(2))


def test_quality_counts_asked_variables_with_a_choice_alone() -> None:
    model = GraphicalModel.from_tables([2, 1, 2], [])
    observed = np.array([[False, False, True]])
    likely = np.array([[0.2, 0.8, 1.0, 1.0, 0.0]], dtype=np.float32)
    quality = prediction_quality(Moves.of(model), likely, observed, np.array([[0, 0, 1]]))
    assert quality.loss == pytest.approx(-math.log(0.2), rel=1e-6)
    assert quality.accuracy == 0


def test_where_all_states_are_at_their_references_there_is_no_accuracy() -> None:
    there = States(REFERENCES, STATES.observed)
    assert math.isnan(top_move_accuracy(MOVES, SCORES, there, REFERENCES))


def test_where_nothing_can_move_there_is_no_loss() -> None:
    fixed = States(REFERENCES, np.ones_like(STATES.observed))
    assert math.isnan(move_loss(MOVES, SCORES, fixed, REFERENCES))
    assert prediction_quality(MOVES, SCORES, fixed.observed, REFERENCES) == (0, 1)
