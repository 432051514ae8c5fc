"""Scores without a search, against the model's own."""

from __future__ import annotations

import numpy as np
import pytest

from beacon.engine.floored import floored_scores
from beacon.model.flat import compile_model
from tests.engine.helpers import small_models

MODELS = small_models()


@pytest.mark.parametrize("name", MODELS)
def test_scores_and_zeros_are_those_of_the_model(name: str) -> None:
    model = MODELS[name]
    flat = compile_model(model)
    rows = np.random.default_rng(1).integers(model.domain_sizes, size=(5, model.num_variables))
    scores, zeros = floored_scores(flat, rows)
    assert scores == pytest.approx([model.floored_log_score(row, flat.log_zero) for row in rows])
    assert zeros.tolist() == [model.num_zero_factors(row) for row in rows]


def test_no_assignments_have_no_scores() -> None:
    model = next(iter(MODELS.values()))
    scores, zeros = floored_scores(compile_model(model), np.zeros((0, model.num_variables), dtype=np.int64))
    assert len(scores) == len(zeros) == 0
