"""The fast guide's scoring, against the formula written out."""

from __future__ import annotations

import numpy as np
import pytest

from beacon.guide.fast_guide import ROWS_AT_ONCE, FastGuide
from beacon.guided.guide import States
from tests.guide.helpers import MIXED, chain, random_states, random_weights


def naive_row(guide: FastGuide, assignment: list[int], observed: list[bool]) -> list[float]:
    weights = guide.weights
    hidden = np.zeros(len(weights.hidden_bias))
    for i, (value, seen) in enumerate(zip(assignment, observed, strict=True)):
        if seen and guide.moves.domain_sizes[i] > 1:
            hidden += weights.embeddings[guide.moves.starts[i] + value]
    hidden = hidden + np.maximum(weights.hidden_weights.T @ hidden + weights.hidden_bias, 0)
    logits = weights.output_weights.T @ hidden + weights.output_bias
    pieces = [np.exp(piece) for piece in np.split(logits, guide.moves.starts[1:])]
    return [float(share) for piece in pieces for share in piece / piece.sum()]


def test_scores_are_those_of_the_formula() -> None:
    guide, states = FastGuide(MIXED, random_weights(MIXED)), random_states(MIXED, 3 * ROWS_AT_ONCE + 1)
    rows = zip(states.assignments.tolist(), states.observed.tolist(), strict=True)
    np.testing.assert_allclose(guide.score(states), [naive_row(guide, *row) for row in rows], atol=1e-5)


def test_other_evidence_gives_other_scores() -> None:
    guide = FastGuide(MIXED, random_weights(MIXED))
    observed = np.array([[True, False, False, False, False]] * 2)
    scores = guide.score(States(np.array([[0, 0, 0, 0, 0], [1, 0, 0, 0, 0]]), observed))
    assert np.abs(scores[0] - scores[1]).max() > 0.01
    none = guide.score(States(np.zeros((1, 5), dtype=np.int64), np.zeros((1, 5), dtype=np.bool_)))
    assert np.abs(scores[0] - none[0]).max() > 0.01


def test_a_single_value_says_nothing_when_it_is_observed() -> None:
    guide = FastGuide(MIXED, random_weights(MIXED))
    zeros = np.zeros((2, 5), dtype=np.int64)
    observed = np.zeros((2, 5), dtype=np.bool_)
    observed[1, 2] = True
    scores = guide.score(States(zeros, observed))
    assert np.array_equal(scores[0], scores[1])
    assert scores[0, 5] == 1


def test_evidence_on_everything_is_no_harm() -> None:
    guide, states = FastGuide(MIXED, random_weights(MIXED)), random_states(MIXED)
    scores = guide.score(States(states.assignments, np.ones_like(states.observed)))
    assert np.isfinite(scores).all()


def test_weights_of_another_model_are_refused() -> None:
    with pytest.raises(ValueError, match="its weights do not fit the model"):
        FastGuide(chain(4), random_weights(MIXED))


def test_weights_must_be_numbers() -> None:
    weights = random_weights(MIXED)
    weights.output_bias[3] = np.nan
    with pytest.raises(ValueError, match="its weights are not all finite numbers"):
        FastGuide(MIXED, weights)
