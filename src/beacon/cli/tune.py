"""``beacon tune``: find out how a guide is best used, or how a model is best searched without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from beacon.cli.console import ProgressBar, least_width, line_width, say, say_drawn, say_json
from beacon.cli.options import Backend, Json, Keys, ModelFile, QueryFile, Quiet, Seed, argument, flags, option
from beacon.errors import UsageError
from beacon.learn.tune import TuneSettings

if TYPE_CHECKING:
    from beacon.learn.tune import Tuning

GUIDE_HELP = "Guide of `beacon train`; without one, give --out to make a profile."
GuideFolder = Annotated[str | None, argument("GUIDE", GUIDE_HELP)]
OUT_HELP = "Without a guide: folder to write the profile to."
ProfileOut = Annotated[str | None, option("-o --out PROFILE", OUT_HELP)]
THREADS = "Queries to work on at once; default: 1, since times are compared; on a backend all of its workers."
Threads = Annotated[int | None, option("--threads --jobs T", THREADS, low=1)]


@flags(
    *("given", TuneSettings, None, "--seconds S,S,…", "--steps N,N,…"),
    queries="--limit --queries N",
    unset="{}",
    check=False,
)
def tune(
    model_file: ModelFile,
    queries_file: QueryFile,
    guide_folder: GuideFolder = None,
    *,
    out: ProfileOut = None,
    given: dict[str, Any],
    threads: Threads = None,
    backend: Backend = None,
    key: Keys = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the best use of a guide on validation queries, and store it in the guide.

    Without a guide, settings of the search are tried; the best make a profile, for `beacon solve --guide`.

    Example:  beacon tune alarm.bif alarm.parquet alarm.guide
    """
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.guide.checkpoint import check_guide_folder, load_guide, update_tuned  # noqa: PLC0415
    from beacon.guide.trivial import ProfileGuide  # noqa: PLC0415
    from beacon.learn.tune import tune as tune_guide  # noqa: PLC0415
    from beacon.query.query_set import QuerySet  # noqa: PLC0415
    from beacon.runner.crews import on_backend  # noqa: PLC0415

    settings = TuneSettings.of(given)
    if (guide_folder is None) == (out is None):
        raise UsageError("tuning needs a guide, or --out PROFILE to make a profile; give one of the two")
    if out is not None:
        check_guide_folder(out)
    model = read_model(model_file)
    queries = QuerySet.load(queries_file, model, key or ())
    guide = None if guide_folder is None else load_guide(guide_folder, model)
    with on_backend(backend, threads), ProgressBar("tuning", None, quiet) as bar:

        def tell(trials: int, count: int) -> None:
            bar.describe(f"{trials} ways to search on {count} queries")

        tuning = tune_guide(
            *(model, queries, guide, settings), seed=seed, threads=threads or 1, on_round=tell
        )
    tuned = tuning.to_dict()
    if guide_folder is not None:
        update_tuned(guide_folder, tuned)
    if out is not None:
        ProfileGuide(model, tuned).save(out)
    say_json(tuned) if json else _show(tuning, guide_folder or str(out))


def _show(tuning: Tuning, folder: str) -> None:
    from beacon.report.tables import tuning_table  # noqa: PLC0415

    names = [str(row["trial"]) for row in tuning.table]
    table = tuning_table(tuning, names)
    if least_width(table) > line_width():  # the names go where they have room
        say("".join(f"{k:<2}  {name}\n" for k, name in enumerate(names, 1)))
        table = tuning_table(tuning, [str(k) for k in range(1, len(names) + 1)], slim=True)
    say_drawn(table)
    say(f"Rank: the share of the other ways that were ahead. {folder} is now used so: {tuning.best}.")
