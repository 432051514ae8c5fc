"""Arguments and options that several verbs share: the same name, letter and help everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

DEFAULT_METHOD = "gls+"
DEFAULT_SECONDS = 1.0

QUERY, LIMITS, OUTPUT = "Query", "Limits", "Output"  # panels of the help

ModelFile = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Model file: .uai, .lg, .wcsp, .cfn or .bif, plain or compressed (.gz, .xz, .bz2).",
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Seed of all randomness.")]
Json = Annotated[
    bool,
    typer.Option("--json", rich_help_panel=OUTPUT, help="Print one JSON object on stdout and nothing else."),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", rich_help_panel=OUTPUT, help="No progress, notes or warnings on stderr."),
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
