"""Trajectories: references and recorded searches of a query set, as starts and flips that replay exactly."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import ModelError, UsageError
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import SPLITS, QuerySet

ROWS = (
    "references",
    "reference_scores",
    "reference_zeros",
    "starts",
    "flip_variables",
    "flip_values",
)
"""The arrays that have a row per query."""


@dataclass(frozen=True, eq=False)
class Trajectories:
    """What was collected for the queries of a set, in its order: row q belongs to query q.

    Each query is searched in several runs of equally many steps, each from a random start of its own.
    State (q, r, t) is ``starts[q, r]`` after the first t flips of that run.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> model = ising_grid(4, 4)
    >>> queries = beacon.sample_queries(model, count=3)
    >>> teacher = beacon.TeacherSettings(method="gls+", steps=500)
    >>> walks = beacon.collect(model, queries, beacon.CollectSettings(teacher, steps=20, restart_interval=10))
    >>> walks.starts.shape, walks.save("walks.parquet")
    ((3, 2, 16), None)
    >>> len(beacon.Trajectories.load("walks.parquet", model, queries))
    3
    """

    fingerprint: str
    """The model's fingerprint."""
    references: NDArray[Any]
    """[queries, variables] unsigned: the near-optimal assignments, evidence included."""
    reference_scores: NDArray[np.float64]
    """[queries] their floored scores."""
    reference_zeros: NDArray[np.int64]
    """[queries] their numbers of zero factors."""
    sources: tuple[str, ...]
    """[queries] how each reference was obtained."""
    starts: NDArray[Any]
    """[queries, runs, variables] unsigned: where each run began, evidence included."""
    flip_variables: NDArray[np.int32]
    """[queries, runs, steps] the variable flipped; -1 where a query has nothing to flip."""
    flip_values: NDArray[Any]
    """[queries, runs, steps] unsigned: the value it was given."""
    settings: dict[str, Any]
    """How they were made, for the record."""

    def __len__(self) -> int:
        return len(self.references)

    def check_queries(self, queries: QuerySet) -> None:
        """Raise unless these trajectories were collected for these queries, in this order."""
        if self.fingerprint != queries.fingerprint:
            raise ModelError(
                f"these trajectories are for another model: its fingerprint is {self.fingerprint}, "
                f"the queries' is {queries.fingerprint}; collect new ones with `beacon collect`"
            )
        if self.settings.get("queries") != queries.digest or len(self) != len(queries):
            raise UsageError(
                f"these {len(self)} trajectories are for another query set than the given one of "
                f"{len(queries)} queries; collect new ones with `beacon collect`"
            )

    def summary(self) -> dict[str, Any]:
        """How many there are and how good, for ``beacon collect --json``."""
        return {
            "queries": len(self),
            "runs": self.flip_variables.shape[1],
            "steps_per_run": self.flip_variables.shape[2],
            "mean_reference_score": float(self.reference_scores.mean()) if len(self) else None,
            "impossible_references": int((self.reference_zeros > 0).sum()),
            "sources": dict(Counter(self.sources).most_common()),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file; a file already there is replaced only once the new one is complete."""
        from beacon.learn.trajectories_file import save_trajectories  # noqa: PLC0415  (pyarrow is slow)

        save_trajectories(self, path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        model: GraphicalModel | None = None,
        queries: QuerySet | None = None,
    ) -> Trajectories:
        """Read trajectories, and refuse those made for another model or for other queries."""
        from beacon.learn.trajectories_file import load_trajectories  # noqa: PLC0415

        return load_trajectories(path, model, queries)


def check_data(model: GraphicalModel, queries: QuerySet, trajectories: Trajectories) -> None:
    """Raise unless the three belong together; the references of test queries are not looked at."""
    queries.check_model(model)
    if trajectories.fingerprint != model.fingerprint:
        raise ModelError(
            f"these trajectories are for another model: its fingerprint is {trajectories.fingerprint}, "
            f"the model's is {model.fingerprint}; collect new ones with `beacon collect`"
        )
    if len(trajectories) != len(queries):
        raise UsageError(
            f"expected trajectories of these {len(queries):,} queries, found those of "
            f"{len(trajectories):,}; collect them again"
        )
    used = queries.split_of_queries != SPLITS.index("test")
    differ = queries.observed & (trajectories.references != queries.samples)
    if differ[used].any():
        raise UsageError("these trajectories are for other evidence than the queries'; collect them again")


def replay(trajectories: Trajectories, query: int, run: int, step: int) -> NDArray[np.int64]:
    """State (query, run, step): the run's start after its first ``step`` flips."""
    state: NDArray[np.int64] = trajectories.starts[query, run].astype(np.int64)
    variables = trajectories.flip_variables[query, run, :step]
    values = trajectories.flip_values[query, run, :step]
    for variable, value in zip(variables.tolist(), values.tolist(), strict=True):
        if variable >= 0:
            state[variable] = value
    return state


def concatenated(pieces: Sequence[Trajectories]) -> Trajectories:
    """Pieces of one collection, one after another."""
    rows: dict[str, Any] = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in ROWS}
    return Trajectories(
        fingerprint=pieces[0].fingerprint,
        sources=tuple(source for piece in pieces for source in piece.sources),
        settings=pieces[0].settings,
        **rows,
    )
