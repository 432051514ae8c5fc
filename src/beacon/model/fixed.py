"""The values that a search may not change, one for each variable: quicker to work with than a mapping."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Fixed = NDArray[np.int32]
"""[variables] the value that is given, by evidence or by what it implies; -1 where there is none."""


def as_fixed(evidence: Mapping[int, int] | Fixed, num_variables: int) -> Fixed:
    """Evidence as an array of its own; an array passes through."""
    if isinstance(evidence, np.ndarray):
        return evidence
    fixed = np.full(num_variables, -1, dtype=np.int32)
    count = len(evidence)
    fixed[np.fromiter(evidence.keys(), np.int64, count)] = np.fromiter(evidence.values(), np.int64, count)
    return fixed


def place(fixed: Fixed, assignment: NDArray[np.integer]) -> NDArray[np.int32]:
    """An assignment with the fixed values in it."""
    return np.where(fixed >= 0, fixed, assignment).astype(np.int32, copy=False)
