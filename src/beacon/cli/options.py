"""Arguments and options that several verbs share: the same name, letter and help everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from beacon.errors import UsageError

DEFAULT_METHOD = "auto"
DEFAULT_SECONDS = 1.0
DEFAULT_COUNT = 1000  # queries to learn from

SEARCH, QUERY, LIMITS, OUTPUT, GUIDE = "Search", "Query", "Limits", "Output", "Guide"  # panels of the help
SWITCH = ""  # metavar of an option without a value: the help would say <bool> and seem to ask for one


def at_least(low: float, most: float | None = None) -> Callable[[typer.CallbackParam, Any], Any]:
    """A check of an option that is a number; nan fails it, too."""

    def check(option: typer.CallbackParam, value: Any) -> Any:
        if value is not None and not value >= low:
            raise UsageError(f"{option.opts[0]} must be at least {low}; found {value}")
        if value is not None and most is not None and not value <= most:
            raise UsageError(f"{option.opts[0]} must be at most {most:,}; found {value}")
        return value

    return check


ModelFile = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Model file: .uai, .lg, .wcsp, .cfn or .bif, plain or compressed (.gz, .xz, .bz2).",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="S", callback=at_least(0), help="Seed of all randomness.")
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        metavar=SWITCH,
        rich_help_panel=OUTPUT,
        help="Print one JSON object on stdout and nothing else.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        metavar=SWITCH,
        rich_help_panel=OUTPUT,
        help="No progress, notes or warnings on stderr.",
    ),
]
EvidenceItems = Annotated[
    list[str] | None,
    typer.Option(
        "--evidence",
        "-e",
        metavar="VARIABLE=VALUE",
        rich_help_panel=QUERY,
        help="An observation, by names or indices; may be repeated.",
    ),
]
