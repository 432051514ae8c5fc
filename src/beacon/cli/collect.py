"""``beacon collect``: references and trajectories for the queries of a set."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

from beacon.cli.console import ProgressBar, note, one_line, say, say_json
from beacon.cli.options import OUTPUT, Jobs, Json, ModelFile, QueryFile, Quiet, Seed, flags, option
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
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find a near-optimal reference for every query, and record searches toward it for a guide to learn from.

    Ctrl-C keeps what is done; the same command goes on from there.

    Example:  beacon collect alarm.bif alarm.parquet
    """
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.learn.collect import collect as collect_trajectories  # noqa: PLC0415
    from beacon.query.query_set import QuerySet  # noqa: PLC0415

    target = out if out is not None else str(Path(query_file).parent / "trajectories.parquet")
    check_writable(target, [model_file, query_file])
    model = read_model(model_file)
    queries = QuerySet.load(query_file, model)
    settings = replace(walks, teacher=teacher)
    began = perf_counter()
    with _Progress(target, len(queries), quiet) as progress:
        made = collect_trajectories(
            model, queries, settings, seed=seed, jobs=jobs, path=target, on_progress=progress.hear
        )
    summary = {
        "out": target,
        "queries": len(made),
        "runs": made.flip_variables.shape[1],
        "steps_per_run": made.flip_variables.shape[2],
        "mean_reference_score": float(made.reference_scores.mean()) if len(made) else None,
        "impossible_references": int((made.reference_zeros > 0).sum()),
        "sources": dict(Counter(made.sources).most_common()),
        "seconds": perf_counter() - began,
    }
    say_json(summary) if json else say(one_line(_in_words(summary)))


class _Progress(ProgressBar):
    """Says what was done before, and after Ctrl-C what is kept."""

    def __init__(self, target: str, total: int, quiet: bool) -> None:
        super().__init__("queries (Ctrl-C keeps what is done)", total, quiet)
        self._target, self._done, self._all = target, -1, total

    def hear(self, done: int, total: int) -> None:
        """How many queries are done: a callback for the library."""
        if self._done < 0 < done:
            self.note(f"going on where an earlier run stopped: {done:,} of {total:,} queries are done")
        self._done = done
        self.reach(done)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        super().__exit__(kind, error, trace)
        if kind is KeyboardInterrupt and self._done > 0:
            note(
                f"{self._done:,} of {self._all:,} queries are done and kept in {self._target}.parts; "
                "the same command goes on from there"
            )


def _in_words(summary: dict[str, Any]) -> str:
    sources = ", ".join(f"{count:,} by {source}" for source, count in summary["sources"].items())
    impossible = summary["impossible_references"]
    warning = f"; {impossible:,} references have probability zero" if impossible else ""
    return (
        f"wrote {summary['out']}: {summary['queries']:,} references ({sources}{warning}) and "
        f"{summary['runs'] * summary['queries']:,} walks of {summary['steps_per_run']} steps "
        f"in {summary['seconds']:.1f} s"
    )
