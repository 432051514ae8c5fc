"""Whether the numbers of a model's file are costs, and of what kind."""

from __future__ import annotations

from typing import NamedTuple

from beacon.io.files import base_suffix, read_text

BEGINNING = 1 << 16  # characters of a file, among which it says what its costs are


class CostKind(NamedTuple):
    """Costs are whole or decimal numbers, to be minimised or maximised."""

    is_whole: bool
    is_maximised: bool = False


def cost_kind(path: str) -> CostKind | None:
    """The kind of costs that a model's file has; None if its numbers are no costs."""
    suffix = base_suffix(path)
    if suffix == ".wcsp":
        return CostKind(True)
    if suffix != ".cfn":
        return None
    from beacon.formats.cfn import is_maximised  # noqa: PLC0415 - few models are of this kind

    return CostKind(False, is_maximised(read_text(path)[:BEGINNING], path))
