"""Queries with their references: what guides of the evidence learn from, and are measured by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.guide.measure import Quality, prediction_quality
from beacon.guided.guide import EvidenceGuide
from beacon.learn.trajectories import Trajectories
from beacon.query.query_set import SPLITS, QuerySet


@dataclass(frozen=True, eq=False)
class Examples:
    """Queries with their references."""

    references: NDArray[np.int64]
    """[queries, variables] evidence included."""
    observed: NDArray[np.bool_]
    """[queries, variables]"""

    @classmethod
    def of_split(cls, queries: QuerySet, trajectories: Trajectories, split: str) -> Examples:
        """The queries of a split and what was found for them."""
        chosen = queries.split_of_queries == SPLITS.index(split)
        if not chosen.any():
            raise UsageError(
                f"training needs queries of the splits train and validation; found no {split} query: "
                "sample more queries, or change the splits"
            )
        return cls(trajectories.references[chosen].astype(np.int64), queries.observed[chosen])


def measured(guide: EvidenceGuide, examples: Examples) -> Quality:
    """Loss and accuracy of a guide on some queries."""
    probabilities = guide.probabilities(examples.references, examples.observed)
    return prediction_quality(guide.moves, probabilities, examples.observed, examples.references)
