"""The stages of a run: queries, references and trajectories, training, tuning, evaluation, report."""

from __future__ import annotations

from typing import Any

from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.problem import Problem
from beacon.evaluation.session import Request, measure
from beacon.guide.checkpoint import load_guide, update_tuned
from beacon.learn.collect import collect as collect_trajectories
from beacon.learn.train import best_epoch
from beacon.learn.trajectories import Trajectories
from beacon.learn.tune import tune as tune_guide
from beacon.pipeline.pipeline import Job, Stage
from beacon.query.query_set import SPLITS, QuerySet, sample_queries

QUERIES, TRAJECTORIES, GUIDE = "queries.parquet", "trajectories.parquet", "guide"
EVALUATION, REPORT = "evaluation.parquet", "report.html"
UNFINISHED = ".unfinished"


def sample(job: Job) -> str:
    """Queries that the model itself may produce, unless there are others."""
    made, settings = job.own_queries, job.settings
    if made is None:
        job.on_progress(f"sampling {settings.count:,} queries", 0, 0)
        made = sample_queries(job.model, settings.count, job.seed, **vars(settings.queries))
    made.save(job.folder / QUERIES)
    return queries_in_words(made)


def queries_in_words(made: QuerySet) -> str:
    """A query set in a few words."""
    splits = ", ".join(f"{len(made.split(name)):,} {name}" for name in SPLITS)
    observed = made.observed.sum(axis=1).mean()
    return f"{len(made):,} queries ({splits}); on average {observed:.1f} of {made.num_variables:,} observed"


def collect(job: Job) -> str:
    """A reference for every query, and walks toward it."""
    settings = job.settings.collect
    made = collect_trajectories(
        job.model,
        job.queries,
        settings,
        seed=job.seed,
        jobs=job.jobs,
        path=job.folder / TRAJECTORIES,
        on_progress=lambda done, total: job.on_progress("collecting", done, total),
    )
    proved = sum("proved optimal" in source and "not proved" not in source for source in made.sources)
    runs, steps = made.flip_variables.shape[1:]
    walks = f"{runs * len(made):,} walks of {steps} steps" if runs else "no walks"
    return f"{len(made):,} references ({proved:,} proved optimal), {walks}"


def train(job: Job) -> str:
    """A guide, from the training queries."""
    trajectories = Trajectories.load(job.folder / TRAJECTORIES, job.model, job.queries)
    preset = job.settings.train
    assert preset is not None
    guide = preset.train(
        job.model,
        job.queries,
        trajectories,
        seed=job.seed,
        device=job.device,
        state_file=job.folder / f"{GUIDE}{UNFINISHED}",
        on_epoch=lambda record: job.on_progress(
            f"training, {epoch_line(record)}", record["epoch"], preset.most_epochs
        ),
    )
    facts = guide.facts
    if not facts.get("is_complete", True):
        raise KeyboardInterrupt  # what there is lies in the state file
    guide.save(job.folder / GUIDE)
    best = best_epoch(facts)
    return (
        f"preset {job.settings.preset}, epoch {best['epoch']} of {len(facts['history'])}, "
        f"validation loss {best['validation_loss']:.4f}"
    )


def epoch_line(record: dict[str, Any]) -> str:
    """An epoch in words."""
    parts = [
        f"epoch {record['epoch']}: loss {record['train_loss']:.4f}",
        f"on validation queries {record['validation_loss']:.4f}",
    ]
    if "top_move_accuracy" in record:
        parts.append(f"best move right {record['top_move_accuracy']:.1%}")
    return ", ".join([*parts, f"{record['seconds']:.1f} s"])


def tune(job: Job) -> str:
    """How the guide is best used, by the validation queries."""
    guide = load_guide(job.folder / GUIDE, job.model)
    tuning = tune_guide(
        job.model,
        job.queries,
        guide,
        job.settings.tune,
        seed=job.seed,
        on_round=lambda trials, count: job.on_progress(
            f"tuning, {trials} ways to search on {count} queries", 0, 0
        ),
    )
    update_tuned(job.folder / GUIDE, tuning.to_dict())
    return f"best of {len(tuning.table)} ways to search: {tuning.best}"


def evaluate(job: Job) -> str:
    """All methods on the test queries."""
    problem = Problem(job.name, job.model, job.folder / QUERIES, str(job.folder / GUIDE))
    made = measure([problem], request_of(job), on_progress=job.on_progress, locked=True)
    return f"{len(made.methods)} methods, {len(made.records):,} searches of test queries"


def request_of(job: Job) -> Request:
    """What the evaluation measures."""
    threads = None if job.settings.evaluate.seconds else job.jobs
    return Request(job.settings.evaluate, None, job.seed, threads, job.folder, command=job.command)


def report(job: Job) -> str:
    """One page with all that was found."""
    from beacon.report.contents import make_report  # noqa: PLC0415
    from beacon.report.html import write_report  # noqa: PLC0415

    job.on_progress("drawing", 0, 0)
    made = make_report(Evaluation.load(job.folder))
    write_report(made, job.folder / REPORT, f"Beacon on {job.name}")
    return f"{sum(1 for _ in made.tables)} tables, {sum(1 for _ in made.plots)} plots"


STAGES = (
    Stage("queries", ("queries",), QUERIES, (QUERIES,), sample),
    Stage("collect", ("teacher", "collect"), TRAJECTORIES, (TRAJECTORIES, f"{TRAJECTORIES}.parts"), collect),
    Stage("train", ("train",), GUIDE, (GUIDE, f"{GUIDE}{UNFINISHED}"), train),
    Stage("tune", ("tune",), GUIDE, (), tune),
    Stage("evaluate", ("evaluate",), EVALUATION, (EVALUATION, "parts"), evaluate),
    Stage("report", (), REPORT, (REPORT,), report),
)
