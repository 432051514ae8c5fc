"""The options of ``beacon solve`` that no other verb has."""

from __future__ import annotations

from typing import Annotated

import typer

from beacon.cli.options import DEFAULT_SECONDS, GUIDE, LIMITS, OUTPUT, QUERY, SEARCH, SWITCH, at_least

EvidenceFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--evid",
        metavar="FILE",
        rich_help_panel=QUERY,
        help="Evidence file (UAI) of one query or several; may be repeated.",
    ),
]
EvidenceTables = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="FILE.csv",
        rich_help_panel=QUERY,
        help="Evidence table: a column per variable, a row per query, empty: not observed; may be repeated.",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        rich_help_panel=SEARCH,
        help="How to search: auto, gls+, tree or greedy; default: auto (gls+ where a guide chooses moves).",
    ),
]
PenaltyWeight = Annotated[
    float | None,
    typer.Option(
        "--penalty-weight",
        metavar="W",
        rich_help_panel=SEARCH,
        help="Weight of the penalties of gls+ (alone or in auto), in nats; default: by the model.",
    ),
]
StartAt = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="random|guide|FILE",
        rich_help_panel=SEARCH,
        help="Where to begin: at random, where the guide would, or at a solution file; "
        "default: as the guide was tuned, or at random without one.",
    ),
]
GuideFolder = Annotated[
    str | None,
    typer.Option(
        "--guide", metavar="DIR", rich_help_panel=GUIDE, help="A guide trained for this model (beacon train)."
    ),
]
Weight = Annotated[
    float | None,
    typer.Option(
        "--lambda",
        metavar="L",
        rich_help_panel=GUIDE,
        help="The guide's share in the choice of moves, 0 to 1; default: as tuned, or 0.",
    ),
]
Refresh = Annotated[
    int | None,
    typer.Option(
        "--refresh",
        metavar="K",
        callback=at_least(0),
        rich_help_panel=GUIDE,
        help="Steps between two scorings by the guide, 0: score once; default: as tuned, or 0.",
    ),
]
CandidateMoves = Annotated[
    str | None,
    typer.Option(
        "--candidates",
        metavar="all|improving",
        rich_help_panel=GUIDE,
        help="Moves that the guide may choose from; default: as tuned, or improving.",
    ),
]
RestartAt = Annotated[
    str | None,
    typer.Option(
        "--restart-from",
        metavar="random|guide",
        rich_help_panel=GUIDE,
        help="Where a stagnating search begins again; default: as tuned, or random.",
    ),
]
LogZero = Annotated[
    float | None,
    typer.Option(
        "--log-zero",
        metavar="X",
        callback=at_least(-1e100),  # squares of it still are numbers
        rich_help_panel=SEARCH,
        help="Log-potential that stands for zero in the search; default: by the model.",
    ),
]
Propagate = Annotated[
    bool,
    typer.Option(
        "--propagate/--no-propagate",
        metavar=SWITCH,
        help="First fix the values that the evidence implies through zero potentials.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="T",
        callback=at_least(1),
        rich_help_panel=SEARCH,
        help="Queries solved at once; default: one per core.",
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(
        "--steps", metavar="N", callback=at_least(0), rich_help_panel=LIMITS, help="So many steps (flips)."
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--time",
        metavar="S",
        callback=at_least(0),
        rich_help_panel=LIMITS,
        help=f"So many seconds; {DEFAULT_SECONDS:g} unless --steps or --no-improvement is given.",
    ),
]
IdleSteps = Annotated[
    int | None,
    typer.Option(
        "--no-improvement",
        metavar="N",
        callback=at_least(1),
        rich_help_panel=LIMITS,
        help="So many steps in a row that find nothing better.",
    ),
]
Target = Annotated[
    float | None,
    typer.Option(
        "--target", metavar="SCORE", rich_help_panel=LIMITS, help="A log score that is good enough."
    ),
]
SolutionOut = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--out",
        metavar="OUT.MPE",
        rich_help_panel=OUTPUT,
        help="Write the solution; of many queries OUT.0.MPE, OUT.1.MPE, …, or 0.MPE, … in a directory OUT.",
    ),
]
WithTrace = Annotated[
    bool,
    typer.Option("--trace", metavar=SWITCH, rich_help_panel=OUTPUT, help="Show every improvement, too."),
]
ShowAll = Annotated[
    bool, typer.Option("--all", metavar=SWITCH, rich_help_panel=OUTPUT, help="Print long lists in full.")
]
