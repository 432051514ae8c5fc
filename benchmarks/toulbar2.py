"""toulbar2 as a judge; beacon.peers.toulbar2 says how it is asked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from beacon.model.graphical_model import GraphicalModel
from beacon.peers.peer import find_peer


def solve_with_toulbar2(
    model: GraphicalModel, evidence: Mapping[int, int], seconds: float
) -> tuple[NDArray[np.int64] | None, bool]:
    """The best assignment found (None if there is none) and whether it is proved optimal."""
    answer = find_peer("toulbar2").solve(model, evidence, seconds)
    return answer.assignment, answer.proved_optimal
