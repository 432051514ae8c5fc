"""The options of ``beacon collect`` that no other verb has."""

from __future__ import annotations

from typing import Annotated

import typer

from beacon.cli.options import OUTPUT, at_least

TEACHER, WALKS = "References", "Trajectories"

QueryFile = Annotated[
    str, typer.Argument(metavar="Q", help="Query set of that model, made by `beacon queries`.")
]
TrajectoriesOut = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--out",
        metavar="T.parquet",
        rich_help_panel=OUTPUT,
        help="File to write (Parquet); default: trajectories.parquet beside Q.",
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--teacher",
        metavar="NAME",
        rich_help_panel=TEACHER,
        help="What finds the references: auto, gls+ or toulbar2.",
    ),
]
TeacherSteps = Annotated[
    int | None,
    typer.Option(
        "--teacher-steps",
        metavar="N",
        callback=at_least(1),
        rich_help_panel=TEACHER,
        help="Steps for each reference; 100000 unless --teacher-time is given.",
    ),
]
TeacherTime = Annotated[
    float | None,
    typer.Option(
        "--teacher-time",
        metavar="S",
        callback=at_least(0),
        rich_help_panel=TEACHER,
        help="Seconds for each reference (toulbar2: 10); results then depend on the machine.",
    ),
]
TeacherRuns = Annotated[
    int,
    typer.Option(
        "--teacher-runs",
        metavar="K",
        callback=at_least(1),
        rich_help_panel=TEACHER,
        help="Runs for each reference; the best counts.",
    ),
]
WalkSteps = Annotated[
    int,
    typer.Option(
        "--steps",
        metavar="N",
        callback=at_least(0),
        rich_help_panel=WALKS,
        help="Most recorded steps per query; 0: references alone.",
    ),
]
RestartInterval = Annotated[
    int | None,
    typer.Option(
        "--restart-interval",
        metavar="N",
        callback=at_least(1),
        rich_help_panel=WALKS,
        help="Steps of each walk, dividing --steps; default: one for each variable.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", callback=at_least(1), help="Queries worked on at once; default: one per core."
    ),
]
