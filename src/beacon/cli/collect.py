"""``beacon collect``: references and trajectories for the queries of a set."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from beacon.cli import collect_options as options
from beacon.cli.console import note, one_line, say, say_json
from beacon.cli.kernels import load_kernels
from beacon.cli.options import Json, ModelFile, Quiet, Seed
from beacon.cli.outputs import check_writable
from beacon.cli.progress import ProgressBar

if TYPE_CHECKING:
    from beacon.learn.trajectories import Trajectories

DEFAULT_NAME = "trajectories.parquet"


def collect(
    model_file: ModelFile,
    query_file: options.QueryFile,
    *,
    out: options.TrajectoriesOut = None,
    teacher: options.Method = "auto",
    teacher_steps: options.TeacherSteps = None,
    teacher_time: options.TeacherTime = None,
    teacher_runs: options.TeacherRuns = 1,
    steps: options.WalkSteps = 2000,
    restart_interval: options.RestartInterval = None,
    jobs: options.Jobs = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find a near-optimal reference for every query, and record searches toward it for a guide to learn from.

    Ctrl-C keeps what is done; the same command goes on from there.

    Example:  beacon collect alarm.bif alarm.parquet
    """
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.learn.collect import CollectSettings  # noqa: PLC0415
    from beacon.learn.teacher import TeacherSettings  # noqa: PLC0415
    from beacon.query.query_set import QuerySet  # noqa: PLC0415

    settings = CollectSettings(
        TeacherSettings(teacher, teacher_steps, teacher_time, teacher_runs), steps, restart_interval
    )
    target = out if out is not None else str(Path(query_file).parent / DEFAULT_NAME)
    check_writable(target, [model_file, query_file])
    model = read_model(model_file)
    queries = QuerySet.load(query_file, model)
    load_teacher(teacher, quiet)
    began = perf_counter()
    collected = collect_into(target, quiet, model, queries, settings, seed=seed, jobs=jobs)
    summary = _summary(target, collected, perf_counter() - began)
    if json:
        say_json(summary)
    else:
        say(one_line(_in_words(summary)))


def load_teacher(teacher: str, quiet: bool) -> None:
    """Load the kernels that finding references takes."""
    from beacon.strategies.strategy import Auto, GlsPlus  # noqa: PLC0415

    load_kernels(GlsPlus() if teacher == "gls+" else Auto(), quiet)


def collect_into(
    target: str, quiet: bool, model: Any, queries: Any, settings: Any, **more: Any
) -> Trajectories:
    """Collect with a progress bar, and say how to go on if it is interrupted."""
    from beacon.learn.collect import collect as collect_trajectories  # noqa: PLC0415

    done_before = -1
    with ProgressBar("queries (Ctrl-C keeps what is done)", len(queries), quiet) as bar:

        def show(done: int, total: int) -> None:
            nonlocal done_before
            if done_before < 0 < done and not quiet:
                note(f"going on where an earlier run stopped: {done:,} of {total:,} queries are done")
            bar.advance(done - max(0, done_before))
            done_before = done

        try:
            return collect_trajectories(model, queries, settings, path=target, on_progress=show, **more)
        except KeyboardInterrupt:
            if done_before > 0:
                note(
                    f"{done_before:,} of {len(queries):,} queries are done and kept in {target}.parts; "
                    "the same command goes on from there"
                )
            raise


def _summary(target: str, collected: Trajectories, seconds: float) -> dict[str, Any]:
    return {
        "out": target,
        "queries": len(collected),
        "runs": collected.flip_variables.shape[1],
        "steps_per_run": collected.flip_variables.shape[2],
        "mean_reference_score": float(collected.reference_scores.mean()) if len(collected) else None,
        "impossible_references": int((collected.reference_zeros > 0).sum()),
        "sources": dict(Counter(collected.sources).most_common()),
        "seconds": seconds,
    }


def _in_words(summary: dict[str, Any]) -> str:
    sources = ", ".join(f"{count:,} by {source}" for source, count in summary["sources"].items())
    impossible = summary["impossible_references"]
    warning = f"; {impossible:,} references have probability zero" if impossible else ""
    return (
        f"wrote {summary['out']}: {summary['queries']:,} references ({sources}{warning}) and "
        f"{summary['runs'] * summary['queries']:,} walks of {summary['steps_per_run']} steps "
        f"in {summary['seconds']:.1f} s"
    )
