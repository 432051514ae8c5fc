"""Checks of a generator's settings: each raises one clear line."""

from __future__ import annotations

import math

import numpy as np

from beacon.errors import UsageError

MAX_FACTORS = 2_000_000
MAX_ENTRIES = 50_000_000


def check_count(name: str, value: int, low: int, high: int = MAX_FACTORS) -> None:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise UsageError(f"{name} must be a whole number from {low} to {high}; found {value!r}")


def check_number(name: str, value: float, low: float, high: float = math.inf) -> None:
    """A finite number within bounds."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not low <= value <= high:
        bounds = f"of at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        raise UsageError(f"{name} must be a number {bounds}; found {value!r}")


def check_range(name: str, low: float, high: float) -> None:
    """Two settings that span an interval."""
    if low > high:
        raise UsageError(f"min_{name} must not exceed max_{name}; found {low!r} and {high!r}")


def check_size(num_factors: int, num_entries: int) -> None:
    """Refuse a model that would not fit in memory before making any of it."""
    if num_factors > MAX_FACTORS:
        raise UsageError(f"the model would have {num_factors} factors; at most {MAX_FACTORS} are allowed")
    if num_entries > MAX_ENTRIES:
        raise UsageError(
            f"the model would have {num_entries} table entries; at most {MAX_ENTRIES} are allowed"
        )
