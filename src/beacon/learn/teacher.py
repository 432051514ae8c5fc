"""The teacher: near-optimal assignments for a guide to learn from."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError, check_count, check_positive
from beacon.model.flat import FlatModel
from beacon.model.graphical_model import GraphicalModel
from beacon.peers.peer import Peer, find_peer
from beacon.runner.result import Result, checked_result
from beacon.runner.runner import Query, Runner
from beacon.runner.stop import Stop
from beacon.strategies.auto import Auto
from beacon.strategies.gls import GlsPlus
from beacon.strategies.strategy import Strategy

METHODS = ("gls+", "auto", "toulbar2")
DEFAULT_STEPS = 100_000
DEFAULT_PEER_SECONDS = 10.0


@dataclass(frozen=True)
class TeacherSettings:
    """How references are found.

    >>> import beacon
    >>> beacon.TeacherSettings(method="gls+", steps=20_000, runs=2).stop.steps
    20000
    """

    method: str = "auto"
    """``auto``, ``gls+``, or ``toulbar2`` (optimal where it proves so; where not, the
    better of its answer and that of ``auto``)."""
    steps: int | None = None
    """Steps of each run; 100,000 unless a time is given."""
    seconds: float | None = None
    """Seconds of each run, or of toulbar2 (10 unless given). Results then depend on the machine."""
    runs: int = 1
    """Independent runs per query; the best result counts."""
    restart_interval: int = 50_000
    """Steps of ``gls+`` between two restarts from random; 0: only when it stagnates, as in ``auto``."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(f"teacher methods are {', '.join(METHODS)}; found {self.method!r}")
        if self.steps is not None:
            check_count("teacher steps", self.steps, 1)
        if self.seconds is not None:
            check_positive("teacher seconds", self.seconds)
        check_count("teacher runs", self.runs, 1)
        check_count("teacher restart_interval", self.restart_interval, 0)

    @property
    def stop(self) -> Stop:
        """The budget of one run of the engine."""
        by_time = self.seconds is not None and self.method != "toulbar2"  # else it is the peer's
        steps = self.steps if self.steps is not None or by_time else DEFAULT_STEPS
        return Stop(
            steps=math.inf if steps is None else steps,
            seconds=self.seconds if by_time and self.seconds is not None else math.inf,
        )

    @property
    def budget(self) -> str:
        """The budget in words."""
        limits = [f"{self.stop.steps:.0f} steps"] if self.stop.steps < math.inf else []
        limits += [f"{self.stop.seconds:g} s"] if self.stop.seconds < math.inf else []
        return " or ".join(limits) + (f", best of {self.runs} runs" if self.runs > 1 else "")


@dataclass(frozen=True, eq=False)
class Reference:
    """A near-optimal assignment of one query."""

    assignment: NDArray[np.int64]
    score: float
    """Floored."""
    zeros: int
    """Number of zero factors."""
    source: str
    """How it was obtained."""

    def is_better_than(self, other: Reference) -> bool:
        """Fewer zero factors first, then the score."""
        return (self.zeros, -self.score) < (other.zeros, -other.score)


@dataclass(frozen=True, eq=False)
class Teacher:
    """Finds references on one model. A copy in another process compiles the model anew."""

    model: GraphicalModel
    settings: TeacherSettings

    @property
    def flat(self) -> FlatModel:
        """The compiled model."""
        return self.runner.flat

    @cached_property
    def runner(self) -> Runner:
        """What runs the engine's searches."""
        gls = GlsPlus(restart_interval=self.settings.restart_interval)
        strategy: Strategy = gls if self.settings.method == "gls+" else Auto()
        return Runner(self.model, strategy, threads=1)

    @cached_property
    def peer(self) -> Peer:
        """The other solver."""
        return find_peer(self.settings.method)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made on demand: copied arrays are no longer frozen, and kernels would not fit."""
        return {"model": self.model, "settings": self.settings}

    def find(
        self, evidence: dict[int, int], seeds: list[int], cancelled: threading.Event | None = None
    ) -> Reference:
        """The reference of one query; ``seeds`` has one for each run. Once ``cancelled``, it is of no use."""
        if self.settings.method != "toulbar2":
            return self._search(evidence, seeds, cancelled)
        answer = self.peer.solve(self.model, evidence, self.settings.seconds or DEFAULT_PEER_SECONDS)
        if answer.assignment is not None and answer.proved_optimal:
            return self._scored(answer.assignment, "toulbar2, proved optimal")
        found = self._search(evidence, seeds, cancelled)
        if answer.assignment is not None:
            theirs = self._scored(answer.assignment, f"toulbar2, not proved optimal ({answer.why})")
            return found if found.is_better_than(theirs) else theirs
        return found

    def _search(
        self, evidence: dict[int, int], seeds: list[int], cancelled: threading.Event | None
    ) -> Reference:
        results: list[Result] = []
        for seed in seeds:
            query, stops = Query(evidence, seed=seed), [self.settings.stop]
            outcome = self.runner.outcome(query, stops, cancelled=cancelled)
            results.append(checked_result(self.model, evidence, outcome, self.flat, seed))
            if results[-1].is_optimal:
                break
        best = min(results, key=lambda result: (result.zero_factors, -result.floored_log_score))
        source = f"{self.runner.strategy.name}, proved optimal" if best.is_optimal else self._source
        return Reference(best.assignment, best.floored_log_score, best.zero_factors, source)

    @property
    def _source(self) -> str:
        return f"{self.runner.strategy.name} {self.settings.budget}"

    def _scored(self, assignment: NDArray[np.int64], source: str) -> Reference:
        entries = self.model.log_potentials(assignment)
        zeros = int(np.count_nonzero(np.isneginf(entries)))
        score = math.fsum(np.maximum(entries, self.flat.log_zero))
        return Reference(assignment, score, zeros, source)
