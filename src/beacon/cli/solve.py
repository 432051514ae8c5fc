"""``beacon solve``: the most probable explanation of one query, or of many on the same model."""

from __future__ import annotations

from functools import partial
from typing import Any

from beacon.cli import choices as options
from beacon.cli.options import Backend, EvidenceItems, Json, ModelFile, Quiet, Seed
from beacon.runner.stop import StopSettings


@options.limit_options
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
    backend: Backend = None,
    limits: StopSettings,
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

      beacon solve alarm.bif -e HR=HIGH --alternatives 3 --margins --suppose CO=LOW

      beacon solve alarm.bif --table patients.csv --key patient --guide alarm.guide -o answers.csv
    """
    from beacon.cli import answer  # noqa: PLC0415  (numba is slow to import)
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.model.evidence import parse_evidence_items  # noqa: PLC0415
    from beacon.solver import default_strategy, guide_and_use, solve_many  # noqa: PLC0415
    from beacon.strategies.strategy import make_strategy  # noqa: PLC0415

    options.check_guide_options(guide, start, asked)
    if method is not None:
        make_strategy(method)  # a wrong name is found before the model is read
    model = read_model(model_file)
    begin = options.chosen_start(start, model)
    loaded, use = guide_and_use(model, guide, asked, begin)
    strategy = make_strategy(method or default_strategy(loaded, use))
    if penalty_weight is not None:
        strategy = strategy.weighted(penalty_weight)
    queries, keys = options.read_queries(model, evid or [], table or [], evidence or [], key or [])
    supposed = parse_evidence_items(suppose or [], model)
    output = answer.Output(
        answer.place_of(out, len(queries), keys, [model_file, *(evid or []), *(table or []), start, guide]),
        *(json, trace, show_all, quiet),
        costs=options.costs_of(model_file),
        show=options.chosen_show(show, model, len(queries)),
        asked={"alternatives": alternatives, "distance": distance, "margins": margins, "suppose": supposed},
    )
    how: dict[str, Any] = {"guide": loaded, "use": use, "strategy": strategy, "start": begin, "seed": seed}
    how |= {"propagate": propagate, "prove": prove, "log_zero": log_zero, "threads": threads}
    with options.workers(backend, threads):
        answer.solve_and_show(partial(solve_many, **how), model, queries, limits.stop, output)
