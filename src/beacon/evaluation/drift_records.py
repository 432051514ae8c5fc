"""What is kept of every search that was followed towards a reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beacon.evaluation.drift import measure_drift
from beacon.evaluation.method import Method, Network, Query, Walker
from beacon.evaluation.records import KEY
from beacon.io.row_store import Row, RowStore

SCHEMA = pa.schema(
    [
        ("network", pa.string()),
        ("method", pa.string()),
        ("seed", pa.int64()),
        ("query", pa.int64()),
        ("steps", pa.int64()),  # most steps that were followed
        ("moves", pa.int64()),
        ("closer", pa.int64()),
        ("start_distance", pa.int64()),
        ("hitting_step", pa.int64()),  # null: the reference was not reached
        ("reference_score", pa.float64()),
    ]
)


@dataclass(frozen=True)
class Reference:
    """The best assignment known of a query."""

    assignment: NDArray[np.int64]
    score: float


@dataclass(frozen=True)
class DriftTask:
    """Where drift is measured to, and where it is kept."""

    store: RowStore
    references: dict[int, Reference]
    """By query."""


def drift_store(folder: Path) -> RowStore:
    """The drift of an evaluation's searches."""
    return RowStore(folder, "drift", SCHEMA, KEY)


def best_references(network: str, rows: Iterable[Row]) -> dict[int, Reference]:
    """The best assignment of each query that any method found: fewest zeros first, then the score."""
    best: dict[int, Row] = {}
    for row in rows:
        if row["network"] == network and row["assignment"]:
            known = best.get(row["query"])
            if known is None or (-row["zeros"], row["score"]) > (-known["zeros"], known["score"]):
                best[row["query"]] = row
    return {
        query: Reference(np.array(row["assignment"], dtype=np.int64), row["score"])
        for query, row in best.items()
    }


def drift_row(
    network: Network, method: Method, query: Query, seed: int, steps: int, reference: Reference
) -> dict[str, Any]:
    """Follow one search."""
    walk = cast("Walker", method).walk(network, query, seed, steps)
    drift = measure_drift(query.start, walk, reference.assignment)
    return {
        "network": network.name,
        "method": method.name,
        "seed": seed,
        "query": query.index,
        "steps": steps,
        **drift._asdict(),
        "reference_score": reference.score,
    }
