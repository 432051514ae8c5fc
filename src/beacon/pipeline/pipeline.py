"""The whole pipeline for one model in one folder: stages in order, each done once for the same settings."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

from beacon.errors import BeaconError, UsageError
from beacon.evaluation.evaluate import OnProgress, Request, measure
from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.problem import Problem
from beacon.evaluation.run_file import FILE, Facts, load_run, new_run, new_session, save_run
from beacon.guide.checkpoint import load_guide, update_tuned
from beacon.learn.collect import collect as collect_trajectories
from beacon.learn.train import best_epoch
from beacon.learn.trajectories import Trajectories
from beacon.learn.tune import tune as tune_guide
from beacon.model.graphical_model import GraphicalModel
from beacon.pipeline.settings import RunSettings, first_difference
from beacon.query.query_set import SPLITS, QuerySet, sample_queries
from beacon.report.contents import make_report
from beacon.report.html import write_report

OnStage = Callable[[str, float | None, str], None]
"""Called after each stage with its name, the seconds it took (None: it was done before) and a summary."""

RECORD = "pipeline"
MEASURED = ("threads", "load", "runs", "seconds", "methods")  # facts of sessions that measure


@dataclass(frozen=True)
class Job:
    """What is to be made, where, and with what."""

    model: GraphicalModel
    name: str
    folder: Path
    settings: RunSettings
    seed: int = 0
    jobs: int | None = None
    device: str = "auto"
    command: str = "beacon.run"
    """What started it, for the record."""
    on_progress: OnProgress = lambda what, done, total: None
    own_queries: QuerySet | None = None
    """In place of sampled ones."""

    @cached_property
    def queries(self) -> QuerySet:
        """The query set of the first stage."""
        return QuerySet.load(self.folder / "queries.parquet", self.model)


@dataclass(frozen=True)
class Stage:
    """A part of the pipeline."""

    name: str
    sections: tuple[str, ...]
    """The sections of the configuration that it adds to those of earlier stages."""
    output: str
    """What is in the folder once it is done."""
    files: tuple[str, ...]
    """All that it makes in the folder, unfinished work included."""
    work: Callable[[Job], str]
    """Does the work, and says in a few words what came of it."""


class Pipeline:
    """The stages of a job, and the record of them in ``run.json``."""

    def __init__(self, job: Job) -> None:
        self.job, self._configuration = job, job.settings.configuration
        self._evaluation = request_of(job).facts

    def open(self, redo: bool) -> None:
        """Find out what is done; refuse another configuration, or with ``redo`` clear what depends on it."""
        facts = self._facts()
        record = facts[RECORD]
        begun = [(k, record["stages"].get(stage.name)) for k, stage in enumerate(STAGES)]
        others = [k for k, entry in begun if entry and entry["digest"] != self._digest(STAGES[k])]
        changed = others[0] if others else None
        if changed is not None and not redo:
            raise UsageError(self._refusal(record, STAGES[changed]))
        if changed is not None:
            self._clear(changed, facts)
        self._clear(self._num_done(facts) + 1, facts)  # what was made from an output that is gone
        record |= {"own_queries": None, **self._identity}
        record["configuration"] = self._configuration
        session = new_session(self.job.command, 1)
        record["sessions"].append({name: fact for name, fact in session.items() if name not in MEASURED})
        save_run(self.job.folder, facts)

    @property
    def is_done(self) -> bool:
        """Is nothing left to do?"""
        return self._num_done(self._facts()) == len(STAGES)

    def run(self, on_stage: OnStage) -> dict[str, Facts]:
        """Do the stages that are not done; return what each took and made."""
        for k, stage in enumerate(STAGES):
            is_old = self._num_done(self._facts()) > k
            entry = self._facts()[RECORD]["stages"][stage.name] if is_old else self._do(stage)
            on_stage(stage.name, None if is_old else entry["seconds"], entry["summary"])
        stages: dict[str, Facts] = self._facts()[RECORD]["stages"]
        return stages

    def _do(self, stage: Stage) -> Facts:
        """Do a stage; the time of earlier, interrupted attempts is part of its time."""
        began = perf_counter()
        digest = self._digest(stage)
        known = self._facts()[RECORD]["stages"].get(stage.name, {})
        entry = {
            "began": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": 0.0,
            **known,
            "digest": digest,
            "is_complete": False,
            "summary": "",
        }
        self._enter(stage, entry)
        try:
            entry |= {"summary": stage.work(self.job), "is_complete": True}
        finally:
            entry["seconds"] = round(entry["seconds"] + perf_counter() - began, 3)
            self._enter(stage, entry)
        return entry

    def _enter(self, stage: Stage, entry: Facts) -> None:
        facts = self._facts()
        facts[RECORD]["stages"][stage.name] = entry
        save_run(self.job.folder, facts)

    def _facts(self) -> Facts:
        """``run.json``, which the evaluation writes to, too."""
        folder = self.job.folder
        if not (folder / FILE).exists():
            self._check_unused()
            return {**new_run(self._evaluation), RECORD: {"stages": {}, "sessions": []}}
        facts = load_run(folder)
        if RECORD not in facts:
            raise BeaconError(f"{folder} holds an evaluation by itself, no run; use another folder")
        return facts

    def _check_unused(self) -> None:
        for stage in STAGES:
            if (self.job.folder / stage.output).exists():
                raise BeaconError(
                    f"{self.job.folder / stage.output} is there already, and not from a run (there is no "
                    f"{FILE}); use another folder"
                )

    @cached_property
    def _identity(self) -> Facts:
        """What every stage depends on."""
        own = {} if self.job.own_queries is None else {"own_queries": self.job.own_queries.digest}
        return {"fingerprint": self.job.model.fingerprint, "seed": self.job.seed, **own}

    def _digest(self, stage: Stage) -> str:
        """Identifies the settings of a stage and of all stages before it."""
        sections = {name: self._configuration[name] for name in self._sections_until(stage)}
        text = json.dumps([self._identity, sections], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _sections_until(self, stage: Stage) -> list[str]:
        until = STAGES[: STAGES.index(stage) + 1]
        return [name for earlier in until for name in earlier.sections]

    def _num_done(self, facts: Facts) -> int:
        """Stages that are complete, before the first that is not."""
        entries = facts[RECORD]["stages"]
        done = [
            entries.get(stage.name, {}).get("is_complete", False)
            and (self.job.folder / stage.output).exists()
            for stage in STAGES
        ]
        return [*done, False].index(False)

    def _clear(self, first: int, facts: Facts) -> None:
        """Remove what a stage and all later ones have made."""
        for stage in STAGES[first:]:
            if facts[RECORD]["stages"].pop(stage.name, None) is None:
                continue  # never begun: such files are not this stage's
            for name in stage.files:
                _remove(self.job.folder / name)
            if stage.name == "evaluate":
                facts |= new_run(self._evaluation)

    def _refusal(self, record: Facts, stage: Stage) -> str:
        names = ("fingerprint", "own_queries", "seed")
        identity = [name for name in names if record.get(name) != self._identity.get(name)]
        if "fingerprint" in identity:
            what = "a run on another model"
        elif "own_queries" in identity:
            what = "a run on other queries"
        elif identity:
            what = f"a run with another seed ({record['seed']}, now {self.job.seed})"
        else:
            sections = self._sections_until(stage)
            difference = first_difference(record["configuration"], self._configuration, sections)
            what = f"a run with other settings: {difference}"
        return (
            f"{self.job.folder} holds {what}; go on with that, use another folder, or give --redo to do it "
            f"again from the stage {stage.name!r} on"
        )


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def stage_line(name: str, seconds: float | None, summary: str) -> str:
    """A stage in one line, aligned with those of the others."""
    took = f"{'done':>8}" if seconds is None else f"{seconds:>6.1f} s"
    return f"{name:<9} {took}  {summary}"


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
