"""Checks of a generator's settings: each raises one clear line."""

from __future__ import annotations

from beacon.errors import UsageError, check_count

MAX_FACTORS = 5_000_000
MAX_ENTRIES = 50_000_000


def check_amount(name: str, value: int, low: int) -> None:
    """A whole number; no model has more of anything than it may have factors."""
    check_count(name, value, low, MAX_FACTORS)


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
