"""Scores of assignments that no search has been set up for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.jit import kernel
from beacon.model.flat import FlatModel


def floored_scores(
    model: FlatModel, assignments: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """[assignments] floored scores and numbers of zero factors. Cost: the links of the model for each."""
    scores, zeros = np.empty(len(assignments)), np.empty(len(assignments), dtype=np.int64)
    _score(model, np.array(assignments, dtype=np.int64), scores, zeros)
    return scores, zeros


@kernel
def _score(
    model: FlatModel, rows: NDArray[np.int64], scores: NDArray[np.float64], zeros: NDArray[np.int64]
) -> None:
    for row in range(len(rows)):
        scores[row], zeros[row] = 0.0, 0
        for factor in range(len(model.table_starts) - 1):
            entry = model.bases[factor]
            for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
                entry += rows[row, model.scopes[place, 0]] * model.scopes[place, 1]
            scores[row] += model.log_table[entry]
            zeros[row] += (model.log_table[entry] == model.log_zero) * 1
