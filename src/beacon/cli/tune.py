"""``beacon tune``: find out how a guide is best used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from beacon.cli.console import least_width, line_width, say, say_drawn, say_json
from beacon.cli.kernels import load_guided_kernels, load_kernels
from beacon.cli.options import DEFAULT_METHOD, Json, ModelFile, Quiet, Seed, at_least
from beacon.cli.progress import ProgressBar
from beacon.errors import UsageError

if TYPE_CHECKING:
    from beacon.learn.tune import TuneSettings, Tuning

Number = TypeVar("Number", int, float)


def tune(
    model_file: ModelFile,
    queries_file: Annotated[str, typer.Argument(metavar="Q", help="Query set of `beacon queries`.")],
    guide_folder: Annotated[str, typer.Argument(metavar="GUIDE", help="Guide of `beacon train`.")],
    *,
    seconds: Annotated[
        str | None,
        typer.Option(
            "--seconds",
            metavar="S,S,…",
            help="Times at which the best scores are compared; default: 0.0003,0.001,0.003,0.01,0.03,0.1.",
        ),
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option(
            "--steps",
            metavar="N,N,…",
            help="Compare after so many steps instead: slower guides are not charged, and the outcome is the "
            "same on every machine.",
        ),
    ] = None,
    queries: Annotated[
        int,
        typer.Option(
            "--limit",
            "--queries",
            metavar="N",
            callback=at_least(1),
            help="Only so many of the validation queries.",
        ),
    ] = 32,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try several uses of a guide on validation queries; the best is stored in it and used by default.

    Example:  beacon tune alarm.bif alarm.parquet alarm.guide
    """
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.guide.checkpoint import load_guide, update_tuned  # noqa: PLC0415
    from beacon.learn.tune import tune as tune_guide  # noqa: PLC0415
    from beacon.query.query_set import QuerySet  # noqa: PLC0415
    from beacon.strategies.strategy import make_strategy  # noqa: PLC0415

    settings = _settings(seconds, steps, queries)
    model = read_model(model_file)
    query_set = QuerySet.load(queries_file, model)
    guide = load_guide(guide_folder, model)
    load_kernels(make_strategy(DEFAULT_METHOD), quiet)
    load_guided_kernels(quiet)
    with ProgressBar("tuning", None, quiet) as bar:
        tuning = tune_guide(
            model,
            query_set,
            guide,
            settings,
            seed=seed,
            on_round=lambda trials, count: bar.describe(f"{trials} ways to search on {count} queries"),
        )
    update_tuned(guide_folder, tuning.to_dict())
    if json:
        say_json(tuning.to_dict())
    else:
        _show(tuning, guide_folder)


def _settings(seconds: str | None, steps: str | None, queries: int) -> TuneSettings:
    from beacon.learn.tune import TuneSettings  # noqa: PLC0415

    if seconds is not None and steps is not None:
        raise UsageError("tuning compares at --seconds or at --steps; give one of the two")
    if steps is not None:
        return TuneSettings((), _numbers("--steps", steps, int), queries)
    if seconds is not None:
        return TuneSettings(_numbers("--seconds", seconds, float), (), queries)
    return TuneSettings(queries=queries)


def _numbers(option: str, text: str, kind: Callable[[str], Number]) -> tuple[Number, ...]:
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise UsageError(f"{option} must be {what} with commas between them; found {text!r}") from None


def _show(tuning: Tuning, folder: str) -> None:
    from beacon.cli.tune_table import tuning_table  # noqa: PLC0415

    names = [str(row["trial"]) for row in tuning.table]
    table = tuning_table(tuning, names)
    if least_width(table) > line_width():  # the names go where they have room
        say("".join(f"{k:<2}  {name}\n" for k, name in enumerate(names, 1)))
        table = tuning_table(tuning, [str(k) for k in range(1, len(names) + 1)], slim=True)
    say_drawn(table)
    say(f"Rank: the share of the other ways that were ahead. {folder} is now used so: {tuning.best}.")
