"""A model for another format: scaled where it has to be, and what the new file cannot say."""

from __future__ import annotations

import math

import numpy as np

from beacon.errors import ModelError, UsageError
from beacon.formats import write_model
from beacon.formats.cfn_writer import keeps_labels, keeps_names
from beacon.formats.wcsp import score_offset
from beacon.io.files import base_suffix
from beacon.model.graphical_model import GraphicalModel

NAMELESS = (".uai", ".lg", ".wcsp")
DEFAULT_PRECISION = 6
SAFE_LOG = 700.0  # exp(-708) and exp(709) are the last ordinary doubles; there is room for rounding


def scaled_model(model: GraphicalModel, scale: float | None) -> GraphicalModel:
    """The model with every log-potential multiplied."""
    if scale is None:
        return model
    if not 0 < scale < math.inf:
        raise UsageError(f"--scale must be a positive number; found {scale:g}")
    try:
        return model.scaled(scale)
    except ModelError as error:
        raise UsageError(f"--scale: {error}") from None


def write_fitting(model: GraphicalModel, target: str, precision: int) -> float:
    """Write a model, scaled down if a .uai file could not hold it otherwise; return the scale."""
    try:
        write_model(model, target, precision=precision)
    except ModelError:
        scale = fitting_scale(model)
        if base_suffix(target) != ".uai" or scale == 1:
            raise
        write_model(model.scaled(scale), target, precision=precision)
        return scale
    return 1.0


def fitting_scale(model: GraphicalModel) -> float:
    """The scale, at most 1, that brings every log-potential into the range of a .uai file."""
    table = model.factors.log_table
    furthest = np.abs(table).max(where=np.isfinite(table), initial=0.0)
    if furthest <= SAFE_LOG:
        return 1.0
    return float(f"{SAFE_LOG / furthest:.2e}")


def remarks_on(
    model: GraphicalModel,
    scaled: GraphicalModel,
    target: str,
    precision: int | None,
    used: float,
    asked: float | None,
) -> list[str]:
    """What the new file cannot say; ``used`` and ``asked`` are scales."""
    remarks = [f"log scores multiplied by {asked:g}"] if asked is not None else []
    if used < 1:
        scale = (asked or 1) * used
        remarks = [f"log scores multiplied by {scale:g} to fit; write .lg to keep them exact"]
    suffix = base_suffix(target)
    if suffix in NAMELESS and _has_names(model):
        remarks.append(f"names and value labels are lost ({suffix} has none)")
    if suffix == ".wcsp":
        digits = DEFAULT_PRECISION if precision is None else precision
        remarks.append(f"log score = {score_offset(scaled):.{digits}f} - cost / 10^{digits}")
    elif suffix == ".cfn":
        remarks += _remarks_on_cfn(model)
    elif precision is not None:
        remarks.append(f"--precision has no effect on {suffix}: it is for .wcsp and .cfn")
    return remarks


def _remarks_on_cfn(model: GraphicalModel) -> list[str]:
    """In .cfn, what begins like a number is an index."""
    remarks = []
    if not keeps_names(model) and _is_named(model):
        remarks.append("names of variables are lost (in .cfn none may begin like a number)")
    lost = sum(not keeps_labels(labels) and _is_labelled(labels) for labels in model.labels)
    if lost:
        remarks.append(f"value labels of {lost} variables are lost (in .cfn none may begin like a number)")
    return remarks


def _has_names(model: GraphicalModel) -> bool:
    """Has the model names or labels other than the default ones?"""
    return _is_named(model) or any(map(_is_labelled, model.labels))


def _is_named(model: GraphicalModel) -> bool:
    return any(name != f"x{i}" for i, name in enumerate(model.names))


def _is_labelled(labels: tuple[str, ...]) -> bool:
    return any(label != str(value) for value, label in enumerate(labels))
