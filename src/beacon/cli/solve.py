"""``beacon solve``: the most probable explanation of one query, or of many on the same model."""

from __future__ import annotations

from functools import partial
from typing import Any

from beacon.cli import choices as options
from beacon.cli.options import EvidenceItems, Json, ModelFile, Quiet, Seed


@options.guide_options
def solve(
    model_file: ModelFile,
    *,
    evid: options.EvidenceFiles = None,
    evidence: EvidenceItems = None,
    table: options.EvidenceTables = None,
    key: options.KeyColumns = None,
    method: options.Method = None,
    penalty_weight: options.PenaltyWeight = None,
    start: options.StartAt = None,
    guide: options.GuideFolder = None,
    asked: dict[str, Any],
    propagate: options.Propagate = True,
    prove: options.Prove = False,
    log_zero: options.LogZero = None,
    seed: Seed = 0,
    threads: options.Threads = None,
    steps: options.Steps = None,
    time: options.Seconds = None,
    no_improvement: options.IdleSteps = None,
    target: options.Target = None,
    gap: options.Gap = None,
    alternatives: options.Alternatives = None,
    distance: options.Distance = 1,
    margins: options.WithMargins = False,
    suppose: options.Suppose = None,
    show: options.Show = None,
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

      beacon solve alarm.bif -e HR=HIGH --alternatives 3 --margins --suppose CO=LOW

      beacon solve alarm.bif --table patients.csv --key patient -o answers.csv

      beacon solve alarm.bif --table patients.csv --guide alarm.guide --time 0.1
    """
    from beacon.cli import answer  # noqa: PLC0415  (numba is slow to import)
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.io.files import base_suffix  # noqa: PLC0415
    from beacon.model.evidence import parse_evidence_items  # noqa: PLC0415
    from beacon.runner.asked import Asked  # noqa: PLC0415
    from beacon.runner.show import Show  # noqa: PLC0415
    from beacon.solver import solve_many  # noqa: PLC0415

    stop = options.chosen_stop(steps, time, no_improvement, target, gap)
    options.check_guide_options(guide, start, asked)
    if method is not None:
        options.chosen_strategy(method, penalty_weight)  # a wrong name shall not wait for the model
    model = read_model(model_file)
    guided = options.chosen_guide(guide, model, asked)
    queries = options.read_queries(model, evid or [], table or [], evidence or [], key or [])
    inputs = [model_file, *(evid or []), *(table or []), start, *options.files_of_guide(guide)]
    answers = options.table_of_answers(out, key or [], inputs)
    output = answer.Output(
        answer.solution_files(None if answers else out, len(queries.evidences), inputs),
        json,
        trace,
        show_all,
        quiet,
        is_cost=base_suffix(model_file) == ".wcsp",
        show=Show.of(show, model, len(queries.evidences)),
        asked=Asked.of(model, alternatives, distance, margins, parse_evidence_items(suppose or [], model)),
    )
    run = partial(
        solve_many,
        model,
        guide=guided.guide,
        use=guided.use,
        strategy=options.chosen_strategy(method or guided.strategy, penalty_weight),
        stop=stop,
        start=options.chosen_start(start, model),
        propagate=propagate,
        prove=prove,
        seed=seed,
        log_zero=log_zero,
        threads=threads,
    )
    results = answer.solve_and_show(run, model, queries.evidences, stop, output)
    if answers:
        from beacon.formats.answer_table import write_table  # noqa: PLC0415 - most answers are only shown

        shown = output.show.variables or results.query_variables
        write_table(answers, results.to_columns(shown, queries.keys))
