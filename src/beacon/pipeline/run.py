"""``beacon.run``: from a model to a guide and a report."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from beacon.errors import MissingDependencyError, UsageError
from beacon.evaluation.evaluate import OnProgress
from beacon.evaluation.evaluation import KINDS, Evaluation
from beacon.evaluation.problem import network_name
from beacon.formats import read_model
from beacon.io.files import make_folder
from beacon.io.work_folder import folder_lock
from beacon.learn.train import ON_CPU
from beacon.model.graphical_model import GraphicalModel
from beacon.pipeline.pipeline import GUIDE, REPORT, Job, OnStage, Pipeline
from beacon.pipeline.settings import RunSettings, gathered, make_settings, seed_of
from beacon.query.query_set import SPLITS, AnyQueries, as_query_set, least_count, split_of_queries

AnyPath = str | os.PathLike[str]
NEEDS = {
    "torch": ("training a guide", "learn"),
    "safetensors": ("training a guide", "learn"),
    "matplotlib": ("drawing", "plots"),
}


@dataclass(frozen=True)
class FinishedRun:
    """The folder of a run, and what is in it."""

    folder: Path
    seed: int
    stages: dict[str, dict[str, Any]]
    """What each stage took and made."""

    @property
    def guide(self) -> Path:
        """The guide's folder, for ``solve(..., guide=...)``."""
        return self.folder / GUIDE

    @property
    def report(self) -> Path:
        """The page."""
        return self.folder / REPORT

    @property
    def evaluation(self) -> Evaluation:
        """The results on the test queries."""
        return Evaluation.load(self.folder)

    def to_dict(self) -> dict[str, Any]:
        """What ``beacon run --json`` prints."""
        found = self.evaluation
        (network,) = found.networks
        return {
            "folder": str(self.folder),
            "guide": str(self.guide),
            "report": str(self.report),
            "seed": self.seed,
            "stages": self.stages,
            "step_budgets": found.step_budgets,
            "second_budgets": found.second_budgets,
            "mean_scores": {
                method: {f"{kind}s": found.mean_scores(network, method, kind) for kind in KINDS}
                for method in found.methods
            },
        }


def run(
    model: GraphicalModel | AnyPath,
    folder: AnyPath,
    settings: RunSettings | AnyPath | None = None,
    *,
    preset: str | None = None,
    queries: AnyQueries | None = None,
    keys: Sequence[str] = (),
    count: int | None = None,
    changes: Mapping[str, Any] | Sequence[str] | None = None,
    seed: int | None = None,
    redo: bool = False,
    device: str = "auto",
    jobs: int | None = None,
    on_stage: OnStage | None = None,
    on_progress: OnProgress | None = None,
    command: str = "beacon.run",
) -> FinishedRun:
    """Sample queries, find references, train and tune a guide, evaluate it and write a report.

    Everything lies in one folder. Stages that are done are not done again: after an interruption the same
    call goes on where it stopped.

    Parameters
    ----------
    model
        A model or its file.
    settings
        Settings, or a TOML file with a section for each stage.
    queries
        A query set or queries of one's own (mappings, a table, a file or a folder of files; split 80/10/10 by
        seed 0), in place of ``count`` sampled ones.
    keys
        Columns of a file of queries that are no variables.
    preset, count, changes
        Replace settings of the file: the guide, the number of queries, and any others, such as
        ``{"teacher.steps": 20_000}`` or ``["teacher.steps=20000"]``.
    seed
        Seed of all randomness; the file's or 0 unless given.
    redo
        If the folder holds a run with other settings: do again what depends on them.
    device
        Where the attention network is trained: ``cpu``, ``cuda`` or ``auto``.
    jobs
        Queries worked on at once; one per core unless given. ``joblib.parallel_config`` may name
        other workers than threads; they collect, tune and evaluate.
    on_stage
        Called after each stage with its name, the seconds it took (None: it was done before) and a summary.
    on_progress
        Called during a stage with what is done, how much of it, and of how much (0: not known).
    command
        What made the run, for the record.

    Examples
    --------
    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> small = {"teacher.steps": 200, "collect.steps": 0, "train.max_epochs": 2, "tune.steps": [20]}
    >>> small |= {"evaluate.seconds": [], "evaluate.steps": [20]}
    >>> finished = beacon.run(ising_grid(4, 4), "grid", preset="fast", count=20, changes=small)
    >>> list(finished.stages), finished.report.name
    (['queries', 'collect', 'train', 'tune', 'evaluate', 'report'], 'report.html')
    """
    others, items = (changes, ()) if isinstance(changes, Mapping) else ({}, changes or ())
    options = {**others, "train.preset": preset, "queries.count": count, ".seed": seed}
    if isinstance(settings, RunSettings):
        if preset is not None or count is not None or changes:
            raise UsageError("preset, count and changes are for settings of a file; change the RunSettings")
        chosen, number = settings, seed_of(gathered(None, [], {".seed": seed}))
    else:
        sections = gathered(settings, items, options)
        chosen, number = make_settings(sections), seed_of(sections)
    if keys and not isinstance(queries, str | os.PathLike):
        raise UsageError("--key names columns of a file of queries; give it: --queries FILE")
    is_model = isinstance(model, GraphicalModel)
    loaded = model if isinstance(model, GraphicalModel) else read_model(model)
    job = Job(
        loaded,
        "model" if is_model else network_name(os.fspath(model)),  # type: ignore[arg-type]
        Path(folder),
        chosen,
        number,
        jobs,
        device,
        command,
        on_progress=on_progress or (lambda what, done, total: None),
        own_queries=None if queries is None else as_query_set(loaded, queries, keys),
    )
    _check_splits(job)
    return run_job(job, redo, on_stage)


def _check_splits(job: Job) -> None:
    """Refuse too few queries before the first stage, not at the one that would have none."""
    own, chosen = job.own_queries, job.settings
    shares = chosen.queries.splits if own is None else own.settings.splits
    found = split_of_queries(chosen.count, shares) if own is None else own.split_of_queries
    lacking = [name for k, name in enumerate(SPLITS) if k not in found]
    if not lacking:
        return
    least = least_count(shares)
    fix = (
        f"the splits {shares} leave them none"
        if least is None
        else f"at least {least} different ones are needed"
    )
    raise UsageError(
        f"expected queries for training, validation and test, found {len(found):,} with none for "
        f"{' and '.join(lacking)}; {fix}"
    )


def run_job(job: Job, redo: bool = False, on_stage: OnStage | None = None) -> FinishedRun:
    """All stages of a job, unless another process works in the folder."""
    with folder_lock(make_folder(job.folder)):
        pipeline = Pipeline(job)
        pipeline.open(redo)
        if not pipeline.is_done:
            for package, (purpose, extra) in NEEDS.items():  # not to be found missing after hours of work
                if find_spec(package) is None:
                    raise MissingDependencyError(package, purpose, extra)
            if job.settings.preset not in ON_CPU:
                from beacon.guide.device import choose_device  # noqa: PLC0415  (torch is slow to import)

                choose_device(job.device)
        stages = pipeline.run(on_stage or (lambda name, seconds, summary: None))
    return FinishedRun(job.folder, job.seed, stages)
