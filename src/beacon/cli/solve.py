"""``beacon solve``: the most probable explanation of one query, or of many on the same model."""

from __future__ import annotations

import math
import sys
from functools import partial
from typing import Annotated, Any

from beacon.cli import answer
from beacon.cli.choices import check_guide_options, chosen_guide, chosen_stop, chosen_strategy, files_of_guide
from beacon.cli.console import note_if_slow
from beacon.cli.evidence import read_queries
from beacon.cli.flags import flags
from beacon.cli.options import (
    GUIDE,
    LIMITS,
    OUTPUT,
    QUERY,
    SEARCH,
    EvidenceItems,
    Json,
    ModelFile,
    Quiet,
    Seed,
    option,
)
from beacon.cli.outputs import solution_files
from beacon.guided.use import GuideUse
from beacon.runner.stop import DEFAULT_STOP

LONG_SECONDS = 2.0
LONG_SEARCH = "searching; Ctrl-C ends the search and keeps the best found"

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


@flags(
    "asked",
    GuideUse,
    panel=GUIDE,
    unset="as tuned, or {}",
    weight="--lambda L",
    refresh="--refresh K",
    candidates="--candidates all|improving",
    restart_from="--restart-from random|guide",
)
def solve(
    model_file: ModelFile,
    *,
    evid: EvidenceFiles = None,
    evidence: EvidenceItems = None,
    table: EvidenceTables = None,
    method: Method = None,
    penalty_weight: PenaltyWeight = None,
    start: StartAt = None,
    guide: GuideFolder = None,
    asked: dict[str, Any],
    propagate: Propagate = True,
    log_zero: LogZero = None,
    seed: Seed = 0,
    threads: Threads = None,
    steps: Steps = None,
    time: Seconds = None,
    no_improvement: IdleSteps = None,
    target: Target = None,
    out: SolutionOut = None,
    json: Json = False,
    trace: WithTrace = False,
    show_all: ShowAll = False,
    quiet: Quiet = False,
) -> None:
    """Find the most probable explanation: the best values of all variables that are not observed.

    The first limit to be reached ends the search, and so does Ctrl-C: the best found so far is the result.

    Examples:

      beacon solve alarm.bif -e HR=HIGH -e CO=LOW --time 5

      beacon solve model.uai.xz --evid model.uai.evid --steps 100000 -o best.MPE

      beacon solve alarm.bif --table patients.csv --json > answers.json

      beacon solve alarm.bif --table patients.csv --guide alarm.guide --time 0.1
    """
    from beacon.formats import read_model, read_solution  # noqa: PLC0415
    from beacon.runner.guided_batch import load_kernels  # noqa: PLC0415
    from beacon.solver import solve_many  # noqa: PLC0415

    stop = chosen_stop(steps, time, no_improvement, target)
    check_guide_options(guide, start, asked)
    if method is not None:
        chosen_strategy(method, penalty_weight)  # a wrong name shall not wait for the model
    model = read_model(model_file)
    guided = chosen_guide(guide, model, asked)
    queries = read_queries(model, evid or [], table or [], evidence or [])
    inputs = [model_file, *(evid or []), *(table or []), start, *files_of_guide(guide)]
    output = answer.Output(solution_files(out, len(queries), inputs), json, trace, show_all, quiet)
    strategy = chosen_strategy(method or guided.strategy, penalty_weight)
    load_kernels(strategy, guided.use or GuideUse(start="random"))
    run = partial(
        solve_many,
        model,
        queries,
        guide=guided.guide,
        use=guided.use,
        strategy=strategy,
        stop=stop,
        start=start if start in {None, "random", "guide"} else read_solution(str(start), model),
        propagate=propagate,
        seed=seed,
        log_zero=log_zero,
        threads=threads,
    )
    if len(queries) == 1 and not quiet:
        answer.warn_if_impossible(model, queries[0])
    with note_if_slow(LONG_SEARCH, LONG_SECONDS, quiet or sys.stderr.isatty()):  # there a bar says so
        if len(queries) == 1:
            limit = f"up to {stop.seconds:g} s" if stop.seconds < math.inf else "searching"
            answer.solve_one(run, output, f"{limit}, Ctrl-C keeps the best")
        else:
            answer.solve_all(run, len(queries), output)
