"""The options of ``beacon evaluate``."""

from __future__ import annotations

from typing import Annotated

import typer

from beacon.cli.options import LIMITS, OUTPUT, SWITCH, at_least
from beacon.errors import UsageError

METHODS, NETWORKS = "Methods", "Networks and queries"  # panels of the help

OptionalModel = Annotated[str | None, typer.Argument(metavar="MODEL", help="Model file; or use --suite.")]
QueryFile = Annotated[
    str | None,
    typer.Argument(
        metavar="Q", help="Query set (beacon queries); without one, queries are sampled: see --count."
    ),
]
GuideFolder = Annotated[
    str | None, typer.Argument(metavar="GUIDE", help="Trained guide, for the methods that need one.")
]
Out = Annotated[
    str,
    typer.Option("-o", "--out", metavar="DIR", rich_help_panel=OUTPUT, help="Folder of the results."),
]
Methods = Annotated[
    str,
    typer.Option(
        "--methods",
        metavar="LIST",
        rich_help_panel=METHODS,
        help="What to compare, with commas: greedy, gls+, tree, auto; with a GUIDE also beacon-greedy, "
        "beacon-gls+ and beacon (the guide's tuned settings).",
    ),
]
Solvers = Annotated[
    str,
    typer.Option(
        "--solvers", metavar="LIST", rich_help_panel=METHODS, help="Other solvers: toulbar2, daoopt."
    ),
]
Daoopt = Annotated[
    str | None,
    typer.Option("--daoopt", metavar="PROGRAM", rich_help_panel=METHODS, help="Where daoopt's program is."),
]
Lambdas = Annotated[
    str,
    typer.Option(
        "--lambdas",
        metavar="LIST",
        rich_help_panel=METHODS,
        help="Measure beacon-greedy and beacon-gls+ with each of these weights, too.",
    ),
]
Propagate = Annotated[
    bool,
    typer.Option(
        "--propagate",
        metavar=SWITCH,
        rich_help_panel=METHODS,
        help="First fix what the evidence implies; off in the published protocol.",
    ),
]
StepBudgets = Annotated[
    str,
    typer.Option("--steps", metavar="LIST", rich_help_panel=LIMITS, help="Budgets in steps, with commas."),
]
SecondBudgets = Annotated[
    str,
    typer.Option(
        "--seconds", metavar="LIST", rich_help_panel=LIMITS, help="Budgets in seconds, with commas."
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time", metavar="S", rich_help_panel=LIMITS, help="One more budget in seconds: the solvers' limit."
    ),
]
Seeds = Annotated[
    int,
    typer.Option(
        "--seeds",
        metavar="K",
        callback=at_least(1, most=1_000_000),
        rich_help_panel=NETWORKS,
        help="Repeat with so many seeds: S, S + 1, …; each has starts of its own.",
    ),
]
Split = Annotated[
    str,
    typer.Option(
        "--split", metavar="NAME", rich_help_panel=NETWORKS, help="Queries to use: test, validation or train."
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        callback=at_least(1),
        rich_help_panel=NETWORKS,
        help="Only the first N queries of the split.",
    ),
]
Count = Annotated[
    int,
    typer.Option(
        "--count",
        metavar="N",
        callback=at_least(1),
        rich_help_panel=NETWORKS,
        help="Queries to sample for a network that has no query set.",
    ),
]
SuiteFile = Annotated[
    str | None,
    typer.Option(
        "--suite", metavar="FILE.toml", rich_help_panel=NETWORKS, help="Evaluate a list of networks."
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="DIR",
        rich_help_panel=NETWORKS,
        help="Where the suite's files are, with NAME.parquet (queries) and NAME.guide beside them if any.",
    ),
]
Only = Annotated[
    str,
    typer.Option(
        "--only", metavar="LIST", rich_help_panel=NETWORKS, help="Only these networks of the suite."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="T",
        callback=at_least(1),
        rich_help_panel=LIMITS,
        help="Queries searched at once; default: one per core, and 1 where seconds are measured.",
    ),
]
DriftSteps = Annotated[
    int,
    typer.Option(
        "--drift",
        metavar="N",
        callback=at_least(0),
        rich_help_panel=LIMITS,
        help="Follow the first N steps of every search of single flips: do they approach the best known?",
    ),
]


def listed(text: str) -> list[str]:
    """The words of a list with commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def listed_numbers(option: str, text: str, kind: type[int] | type[float]) -> tuple[float, ...]:
    """The numbers of a list with commas."""
    wanted = "whole numbers" if kind is int else "numbers"
    try:
        return tuple(kind(word) for word in listed(text))
    except ValueError:
        raise UsageError(f"{option} must be {wanted} with commas between them; found {text!r}") from None
