"""``beacon solve``: the most probable explanation of one query, or of many on the same model."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from beacon.cli import solve_options as options
from beacon.cli.answer import ManyAnswers, Output, as_json, say_answer, warn_if_impossible, write_answer
from beacon.cli.console import note_if_slow, say_json
from beacon.cli.evidence import read_queries
from beacon.cli.guide_settings import check_guide_options, chosen_guide, files_of_guide
from beacon.cli.kernels import load_guided_kernels, load_kernels
from beacon.cli.options import EvidenceItems, Json, ModelFile, Quiet, Seed
from beacon.cli.outputs import check_no_input, check_writable, solution_paths
from beacon.cli.progress import ProgressBar
from beacon.cli.search_settings import chosen_stop, chosen_strategy

if TYPE_CHECKING:
    from beacon.model.graphical_model import GraphicalModel
    from beacon.runner.result import Result
    from beacon.runner.search import Search
    from beacon.solver import GuidedStart

LONG_SECONDS = 2.0
LONG_SEARCH = "searching; Ctrl-C ends the search and keeps the best found"


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
    weight: options.Weight = None,
    refresh: options.Refresh = None,
    candidates: options.CandidateMoves = None,
    restart_from: options.RestartAt = None,
    propagate: options.Propagate = True,
    log_zero: options.LogZero = None,
    seed: Seed = 0,
    threads: options.Threads = None,
    steps: options.Steps = None,
    time: options.Seconds = None,
    no_improvement: options.IdleSteps = None,
    target: options.Target = None,
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
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.solver import solve_many  # noqa: PLC0415

    stop = chosen_stop(steps, time, no_improvement, target)
    asked = {"weight": weight, "refresh": refresh, "candidates": candidates, "restart_from": restart_from}
    check_guide_options(guide, start, asked)
    if method is not None:
        chosen_strategy(method, penalty_weight)  # a wrong name shall not wait for the model
    model = read_model(model_file)
    guided = chosen_guide(guide, model, asked)
    strategy = chosen_strategy(method or guided.strategy, penalty_weight)
    queries = read_queries(model, evid or [], table or [], evidence or [])
    inputs = [model_file, *(evid or []), *(table or []), start, *files_of_guide(guide)]
    output = Output(_solution_files(out, len(queries), inputs), json, trace, show_all, quiet)
    first = _read_start(start, model)
    if len(queries) == 1 and not quiet:
        warn_if_impossible(model, queries[0])
    load_kernels(strategy, quiet)
    if guided.chooses_moves:
        load_guided_kernels(quiet)
    run = partial(
        solve_many,
        model,
        queries,
        guide=guided.guide,
        use=guided.use,
        strategy=strategy,
        stop=stop,
        start=first,
        propagate=propagate,
        seed=seed,
        log_zero=log_zero,
        threads=threads,
    )
    with note_if_slow(LONG_SEARCH, LONG_SECONDS, quiet or sys.stderr.isatty()):  # there a bar says so
        if len(queries) == 1:
            limit = f"up to {stop.seconds:g} s" if stop.seconds < math.inf else "searching"
            _solve_one(run, output, f"{limit}, Ctrl-C keeps the best")
        else:
            _solve_all(run, len(queries), output)


def _solution_files(out: str | None, count: int, inputs: list[str | Path | None]) -> list[Path]:
    files = [] if out is None else solution_paths(out, count)
    for file in files[:1]:  # the others are its neighbours
        check_writable(str(file))
    for file in files:
        check_no_input(str(file), inputs)
    return files


def _read_start(start: str | None, model: GraphicalModel) -> GuidedStart | None:
    from beacon.formats import read_solution  # noqa: PLC0415

    if start is None or start == "random":
        return start
    return "guide" if start == "guide" else read_solution(start, model)


def _solve_one(run: Callable[..., list[Result]], output: Output, work: str) -> None:
    """Show how the search goes, then what it found."""
    with ProgressBar(work, None, output.quiet) as bar:

        def show(search: Search) -> None:
            bar.describe(f"best score {search.best_score:.4f}, {search.best_zeros} zero factors")

        (result,) = run(on_improvement=show)
    if output.json:
        say_json(as_json(result, output.trace))
    else:
        say_answer(result, output.trace, output.show_all)
    for file in output.files:
        write_answer(file, result)


def _solve_all(run: Callable[..., list[Result]], count: int, output: Output) -> None:
    """Report each result as it comes."""
    with ProgressBar("queries (Ctrl-C keeps the best)", count, output.quiet) as bar:
        answers = ManyAnswers(bar, output)
        results = run(on_result=answers.hear)
        for query, result in enumerate(results):  # those that Ctrl-C left unheard
            answers.hear(query, result)
    for query, result in enumerate(results):
        if result.zero_factors and not output.quiet:
            warn_if_impossible(result.model, result.evidence, f"query {query}: ")
    if output.json:
        say_json({"results": [as_json(result, output.trace) for result in results]})
