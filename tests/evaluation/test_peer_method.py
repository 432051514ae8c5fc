from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from beacon.errors import UsageError
from beacon.evaluation.method import Budget, PeerMethod
from beacon.model.graphical_model import GraphicalModel
from beacon.peers.peer import PeerAnswer
from tests.evaluation.helpers import evaluated, small_network


@dataclass(frozen=True)
class FakePeer:
    """Always the evidence with zeros elsewhere, after so many seconds; or nothing."""

    name: ClassVar[str] = "fake"
    seconds: float
    proved: bool = False
    finds: bool = True

    def solve(self, model: GraphicalModel, evidence: Mapping[int, int], seconds: float) -> PeerAnswer:
        values = np.zeros(model.num_variables, dtype=np.int64)
        values[list(evidence)] = list(evidence.values())
        return PeerAnswer(values if self.finds else None, 0.0, self.proved, self.seconds)


def rows_of(tmp_path: Path, peer: FakePeer, *seconds: float) -> list[dict[str, object]]:
    budget = Budget(steps=(10,), seconds=seconds)
    return evaluated(tmp_path, small_network(), [PeerMethod("toulbar2", peer)], budget=budget)


def test_an_answer_counts_from_the_moment_it_came(tmp_path: Path) -> None:
    for row in rows_of(tmp_path, FakePeer(0.4, proved=True), 0.1, 1.0):
        assert row["second_scores"] == [-np.inf, row["score"]]
        assert (row["proved"], row["stop"]) == (True, "optimal")
        assert row["step_scores"] == []
        assert row["steps"] == 0


def test_an_answer_at_the_limit_counts_for_the_limit(tmp_path: Path) -> None:
    for row in rows_of(tmp_path, FakePeer(1.02), 0.1, 1.0):
        assert row["second_scores"] == [-np.inf, row["score"]]
        assert (row["proved"], row["stop"]) == (False, "seconds")


def test_no_answer_is_minus_infinity(tmp_path: Path) -> None:
    for row in rows_of(tmp_path, FakePeer(1.0, finds=False), 1.0):
        assert row["score"] == -np.inf
        assert row["second_scores"] == [-np.inf]
        assert row["assignment"] == []


def test_a_solver_needs_a_time_limit(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="toulbar2 needs a time limit; add a budget in seconds"):
        rows_of(tmp_path, FakePeer(1.0))
