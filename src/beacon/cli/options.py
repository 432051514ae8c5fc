"""Arguments and options that several verbs share: the same name, letter and help everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from beacon.cli.console import show_notes
from beacon.errors import UsageError

SEARCH, QUERY, LIMITS, OUTPUT, GUIDE = "Search", "Query", "Limits", "Output", "Guide"  # panels of the help
SWITCH = ""  # metavar of an option without a value: the help would say <bool> and seem to ask for one


def argument(metavar: str, help: str) -> Any:
    """An argument."""
    return typer.Argument(metavar=metavar, help=help)


def option(
    spelled: str,
    help: str,
    panel: str | None = None,
    low: float | None = None,
    callback: Callable[..., Any] | None = None,
) -> Any:
    """An option, spelled as it is typed: ``--out -o FILE``; ``low`` is the least number that it takes."""
    names = [word for word in spelled.split() if word.startswith("-")]
    (metavar,) = [word for word in spelled.split() if not word.startswith("-")] or [SWITCH]
    check = at_least(low) if low is not None else callback
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, callback=check)


def at_least(low: float) -> Callable[[typer.CallbackParam, Any], Any]:
    """A check of an option that is a number; nan fails it, too."""

    def check(option: typer.CallbackParam, value: Any) -> Any:
        if value is not None and not value >= low:
            raise UsageError(f"{option.opts[0]} must be at least {low}; found {value}")
        return value

    return check


ModelFile = Annotated[
    str,
    argument("MODEL", "Model file: .uai, .lg, .wcsp, .cfn or .bif, plain or compressed (.gz, .xz, .bz2)."),
]
QueryFile = Annotated[str, argument("Q", "Query set of that model, made by `beacon queries`.")]
EvidenceItems = Annotated[
    list[str] | None,
    option(
        "--evidence -e VARIABLE=VALUE", "An observation, by names or indices; may be repeated.", panel=QUERY
    ),
]
Seed = Annotated[int, option("--seed S", "Seed of all randomness.", low=0)]
Jobs = Annotated[int | None, option("--jobs N", "Queries worked on at once; default: one per core.", low=1)]
Device = Annotated[
    str,
    option(
        "--device auto|cpu|cuda",
        "Where the attention network is trained; auto: on the GPU where there is one.",
    ),
]
Json = Annotated[bool, option("--json", "Print one JSON object on stdout and nothing else.", panel=OUTPUT)]
Quiet = Annotated[
    bool, option("--quiet -q", "No progress, notes or warnings on stderr.", panel=OUTPUT, callback=show_notes)
]
