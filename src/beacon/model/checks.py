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
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise UsageError(f"seed must be a whole number of at least 0; found {shown(seed)}")


def check_is_number(name: str, value: object) -> None:
    """Refuse text, None and whatever else is no number at all; bounds are the caller's."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise UsageError(f"{name} needs a number; found {shown(value)}")


def check_is_whole(name: str, value: object) -> None:
    """Refuse what is not an integer."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise UsageError(f"{name} needs a whole number; found {shown(value)}")
