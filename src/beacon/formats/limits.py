"""Limits that keep a small file from asking for a huge model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from beacon.model.graphical_model import MAX_SCOPE, MAX_TABLE_ENTRIES, MAX_VALUES

MAX_UNLISTED_ENTRIES = 1 << 26


class TableBudget:
    """Adds up the table entries that a file asks for without listing them."""

    def __init__(self) -> None:
        self._unlisted = 0

    def problem_with(self, shape: Sequence[int], num_listed: int) -> str | None:
        """What is wrong with one more table of that shape and that many listed entries, if anything."""
        size = math.prod(shape)
        self._unlisted += max(0, size - num_listed)
        if size > MAX_TABLE_ENTRIES:
            return f"expected a table of at most {MAX_TABLE_ENTRIES} entries, found one of {size:.3g}"
        if self._unlisted > MAX_UNLISTED_ENTRIES:
            return (
                f"expected at most {MAX_UNLISTED_ENTRIES} table entries beyond those listed in the file, "
                f"found {self._unlisted:.3g} so far"
            )
        return None


def problem_with_scope(scope: Sequence[object]) -> str | None:
    """What is wrong with the variables of a factor, if anything."""
    if len(scope) > MAX_SCOPE:
        return f"expected a scope of at most {MAX_SCOPE} variables, found {len(scope)}"
    if len(set(scope)) != len(scope):
        return f"expected a scope of different variables, found one of them twice: {list(scope)}"
    return None


def problem_with_domains(sizes: Iterable[int]) -> str | None:
    """What is wrong with domains given by their sizes alone, if anything."""
    total = sum(sizes)
    return None if total <= MAX_VALUES else f"expected at most {MAX_VALUES} values in all, found {total}"
