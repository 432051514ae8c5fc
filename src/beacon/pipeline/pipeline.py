"""The whole pipeline for one model in one folder: stages in order, each done once for the same settings."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from time import perf_counter

from beacon.errors import BeaconError, UsageError
from beacon.evaluation.run_file import FILE, Facts, load_run, new_run, new_session, save_run
from beacon.evaluation.session import OnProgress
from beacon.model.graphical_model import GraphicalModel
from beacon.pipeline.settings import RunSettings, first_difference
from beacon.query.query_set import QuerySet

OnStage = Callable[[str, float | None, str], None]
"""Called after each stage with its name, the seconds it took (None: it was done before) and a summary."""

RECORD = "pipeline"
NOT_OF_A_SESSION = ("threads", "load", "runs", "seconds", "methods")  # these concern measurements alone


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
    """All that is its own in the folder, unfinished work included."""
    work: Callable[[Job], str]
    """Does the work, and says in a few words what came of it."""


class Pipeline:
    """The stages of a job, and the record of them in ``run.json``."""

    def __init__(self, job: Job, stages: Sequence[Stage], evaluation: Facts) -> None:
        """``evaluation`` is what the part of ``run.json`` that belongs to the evaluation says of itself."""
        self.job, self.stages = job, stages
        self._evaluation = evaluation
        self._configuration = job.settings.configuration

    def open(self, redo: bool) -> None:
        """Find out what is done; refuse another configuration unless it is to be redone from there on."""
        facts = self._facts()
        record = facts[RECORD]
        changed = next((k for k, stage in enumerate(self.stages) if self._is_other(stage, record)), None)
        if changed is not None and not redo:
            raise UsageError(self._refusal(record, self.stages[changed]))
        if changed is not None:
            self._clear(changed, facts)
        self._clear(self._num_done(facts) + 1, facts)  # what was made of an output that is gone
        record |= {"own_queries": None, **self._identity}
        record["configuration"] = self._configuration
        record["sessions"].append(_session(self.job.command))
        save_run(self.job.folder, facts)

    @property
    def is_done(self) -> bool:
        """Is nothing left to do?"""
        return self._num_done(self._facts()) == len(self.stages)

    def run(self, on_stage: OnStage) -> dict[str, Facts]:
        """Do what is not done; what each stage took and made."""
        for k, stage in enumerate(self.stages):
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
            "began": _now(),
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
        for stage in self.stages:
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
        """Tells the settings of a stage and of all before it from others."""
        sections = {name: self._configuration[name] for name in self._sections_until(stage)}
        text = json.dumps([self._identity, sections], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _sections_until(self, stage: Stage) -> list[str]:
        until = self.stages[: self.stages.index(stage) + 1]
        return [name for earlier in until for name in earlier.sections]

    def _is_other(self, stage: Stage, record: Facts) -> bool:
        """Was the stage begun with other settings?"""
        entry = record["stages"].get(stage.name)
        return entry is not None and entry["digest"] != self._digest(stage)

    def _num_done(self, facts: Facts) -> int:
        """Stages that are complete, before the first that is not."""
        entries = facts[RECORD]["stages"]
        done = [
            entries.get(stage.name, {}).get("is_complete", False)
            and (self.job.folder / stage.output).exists()
            for stage in self.stages
        ]
        return [*done, False].index(False)

    def _clear(self, first: int, facts: Facts) -> None:
        """Remove what a stage and all later ones have made."""
        for stage in self.stages[first:]:
            if facts[RECORD]["stages"].pop(stage.name, None) is None:
                continue  # never begun: what is there is not its own
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


def _session(command: str) -> Facts:
    """Who made it, when and on what machine."""
    session = new_session(command, 1)
    return {name: fact for name, fact in session.items() if name not in NOT_OF_A_SESSION}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def stage_line(name: str, seconds: float | None, summary: str) -> str:
    """A stage in one line, aligned with those of the others."""
    took = f"{'done':>8}" if seconds is None else f"{seconds:>6.1f} s"
    return f"{name:<9} {took}  {summary}"
