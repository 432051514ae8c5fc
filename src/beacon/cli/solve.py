"""``beacon solve``: the most probable explanation of one query, or of many on the same model."""

from __future__ import annotations

import math
import sys
from functools import partial
from typing import Any

from beacon.cli import solve_options as options
from beacon.cli.console import note_if_slow
from beacon.cli.evidence import read_queries
from beacon.cli.flags import flags
from beacon.cli.options import GUIDE, EvidenceItems, Json, ModelFile, Quiet, Seed
from beacon.cli.outputs import solution_files
from beacon.guided.use import GuideUse

LONG_SECONDS = 2.0
LONG_SEARCH = "searching; Ctrl-C ends the search and keeps the best found"


@flags(
    "asked",
    GuideUse,
    GUIDE,
    *("--refresh K", "--candidates all|improving", "--restart-from random|guide"),
    weight="--lambda L",
    unset="as tuned, or {}",
)
def solve(
    model_file: ModelFile,
    *,
    evid: options.EvidenceFiles = None,
    evidence: EvidenceItems = None,
    table: options.EvidenceTables = None,
    method: options.Method = None,
    penalty_weight: options.PenaltyWeight = None,
    start: options.StartAt = None,
    guide: options.GuideFolder = None,
    asked: dict[str, Any],
    propagate: options.Propagate = True,
    log_zero: options.LogZero = None,
    seed: Seed = 0,
    threads: options.Threads = None,
    steps: options.Steps = None,
    time: options.Seconds = None,
    no_improvement: options.IdleSteps = None,
    target: options.Target = None,
    gap: options.Gap = None,
    out: options.SolutionOut = None,
    json: Json = False,
    trace: options.WithTrace = False,
    show_all: options.ShowAll = False,
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
    from beacon.cli import answer, choices  # noqa: PLC0415  (numba is slow to import)
    from beacon.formats import read_model, read_solution  # noqa: PLC0415
    from beacon.solver import solve_many  # noqa: PLC0415

    stop = choices.chosen_stop(steps, time, no_improvement, target, gap)
    choices.check_guide_options(guide, start, asked)
    if method is not None:
        choices.chosen_strategy(method, penalty_weight)  # a wrong name shall not wait for the model
    model = read_model(model_file)
    guided = choices.chosen_guide(guide, model, asked)
    queries = read_queries(model, evid or [], table or [], evidence or [])
    inputs = [model_file, *(evid or []), *(table or []), start, *choices.files_of_guide(guide)]
    output = answer.Output(solution_files(out, len(queries), inputs), json, trace, show_all, quiet)
    strategy = choices.chosen_strategy(method or guided.strategy, penalty_weight)
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
