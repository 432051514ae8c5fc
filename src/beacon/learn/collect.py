"""Collecting: a reference for every query of a set, and recorded walks that show a guide the way to it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from beacon import __version__
from beacon.errors import FormatError, UsageError, check_count, check_seed
from beacon.io.work_folder import PartsFolder
from beacon.learn.collector import Chunk, Collector
from beacon.learn.teacher import Teacher, TeacherSettings
from beacon.learn.trajectories import Trajectories, concatenated
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import AnyQueries, QuerySet, as_query_set
from beacon.runner.workers import each

CHUNK_STEPS, CHUNK_SECONDS, MAX_CHUNK = 1_000_000, 2.0, 20  # what may be lost when a collection is killed


@dataclass(frozen=True)
class CollectSettings:
    """How trajectories are made.

    >>> import beacon
    >>> beacon.CollectSettings(steps=200, restart_interval=50).walks(num_choices=90)
    (4, 50)
    >>> beacon.CollectSettings(steps=200).walks(num_choices=90)
    (2, 90)
    """

    teacher: TeacherSettings = field(default_factory=TeacherSettings)
    """How references are found."""
    steps: int = 2000
    """The most steps to record per query, over all its walks; 0: references alone."""
    restart_interval: int | None = None
    """Steps of a walk, a divisor of ``steps``. Unless given, a walk has as many steps as the model has
    variables to choose, enough to reach the reference, and at least one is recorded."""

    def __post_init__(self) -> None:
        check_count("steps", self.steps, 0)
        if self.restart_interval is not None:
            check_count("restart_interval", self.restart_interval, 1)
            if self.steps % self.restart_interval:
                raise UsageError(
                    f"restart_interval must divide steps, so that all runs are equally long; found "
                    f"{self.restart_interval} and {self.steps}"
                )

    def walks(self, num_choices: int) -> tuple[int, int]:
        """Number and length of the walks of a query, if ``num_choices`` variables have several values."""
        length = self.restart_interval or max(1, num_choices)
        least = 1 if self.steps and self.restart_interval is None else 0
        return max(least, self.steps // length), length

    @property
    def chunk_size(self) -> int:
        """Queries that are worked on together: the same for any number of workers."""
        stop, runs = self.teacher.stop, self.teacher.runs
        by_steps = CHUNK_STEPS / (stop.steps * runs + self.steps)
        seconds = self.teacher.seconds
        size = min(by_steps or MAX_CHUNK, CHUNK_SECONDS / (seconds * runs) if seconds else MAX_CHUNK)
        return max(1, min(MAX_CHUNK, int(size)))


def collect(
    model: GraphicalModel,
    queries: AnyQueries,
    settings: CollectSettings | None = None,
    *,
    seed: int = 0,
    jobs: int | None = None,
    path: str | os.PathLike[str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Trajectories:
    """Find a reference for every query and record walks toward it.

    All queries of the set are treated alike, those for test too: their references are what results are
    measured by, and rows stay those of the query set. With a ``path`` the trajectories are saved there; work
    in progress lies in ``PATH.parts`` until then, and a second call with the same arguments goes on where the
    first was stopped. ``jobs`` chunks of queries are worked on at once, in threads (default: one per core),
    or wherever ``joblib.parallel_config`` says. ``on_progress`` hears how many queries of how many are done.
    Results do not depend on ``jobs``, unless the teacher's budget is in seconds.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> model = ising_grid(4, 4)
    >>> queries = beacon.sample_queries(model, count=10)
    >>> teacher = beacon.TeacherSettings(method="gls+", steps=500)
    >>> beacon.collect(model, queries, beacon.CollectSettings(teacher, steps=0)).references.shape
    (10, 16)
    """
    settings = settings or CollectSettings()
    check_seed(seed)
    asked = as_query_set(model, queries)
    teacher = Teacher(model, settings.teacher)
    facts = _facts(teacher, asked, settings, seed)
    chunks = _chunks(asked, settings.chunk_size)
    parts = None if path is None else Parts(path, model.fingerprint, facts)
    done = {chunk.first: part for chunk in chunks if parts and (part := parts.load(chunk)) is not None}
    _make_ready(teacher)

    def report() -> None:
        if on_progress is not None:
            on_progress(sum(map(len, done.values())), len(asked))

    report()
    missing = [chunk for chunk in chunks if chunk.first not in done]
    collector = Collector(teacher, settings, seed, facts)
    with closing(each(collector, missing, jobs, collector.cancelled)) as finished:
        for k, part in finished:
            chunk = missing[k]
            assert part is not None  # a chunk that was cancelled half-way is not among the finished
            if parts is not None:
                parts.save(chunk, part)
            done[chunk.first] = part
            report()
    trajectories = concatenated([done[chunk.first] for chunk in chunks])
    if parts is not None:
        trajectories.save(parts.output)
        parts.remove()
    return trajectories


def _make_ready(teacher: Teacher) -> None:
    """Compile model and kernels before threads come to need them, and complain of a missing peer at once."""
    teacher.runner  # noqa: B018
    if teacher.settings.method == "toulbar2":
        teacher.peer  # noqa: B018


def _chunks(queries: QuerySet, size: int) -> list[Chunk]:
    firsts = range(0, len(queries), size)
    return [
        Chunk(first, tuple(queries.evidence(k) for k in range(first, min(first + size, len(queries)))))
        for first in firsts
    ]


def _facts(teacher: Teacher, queries: QuerySet, settings: CollectSettings, seed: int) -> dict[str, Any]:
    return {
        "queries": queries.digest,
        "seed": int(seed),
        "log_zero": teacher.flat.log_zero,
        "beacon": __version__,
        **asdict(settings),
    }


class Parts:
    """The folder ``OUTPUT.parts``, and what is in it of one collection."""

    def __init__(self, output: str | os.PathLike[str], fingerprint: str, settings: dict[str, Any]) -> None:
        self.output = Path(output)
        self._parts = PartsFolder(Path(f"{os.fspath(output)}.parts"), "queries")
        self._fingerprint, self._settings = fingerprint, settings

    def load(self, chunk: Chunk) -> Trajectories | None:
        """A chunk finished earlier; None if there is none, or none that can be read."""
        path = self._parts.path(_name(chunk))
        if not path.exists():
            return None
        try:
            part = Trajectories.load(path)
        except FormatError:
            return None  # it is made again
        if part.fingerprint != self._fingerprint or part.settings != self._settings:
            raise UsageError(
                f"{self._parts.folder} holds an unfinished collection with other {self._difference(part)}; "
                "go on with that, choose another output, or remove the folder"
            )
        return part if len(part) == len(chunk.evidences) else None

    def save(self, chunk: Chunk, part: Trajectories) -> None:
        """Keep a finished chunk."""
        part.save(self._parts.new(_name(chunk)))

    def remove(self) -> None:
        """The output is written: nothing here is needed any more."""
        self._parts.remove()

    def _difference(self, part: Trajectories) -> str:
        """The settings that differ, with their values there."""
        if part.fingerprint != self._fingerprint:
            return "model"
        theirs, ours = part.settings, self._settings
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        return ", ".join(f"{name} ({theirs.get(name)})" for name in names)


def _name(chunk: Chunk) -> str:
    return f"{chunk.first:06}-{chunk.first + len(chunk.evidences) - 1:06}"
