from __future__ import annotations

import math

import numpy as np
import pytest

from beacon.model.flat import compile_model
from beacon.runner.margins import flip_losses
from tests.exact.small_models import KINDS, joint_table, small_queries


@pytest.mark.parametrize("kind", KINDS)
def test_losses_are_differences_of_scores(kind: str) -> None:
    for model, _ in small_queries(kind, 40):
        joint = joint_table(model, {})
        if joint.max() == -math.inf:
            continue
        best = np.array(np.unravel_index(joint.argmax(), joint.shape))
        losses, move = flip_losses(compile_model(model), best), 0
        scale = 1 + float(np.abs(joint[np.isfinite(joint)]).max())
        for variable, size in enumerate(model.domain_sizes.tolist()):
            for value in range(size):
                changed = best.copy()
                changed[variable] = value
                expected = joint.max() - joint[tuple(changed)]
                assert losses[move] == expected or abs(losses[move] - expected) <= 1e-9 * scale
                move += 1
