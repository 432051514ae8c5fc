"""``beacon solve``: the most probable explanation of one query, or of many on the same model."""

from __future__ import annotations

from functools import partial
from typing import Any

from beacon.cli import options
from beacon.cli.options import GUIDE, LIMITS, Backend, Json, ModelFile, Quiet, Seed, flags
from beacon.guided.guidance import GuideUse
from beacon.runner.stop import StopSettings


@options.query_options
@options.search_options
@flags(
    *("asked", GuideUse, GUIDE, "--refresh K", "--candidates all|improving", "--restart-from random|guide"),
    weight="--lambda L",
    unset="as tuned, or {}",
)
@flags(
    *("limits", StopSettings, LIMITS, "--steps N", "--target SCORE", "--gap NATS"),
    seconds="--time S",
    idle_steps="--no-improvement N",
)
@options.answer_options
@options.output_options
def solve(
    model_file: ModelFile,
    *,
    queries: options.QueryOptions,
    search: options.SearchOptions,
    guide: options.GuideFolder = None,
    asked: dict[str, Any],
    limits: StopSettings,
    answer: options.AnswerOptions,
    output: options.OutputOptions,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    backend: Backend = None,
) -> None:
    """Find the most probable explanation: the best values of all variables that are not observed.

    The first limit to be reached ends the search, and so does Ctrl-C: the best found so far is the result.

    Examples:

      beacon solve alarm.bif -e HR=HIGH -e CO=LOW --time 5

      beacon solve alarm.bif -e HR=HIGH --alternatives 3 --margins --suppose CO=LOW

      beacon solve alarm.bif --table patients.csv --key patient --guide alarm.guide -o answers.csv
    """
    from beacon.cli import answer as answers  # noqa: PLC0415  (numba is slow to import)
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.solver import default_strategy, guide_and_use, solve_many  # noqa: PLC0415
    from beacon.strategies.strategy import make_strategy  # noqa: PLC0415

    answers.check_guide_options(guide, search.start, asked)
    if search.method is not None:
        make_strategy(search.method)  # a wrong name is found before the model is read
    model = read_model(model_file)
    begin = search.begin(model)
    loaded, use = guide_and_use(model, guide, asked, begin)
    strategy = make_strategy(search.method or default_strategy(loaded, use))
    if search.penalty_weight is not None:
        strategy = strategy.weighted(search.penalty_weight)
    evidences, keys = queries.read(model)
    place = answers.Place()
    if output.out is not None or keys:
        from beacon.cli.answers import place_of  # noqa: PLC0415 - most answers are only shown

        read = [model_file, *queries.evid, *queries.table, search.start, guide]
        place = place_of(output.out, len(evidences), keys, read)
    what = json, output.trace, output.show_all, quiet, answers.costs_of(model_file)
    shown = answer.shown(model, len(evidences))
    told = answers.Output(place, *what, *shown, asked=answer.asked(model))
    how: dict[str, Any] = {"guide": loaded, "use": use, "strategy": strategy, "start": begin, "seed": seed}
    how |= {name: getattr(search, name) for name in ("propagate", "prove", "log_zero", "threads")}
    with answers.workers(backend, search.threads):
        answers.solve_and_show(partial(solve_many, **how), model, evidences, limits.stop, told)
