"""The options of ``beacon solve`` that no other verb has."""

from __future__ import annotations

from typing import Annotated

from beacon.cli.options import GUIDE, LIMITS, OUTPUT, QUERY, SEARCH, option
from beacon.runner.stop import DEFAULT_STOP

EvidenceFiles = Annotated[
    list[str] | None,
    option("--evid FILE", "Evidence file (UAI) of one query or several; may be repeated.", QUERY),
]
EvidenceTables = Annotated[
    list[str] | None,
    option(
        "--table FILE.csv",
        "Evidence table: a column per variable, a row per query, empty: not observed; may be repeated.",
        QUERY,
    ),
]
Method = Annotated[
    str | None,
    option(
        "--method NAME",
        "How to search: auto, gls+, tree or greedy; default: auto (gls+ where a guide chooses moves).",
        SEARCH,
    ),
]
PenaltyWeight = Annotated[
    float | None,
    option(
        "--penalty-weight W",
        "Weight of the penalties of gls+ (alone or in auto), in nats; default: by the model.",
        SEARCH,
    ),
]
StartAt = Annotated[
    str | None,
    option(
        "--start random|guide|FILE",
        "Where to begin: at random, where the guide would, or at a solution file; "
        "default: as the guide was tuned, or at random without one.",
        SEARCH,
    ),
]
GuideFolder = Annotated[
    str | None, option("--guide DIR", "A guide trained for this model (beacon train).", GUIDE)
]
Propagate = Annotated[
    bool,
    option(
        "--propagate/--no-propagate",
        "First fix the values that the evidence implies through zero potentials.",
    ),
]
LogZero = Annotated[
    float | None,
    option(
        "--log-zero X",
        "Log-potential that stands for zero in the search; default: by the model.",
        SEARCH,
        low=-1e100,  # squares of it still are numbers
    ),
]
Threads = Annotated[
    int | None, option("--threads T", "Queries solved at once; default: one per core.", SEARCH, low=1)
]
Steps = Annotated[int | None, option("--steps N", "This many steps (flips).", LIMITS, low=0)]
Seconds = Annotated[
    float | None,
    option(
        "--time S",
        f"This many seconds; {DEFAULT_STOP.seconds:g} unless --steps or --no-improvement is given.",
        LIMITS,
        low=0,
    ),
]
IdleSteps = Annotated[
    int | None,
    option("--no-improvement N", "This many steps in a row that find nothing better.", LIMITS, low=1),
]
Target = Annotated[float | None, option("--target SCORE", "A log score that is good enough.", LIMITS)]
Gap = Annotated[
    float | None,
    option("--gap NATS", "A score that is proved to be at most this far below the optimum.", LIMITS, low=0),
]
SolutionOut = Annotated[
    str | None,
    option(
        "-o --out OUT.MPE",
        "Write the solution; of many queries OUT.0.MPE, OUT.1.MPE, …, or 0.MPE, … in a directory OUT.",
        OUTPUT,
    ),
]
WithTrace = Annotated[bool, option("--trace", "Show every improvement, too.", OUTPUT)]
ShowAll = Annotated[bool, option("--all", "Print long lists in full.", OUTPUT)]
