"""``beacon generate``: a model of a known family."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from beacon.cli.console import one_line, say, say_json
from beacon.cli.options import SWITCH, Json, Quiet, Seed
from beacon.cli.outputs import check_writable
from beacon.cli.settings import closest, parse_settings, settings_of, written
from beacon.errors import UsageError


def generate(
    family: Annotated[
        str | None, typer.Argument(metavar="FAMILY", help="Family of models; see --list.")
    ] = None,
    *,
    out: Annotated[
        str | None, typer.Option("-o", "--out", metavar="OUT", help="File to write; a .bif file keeps names.")
    ] = None,
    seed: Seed = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the family; may be repeated."),
    ] = None,
    show_list: Annotated[
        bool, typer.Option("--list", metavar=SWITCH, help="List the families, their settings and defaults.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a random model of a known family.

    Example:  beacon generate grid -o grid.uai --set rows=40 --set columns=40 --seed 1
    """
    from beacon.formats import write_model  # noqa: PLC0415
    from beacon.model.families import FAMILIES  # noqa: PLC0415

    if show_list:
        say_json(_families()) if json else list_families()
        return
    if family is None or out is None:
        raise UsageError("expected a family and -o OUT; `beacon generate --list` shows the families")
    if family not in FAMILIES:
        raise UsageError(f"no family is called {family!r}; {closest(family, list(FAMILIES))}")
    check_writable(out)
    make = FAMILIES[family]
    model = make(**({"seed": seed} | parse_settings(settings or [], settings_of(make))))
    write_model(model, out)
    if json:
        size = {"variables": model.num_variables, "factors": model.num_factors}
        say_json({"out": out, "family": family, "seed": seed, **size})
    else:
        say(one_line(f"wrote {out}: {model.num_variables:,} variables, {model.num_factors:,} factors"))


def _families() -> dict[str, dict[str, Any]]:
    """Each family's settings and their defaults."""
    from beacon.model.families import FAMILIES  # noqa: PLC0415

    return {
        name: {known.name: known.default for known in settings_of(make).values() if known.name != "seed"}
        for name, make in FAMILIES.items()
    }


def list_families() -> None:
    """Print each family with what it is and its settings."""
    from beacon.model.families import FAMILIES  # noqa: PLC0415

    for name, make in FAMILIES.items():
        summary = (make.__doc__ or "").partition("\n")[0].replace("``", "")
        say(f"{name}: {summary}")
        for setting in settings_of(make).values():
            if setting.name != "seed":  # has an option of its own
                say(f"    --set {setting.name}={written(setting.default)}")
