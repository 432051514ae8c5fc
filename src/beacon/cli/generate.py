"""``beacon generate``: a model of a known family."""

from __future__ import annotations

from typing import Annotated, Any

from beacon.cli.console import one_line, say, say_json
from beacon.cli.options import Json, Quiet, Seed, argument, option
from beacon.errors import UsageError, plural
from beacon.io.files import check_writable
from beacon.io.settings import Setting, as_text, check_known, items_to_settings, settings_of


def generate(
    family: Annotated[str | None, argument("FAMILY", "Family of models; see --list.")] = None,
    *,
    out: Annotated[str | None, option("-o --out OUT", "File to write; a .bif file keeps names.")] = None,
    seed: Seed = 0,
    settings: Annotated[
        list[str] | None, option("--set KEY=VALUE", "A setting of the family; may be repeated.")
    ] = None,
    show_list: Annotated[bool, option("--list", "List the families, their settings and defaults.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a random model of a known family.

    Example:  beacon generate grid -o grid.uai --set rows=40 --set columns=40 --seed 1
    """
    from beacon.formats import write_model  # noqa: PLC0415
    from beacon.model.families import FAMILIES  # noqa: PLC0415

    if show_list:
        _list_families(json)
        return
    if family is None or out is None:
        raise UsageError("expected a family and -o OUT; `beacon generate --list` shows the families")
    check_known(family, list(FAMILIES), f"no family is called {family!r}")
    check_writable(out)
    make = FAMILIES[family]
    model = make(**({"seed": seed} | items_to_settings(settings or [], settings_of(make))))
    write_model(model, out)
    if json:
        size = {"variables": model.num_variables, "factors": model.num_factors}
        say_json({"out": out, "family": family, "seed": seed, **size})
    else:
        words = f"{plural(model.num_variables, 'variable')}, {plural(model.num_factors, 'factor')}"
        say(one_line(f"wrote {out}: {words}"))


def _list_families(json: bool) -> None:
    """Print each family with what it is and its settings; the seed has an option of its own."""
    from beacon.model.families import FAMILIES  # noqa: PLC0415

    known: dict[str, list[Setting]] = {
        name: [setting for setting in settings_of(make).values() if setting.name != "seed"]
        for name, make in FAMILIES.items()
    }
    if json:
        listed: dict[str, Any] = {name: {s.name: s.default for s in own} for name, own in known.items()}
        say_json(listed)
        return
    for name, own in known.items():
        say(f"{name}: {(FAMILIES[name].__doc__ or '').partition(chr(10))[0].replace('``', '')}")
        for setting in own:
            say(f"    --set {setting.name}={as_text(setting.default)}")
