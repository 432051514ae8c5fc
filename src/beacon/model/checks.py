"""Checks of arguments at the public doors: each raises one clear line."""

from __future__ import annotations

import numbers
import os

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


def check_is_number(name: str, value: object) -> None:
    """Refuse text, None and whatever else is no number at all; bounds are the caller's."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise UsageError(f"{name} needs a number; found {shown(value)}")


def check_count(name: str, value: object, low: int) -> None:
    """Raise unless the value is a whole number of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise UsageError(f"{name} must be a whole number of at least {low}; found {shown(value)}")
