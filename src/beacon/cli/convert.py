"""``beacon convert``: a model in another format, with remarks on what that format cannot hold."""

from __future__ import annotations

from typing import Annotated

from beacon.cli.console import one_line, say, say_json
from beacon.cli.options import Json, Quiet, argument, option
from beacon.cli.rewriting import DEFAULT_PRECISION, remarks_on, scaled_model, write_fitting
from beacon.errors import plural
from beacon.io.files import check_writable


def convert(
    source: Annotated[str, argument("IN", "Model file to read.")],
    target: Annotated[
        str, argument("OUT", "File to write: .uai, .lg, .wcsp, .cfn, .bif or .xmlbif, then .gz, .xz or .bz2.")
    ],
    *,
    precision: Annotated[
        int | None,
        option(
            "--precision N",
            f"Decimals that costs keep in .wcsp, and solvers keep of .cfn; default: {DEFAULT_PRECISION}.",
        ),
    ] = None,
    scale: Annotated[
        float | None,
        option("--scale S", "Multiply every log-potential by this positive number."),
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
    scaled = scaled_model(model, scale)
    used = write_fitting(scaled, target, DEFAULT_PRECISION if precision is None else precision)
    remarks = remarks_on(model, scaled, target, precision, used, scale)
    if json:
        size = {"variables": model.num_variables, "factors": model.num_factors}
        say_json({"out": target, **size, "scale": (scale or 1.0) * used, "remarks": remarks})
    else:
        words = f"{plural(model.num_variables, 'variable')}, {plural(model.num_factors, 'factor')}"
        say(one_line("; ".join([f"wrote {target}: {words}", *remarks])))
