"""Cells of tables in memory: which are missing, and how the others would be written in a CSV table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_MISSING_TYPES = ("NAType", "NaTType")  # of pandas, which need not be installed


def is_missing(cell: Any) -> bool:
    """Does this cell say nothing? None, nan, and what pandas puts where nothing is."""
    if isinstance(cell, float | np.floating):
        return math.isnan(cell)
    return cell is None or type(cell).__name__ in _MISSING_TYPES


def texts_of(cell: Any) -> list[str]:
    """How a cell could be written in a CSV table, the likeliest first; missing cells are empty texts."""
    if is_missing(cell):
        return [""]
    if isinstance(cell, bool | np.bool_):
        return [str(cell), str(cell).upper(), str(cell).lower()]
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return [str(cell), str(int(cell))]  # whole numbers become floats where some are missing
    return [str(cell).strip()]
