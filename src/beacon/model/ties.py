"""When are two scores the same?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

TIE_TOLERANCE = 1e-6  # two sums of the same potentials in another order differ by less


def is_tie(scores: ArrayLike, others: ArrayLike) -> NDArray[np.bool_]:
    """Are two scores the same up to rounding? Two failures (-inf) tie as well."""
    a, b = np.asarray(scores, dtype=np.float64), np.asarray(others, dtype=np.float64)
    return np.isclose(a, b, rtol=1e-9, atol=TIE_TOLERANCE)
