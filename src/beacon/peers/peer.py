"""What a peer is: another solver that answers the same queries, and how its answers are checked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.model.graphical_model import GraphicalModel


@dataclass(frozen=True, eq=False)
class PeerAnswer:
    """What another solver made of a query, scored by us."""

    assignment: NDArray[np.int64] | None
    """A value index for every variable, evidence included; None if there is no answer."""
    log_score: float
    """Recomputed from the model; -inf where there is no answer."""
    proved_optimal: bool
    """Does the solver say that no assignment is better, up to its own precision?"""
    seconds: float
    """Wall-clock time, starting the program and handing over the model included."""
    why: str = ""
    """Why there is no answer, or no proof; empty if all is well."""


class Peer(Protocol):
    """Another solver."""

    name: ClassVar[str]

    def solve(self, model: GraphicalModel, evidence: Mapping[int, int], seconds: float) -> PeerAnswer:
        """Answer one query within this many seconds of wall-clock time."""


def find_peer(name: str, program: str | None = None) -> Peer:
    """A peer by name; ``program`` is the path of one that has to be built by its user (daoopt).

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    >>> answer = beacon.find_peer("brute-force").solve(model, {}, seconds=1.0)
    >>> answer.assignment.tolist(), answer.proved_optimal
    ([1, 1], True)
    """
    if name == "toulbar2":
        from beacon.peers.toulbar2 import Toulbar2  # noqa: PLC0415

        return Toulbar2()
    if name == "brute-force":
        return BruteForce()
    if name == "daoopt":
        from beacon.peers.daoopt import Daoopt  # noqa: PLC0415

        if program is None:
            raise UsageError("daoopt needs the path of its program; Beacon does not include it")
        return Daoopt(program)
    raise UsageError(f"no peer is called {name!r}; there are: toulbar2, daoopt, brute-force")


def no_answer(seconds: float, why: str) -> PeerAnswer:
    """The answer of a peer that has none."""
    return PeerAnswer(None, -math.inf, False, seconds, why)


def checked_answer(
    model: GraphicalModel,
    evidence: Mapping[int, int],
    values: NDArray[np.int64],
    proved_optimal: bool,
    seconds: float,
    why: str = "",
) -> PeerAnswer:
    """Score an answer ourselves; one that breaks the evidence is none, a zero factor is no proof."""
    assignment = model.check_assignment(values)
    broken = [i for i, value in evidence.items() if assignment[i] != value]
    if broken:
        return no_answer(seconds, f"the answer changes the observed variable {model.names[broken[0]]!r}")
    log_score = model.log_score(assignment)
    if proved_optimal and log_score == -math.inf:
        proved_optimal, why = False, "the answer has probability zero"
    return PeerAnswer(assignment, log_score, proved_optimal, seconds, why)


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
