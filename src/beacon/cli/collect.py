"""``beacon collect``: references and trajectories for the queries of a set."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

from beacon.cli.console import KeepingBar, one_line, say, say_json
from beacon.cli.options import (
    OUTPUT,
    Backend,
    Jobs,
    Json,
    Keys,
    ModelFile,
    QueryFile,
    Quiet,
    Seed,
    flags,
    option,
)
from beacon.io.files import check_writable
from beacon.learn.collect import CollectSettings
from beacon.learn.teacher import TeacherSettings

Out = Annotated[
    str | None,
    option("-o --out T.parquet", "File to write (Parquet); default: trajectories.parquet beside Q.", OUTPUT),
]


@flags(
    "teacher",
    TeacherSettings,
    "References",
    method="--teacher NAME",
    steps="--teacher-steps N",
    seconds="--teacher-time S",
    runs="--teacher-runs K",
)
@flags("walks", CollectSettings, "Trajectories", "--steps N", "--restart-interval N")
def collect(
    model_file: ModelFile,
    query_file: QueryFile,
    *,
    teacher: TeacherSettings,
    walks: CollectSettings,
    out: Out = None,
    jobs: Jobs = None,
    backend: Backend = None,
    key: Keys = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find a near-optimal reference for every query, and record searches toward it for a guide to learn from.

    Ctrl-C keeps what is done; the same command goes on from there.

    Example:  beacon collect alarm.bif alarm.parquet
    """
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.io.parquet_file import check_parquet_name  # noqa: PLC0415
    from beacon.learn.collect import collect as collect_trajectories  # noqa: PLC0415
    from beacon.query.query_set import QuerySet  # noqa: PLC0415
    from beacon.runner.crews import on_backend  # noqa: PLC0415

    target = out if out is not None else str(Path(query_file).parent / "trajectories.parquet")
    check_writable(target, [model_file, query_file])
    check_parquet_name(target)
    model = read_model(model_file)
    queries = QuerySet.load(query_file, model, key or ())
    settings = replace(walks, teacher=teacher)
    began = perf_counter()
    with on_backend(backend, jobs), KeepingBar(target, len(queries), quiet) as progress:
        made = collect_trajectories(
            model, queries, settings, seed=seed, jobs=jobs, path=target, on_progress=progress.hear
        )
    summary = {"out": target, **made.summary(), "seconds": perf_counter() - began}
    say_json(summary) if json else say(one_line(_in_words(summary)))


def _in_words(summary: dict[str, Any]) -> str:
    sources = ", ".join(f"{count:,} by {source}" for source, count in summary["sources"].items())
    impossible = summary["impossible_references"]
    warning = f"; {impossible:,} references have probability zero" if impossible else ""
    return (
        f"wrote {summary['out']}: {summary['queries']:,} references ({sources}{warning}) and "
        f"{summary['runs'] * summary['queries']:,} walks of {summary['steps_per_run']} steps "
        f"in {summary['seconds']:.1f} s"
    )
