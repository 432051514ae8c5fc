"""Where searches begin: at random, or at given assignments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.errors import EvidenceError, UsageError
from beacon.model.fixed import as_fixed
from beacon.model.graphical_model import GraphicalModel
from beacon.rng import stream

START_STREAM = 7  # apart from the stream of the search itself

Start = Literal["random"] | ArrayLike


def first_assignments(
    model: GraphicalModel, start: Start, evidences: Sequence[Mapping[int, int]]
) -> Sequence[NDArray[np.int64] | None]:
    """One first assignment per query; None stands for a random one.

    ``start`` is ``"random"``, one assignment for all queries, or one row for each.
    """
    if isinstance(start, str):
        if start != "random":
            raise UsageError(f"start must be 'random' or an assignment; found {start!r}")
        return [None] * len(evidences)
    try:
        rows = np.asarray(start)
    except ValueError:
        rows = np.empty(())  # rows of different lengths
    if rows.ndim not in {1, 2}:
        raise UsageError(f"start must be 'random' or an assignment (or one for each query); found {start!r}")
    if rows.ndim == 1:
        rows = np.broadcast_to(rows, (len(evidences), len(rows)))
    if len(rows) != len(evidences):
        raise UsageError(f"expected one start for each of {len(evidences)} queries; found {len(rows)}")
    return [_checked(model, row, evidence) for row, evidence in zip(rows, evidences, strict=True)]


def random_start(model: GraphicalModel, evidence: Mapping[int, int], seed: int) -> NDArray[np.int64]:
    """A uniformly random assignment with the evidence in place; it depends on seed and evidence alone."""
    fixed = as_fixed(evidence, model.num_variables)
    rng = np.random.default_rng([START_STREAM, *stream(seed, fixed).tolist()])
    drawn = rng.integers(0, model.domain_sizes, dtype=np.int64)
    return np.where(fixed >= 0, fixed, drawn)


def _checked(model: GraphicalModel, row: NDArray[np.int64], evidence: Mapping[int, int]) -> NDArray[np.int64]:
    assignment = model.check_assignment(row)
    for variable, value in evidence.items():
        if assignment[variable] != value:
            labels = model.labels[variable]
            raise EvidenceError(
                f"the start contradicts the evidence: {model.names[variable]!r} is observed as "
                f"{labels[value]!r}, the start has {labels[assignment[variable]]!r}"
            )
    return assignment
