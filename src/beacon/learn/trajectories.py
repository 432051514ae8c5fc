"""Trajectories: references and recorded searches of a query set, as starts and flips that replay exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Trajectories:
    """What was collected for the queries of a set, in its order: row q belongs to query q.

    Each query is searched in several runs of equally many steps, each from a random start of its own.
    State (q, r, t) is ``starts[q, r]`` after the first t flips of that run.
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
