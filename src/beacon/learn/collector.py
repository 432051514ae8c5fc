"""The work of collecting: references and walks of a few queries at a time, wherever it is done."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beacon.learn.teacher import Reference, Teacher
from beacon.learn.trajectories import Trajectories
from beacon.learn.walks import Walks, record_walks

if TYPE_CHECKING:
    from beacon.learn.collect import CollectSettings

REFERENCE_STREAM, WALK_STREAM = 1, 2


class Chunk(NamedTuple):
    """Queries that are worked on together."""

    first: int
    """Number of the first query."""
    evidences: tuple[dict[int, int], ...]


@dataclass(frozen=True, eq=False)
class Collector:
    """Collects for chunks of queries. What a chunk gives depends on nothing but the chunk and the fields."""

    teacher: Teacher
    settings: CollectSettings
    seed: int
    facts: dict[str, Any]
    """How all this is made, for the record."""
    cancelled: threading.Event = field(default_factory=threading.Event)

    def __getstate__(self) -> dict[str, Any]:
        """Events do not travel; Ctrl-C here stops no worker of a cluster in the middle of a chunk."""
        return {**self.__dict__, "cancelled": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, cancelled=threading.Event())

    @property
    def kept(self) -> tuple[object, ...]:
        """Trajectories refer to nothing here."""
        return ()

    def __call__(self, chunks: Sequence[Chunk]) -> list[Trajectories | None]:
        """References and walks of some chunks."""
        return [self.collect(chunk) for chunk in chunks]

    def collect(self, chunk: Chunk) -> Trajectories | None:
        """References and walks of a chunk; None if cancelled meanwhile."""
        rows: list[tuple[Reference, Walks]] = []
        for k, evidence in enumerate(chunk.evidences):
            rows.append(self._collect_one(chunk.first + k, evidence))
            if self.cancelled.is_set():
                return None
        return self._stacked(rows)

    def _collect_one(self, query: int, evidence: dict[int, int]) -> tuple[Reference, Walks]:
        runs = range(self.settings.teacher.runs)
        seeds = [_derived_seed(self.seed, REFERENCE_STREAM, query, run) for run in runs]
        reference = self.teacher.find(evidence, seeds, self.cancelled)
        walks, _ = record_walks(
            self.teacher.flat,
            evidence,
            reference.assignment,
            *self.settings.walks(int((self.teacher.flat.domain_sizes > 1).sum())),
            _derived_seed(self.seed, WALK_STREAM, query),
        )
        return reference, walks

    def _stacked(self, rows: list[tuple[Reference, Walks]]) -> Trajectories:
        small = np.min_scalar_type(max(1, self.teacher.model.max_domain - 1))
        return Trajectories(
            fingerprint=self.teacher.model.fingerprint,
            references=np.array([reference.assignment for reference, _ in rows]).astype(small),
            reference_scores=np.array([reference.score for reference, _ in rows]),
            reference_zeros=np.array([reference.zeros for reference, _ in rows], dtype=np.int64),
            sources=tuple(reference.source for reference, _ in rows),
            starts=np.array([walks.starts for _, walks in rows]).astype(small),
            flip_variables=np.array([walks.flip_variables for _, walks in rows]),
            flip_values=np.array([walks.flip_values for _, walks in rows]).astype(small),
            settings=self.facts,
        )


def _derived_seed(*numbers: int) -> int:
    """A seed of its own for each purpose, query and run."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])
