"""Brute force: the first best of all assignments. For small models, and to judge the other peers by."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from beacon.errors import UsageError
from beacon.model.graphical_model import GraphicalModel
from beacon.peers.peer import PeerAnswer, checked_answer, no_answer

MAX_ASSIGNMENTS = 1_000_000
ROWS = 10_000  # assignments scored at a time


@dataclass(frozen=True)
class BruteForce:
    """Scores every assignment that keeps the evidence."""

    name: ClassVar[str] = "brute-force"

    def solve(self, model: GraphicalModel, evidence: Mapping[int, int], seconds: float) -> PeerAnswer:
        """The best assignment of all, or of those that there was time for."""
        began = perf_counter()
        sizes = model.domain_sizes.tolist()
        choices = [[evidence[i]] if i in evidence else range(size) for i, size in enumerate(sizes)]
        if math.prod(map(len, choices)) > MAX_ASSIGNMENTS:
            raise UsageError(
                f"brute force takes at most {MAX_ASSIGNMENTS:,} assignments; this query has more"
            )
        best, best_score, is_complete = None, -math.inf, True
        assignments = itertools.product(*choices)
        while batch := list(itertools.islice(assignments, ROWS)):
            if perf_counter() - began > seconds:
                is_complete = False
                break
            rows = np.array(batch, dtype=np.int64).reshape(len(batch), -1)
            scores = model.log_scores(rows)
            if scores.max() > best_score:
                best, best_score = rows[scores.argmax()], float(scores.max())
        spent = perf_counter() - began
        why = "" if is_complete else f"time limit of {seconds:g} s"
        if best is None:
            return no_answer(spent, why or "no assignment has a non-zero probability")
        return checked_answer(model, evidence, best, is_complete, spent, why)
