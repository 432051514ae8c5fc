"""Checks of arguments at the public doors: each raises one clear line."""

from __future__ import annotations

import math
import numbers
import os
from typing import Any

import numpy as np

from beacon.errors import UsageError, shown
from beacon.model.graphical_model import GraphicalModel


def check_is_model(model: object) -> None:
    """Refuse the path of a model, or anything else that is none."""
    if isinstance(model, GraphicalModel):
        return
    if isinstance(model, str | os.PathLike):
        path = os.fspath(model)
        raise UsageError(f"expected a model, found the path {path!r}; read it: beacon.read_model({path!r})")
    raise UsageError(
        f"expected a model, found {shown(model)}; beacon.read_model(path) reads one from a file, "
        "beacon.from_pgmpy(network) takes one over"
    )


def check_seed(seed: object) -> None:
    """A seed numpy accepts."""
    check_count("seed", seed, 0)


def check_count(name: str, value: Any, low: int, high: int | None = None) -> None:
    """A whole number within bounds."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or not low <= value or (high is not None and value > high):
        bounds = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise UsageError(f"{name} must be a whole number {bounds}; found {shown(value)}")


def check_is_number(name: str, value: object) -> None:
    """Refuse text, None and whatever else is no number at all; bounds are the caller's."""
    if not _is_number(value):
        raise UsageError(f"{name} needs a number; found {shown(value)}")


def check_number(name: str, value: Any, low: float, high: float = math.inf) -> None:
    """A finite number within bounds."""
    if not _is_number(value) or not math.isfinite(value) or not low <= value <= high:
        bounds = f"of at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        raise UsageError(f"{name} must be a number {bounds}; found {shown(value)}")


def check_positive(name: str, value: Any) -> None:
    """A finite number above zero."""
    if not _is_number(value) or not 0 < value < math.inf:
        raise UsageError(f"{name} must be a positive number; found {shown(value)}")


def check_at_least(name: str, value: Any, low: int) -> None:
    """A number of at least ``low``, or infinity."""
    if not _is_number(value) or not value >= low:
        raise UsageError(f"{name} must be {low} or more; found {shown(value)}")


def check_dropout(name: str, value: Any) -> None:
    """A share that leaves something."""
    if not _is_number(value) or not 0 <= value < 1:
        raise UsageError(f"{name} must be a share, 0 ≤ {name} < 1; found {shown(value)}")


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
