"""``beacon convert``: a model in another format, and a word on what that format cannot hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from beacon.cli.console import one_line, say, say_json
from beacon.cli.options import Json, Quiet
from beacon.cli.outputs import check_writable
from beacon.errors import ModelError, UsageError

if TYPE_CHECKING:
    from beacon.model.graphical_model import GraphicalModel

NAMELESS = (".uai", ".lg", ".wcsp")
DEFAULT_PRECISION = 6
SAFE_LOG = 700.0  # exp(-708) and exp(709) are the last ordinary doubles; there is room for rounding


def _check_scale(scale: float | None) -> float | None:
    if scale is not None and not 0 < scale < math.inf:
        raise UsageError(f"--scale must be a positive number; found {scale:g}")
    return scale


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="Model file to read.")],
    target: Annotated[
        str,
        typer.Argument(metavar="OUT", help="File to write: .uai, .lg, .wcsp or .bif, then .gz, .xz or .bz2."),
    ],
    *,
    precision: Annotated[
        int | None,
        typer.Option(
            "--precision",
            metavar="N",
            help=f"Decimals that the costs of a .wcsp file keep; default: {DEFAULT_PRECISION}.",
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            "--scale",
            metavar="S",
            callback=_check_scale,
            help="Multiply every log-potential by this positive number.",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a model in another format.

    A .uai file holds potentials, whose logs must lie above -708. A model with
    lower ones (large costs) is scaled down to fit: its scores change, its best
    assignments do not. A .lg file keeps everything exactly.

    Example:  beacon convert alarm.bif alarm.uai.xz
    """
    from beacon.formats import read_model  # noqa: PLC0415

    check_writable(target, [source])
    model = read_model(source)
    scaled = _scaled(model, scale)
    used = write_fitting(scaled, target, DEFAULT_PRECISION if precision is None else precision)
    remarks = [*_remarks_on_scale(used, scale), *_remarks(model, scaled, target, precision)]
    if json:
        size = {"variables": model.num_variables, "factors": model.num_factors}
        say_json({"out": target, **size, "scale": (scale or 1.0) * used, "remarks": remarks})
    else:
        words = f"{model.num_variables:,} variables, {model.num_factors:,} factors"
        say(one_line("; ".join([f"wrote {target}: {words}", *remarks])))


def _scaled(model: GraphicalModel, scale: float | None) -> GraphicalModel:
    try:
        return model if scale is None else model.scaled(scale)
    except ModelError as error:
        raise UsageError(f"--scale: {error}") from None


def write_fitting(model: GraphicalModel, target: str, precision: int) -> float:
    """Write a model, scaled down if a .uai file could not hold it otherwise; return the scale."""
    from beacon.formats import write_model  # noqa: PLC0415

    try:
        write_model(model, target, precision=precision)
    except ModelError:
        scale = fitting_scale(model)
        if _suffix(target) != ".uai" or scale == 1:
            raise
        write_model(model.scaled(scale), target, precision=precision)
        return scale
    return 1.0


def fitting_scale(model: GraphicalModel) -> float:
    """The scale, at most 1, that brings every log-potential into the range of a .uai file."""
    import numpy as np  # noqa: PLC0415

    tables = (factor.log_table for factor in model.factors)
    furthest = max((np.abs(t).max(where=np.isfinite(t), initial=0.0) for t in tables), default=0.0)
    if furthest <= SAFE_LOG:
        return 1.0
    return float(f"{SAFE_LOG / furthest:.2e}")


def _remarks_on_scale(used: float, asked: float | None) -> list[str]:
    if used < 1:
        return [f"log scores multiplied by {(asked or 1) * used:g} to fit; write .lg to keep them exact"]
    return [f"log scores multiplied by {asked:g}"] if asked is not None else []


def _remarks(model: GraphicalModel, scaled: GraphicalModel, target: str, precision: int | None) -> list[str]:
    """What the new file cannot say."""
    from beacon.formats.wcsp import score_offset  # noqa: PLC0415

    remarks = []
    suffix = _suffix(target)
    if suffix in NAMELESS and _has_names(model):
        remarks.append(f"names and value labels are lost ({suffix} has none)")
    if suffix == ".wcsp":
        digits = DEFAULT_PRECISION if precision is None else precision
        remarks.append(f"log score = {score_offset(scaled):.{digits}f} - cost / 10^{digits}")
    elif precision is not None:
        remarks.append(f"--precision has no effect on {suffix}: it is for .wcsp")
    return remarks


def _has_names(model: GraphicalModel) -> bool:
    """Are there names or labels that indices do not tell?"""
    is_named = any(name != f"x{i}" for i, name in enumerate(model.names))
    return is_named or any(label != str(v) for values in model.labels for v, label in enumerate(values))


def _suffix(path: str) -> str:
    from beacon.io.files import base_suffix  # noqa: PLC0415

    return base_suffix(path)
