"""Best score over time of Beacon's strategies, of the C++ yardsticks and of toulbar2, on one query.

All clocks count processor time, so that a busy machine disturbs nobody's figures: toulbar2's does, the
yardsticks must be built so, and Beacon's is exchanged here. Loading, compiling and setting up are outside
everybody's clock. A zero factor counts -100 for all of them.
"""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from toulbar2 import follow_toulbar2

from beacon.formats import write_evidence, write_model
from beacon.model.flat import DEFAULT_LOG_ZERO, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.stop import MaxRuntime, TargetScore, processor_time
from beacon.solver import GuidedStart, solve
from beacon.strategies.strategy import Strategy

TOLERANCE = 1e-3  # toulbar2 rounds every table entry to six decimals, the tree yardstick prints four
GLS_SETTINGS = ("10", "1")  # penalty weight in nats, seed
TREE_SETTINGS = ("1", "600", "3")  # seed, largest region, sweeps
_LINE = re.compile(r"t=([\d.]+).* best=(-?[\d.]+)")


@dataclass(frozen=True)
class Curve:
    """The best score known at each of some times; the last one stays."""

    points: list[tuple[float, float]]
    """Seconds and score, in the order of time."""
    limit: float
    """Seconds after which the search was ended."""
    optimum: float = math.inf
    """What nothing can surpass, where it is known beforehand."""
    proved: bool = False
    """Has the search itself proved that its last score is the optimum?"""

    def at(self, marks: Iterable[float]) -> list[float | None]:
        """The score at each of the marks; None before the first point and after the search was ended."""
        return [self._score_at(mark) for mark in marks]

    def _score_at(self, mark: float) -> float | None:
        known = [score for seconds, score in self.points if seconds <= mark]
        is_final = self.proved or bool(known and known[-1] >= self.optimum - TOLERANCE)
        return known[-1] if known and (mark <= self.limit or is_final) else None


def follow_ours(
    model: GraphicalModel,
    evidence: Mapping[int, int],
    strategy: str | Strategy | None,
    seconds: float,
    optimum: float,
    seed: int,
    start: GuidedStart | None = None,
    guide: Path | None = None,
) -> Curve:
    """One search of a strategy; it ends early at the optimum (infinity where none is known).

    A guide is heeded as it was tuned.
    """
    stop = MaxRuntime(seconds) | TargetScore(optimum)
    with processor_time():
        result = solve(
            *(model, dict(evidence)), strategy=strategy, stop=stop, seed=seed, start=start, guide=guide
        )
    trace, floor = result.trace, compile_model(model).log_zero
    scores = trace.scores + trace.zero_factors * (DEFAULT_LOG_ZERO - floor)
    points = list(zip(trace.seconds.tolist(), scores.tolist(), strict=True))
    return Curve(points, seconds, optimum, result.is_optimal)


def follow_judge(model: GraphicalModel, evidence: Mapping[int, int], seconds: float) -> Curve:
    """toulbar2 through its Python interface."""
    points, proved = follow_toulbar2(model, evidence, round(seconds))
    return Curve(points, seconds, proved=proved)


def follow_program(
    program: Path, model: GraphicalModel, evidence: Mapping[int, int], seconds: float, optimum: float
) -> Curve:
    """A yardstick that prints ``t=SECONDS … best=SCORE`` now and then; it is ended at the optimum."""
    is_tree = "tree" in program.name
    with tempfile.TemporaryDirectory() as folder:
        model_path, evidence_path = Path(folder) / "model.uai", Path(folder) / "query.evid"
        write_model(model, model_path)
        write_evidence(evidence_path, dict(evidence))
        tail = [str(seconds), *TREE_SETTINGS] if is_tree else ["1000000000000", str(seconds), *GLS_SETTINGS]
        command = [str(program), str(model_path), str(evidence_path), *tail]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            return Curve(_points(child, optimum), seconds, optimum)


def _points(child: subprocess.Popen[str], optimum: float) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    for line in child.stdout or ():
        if found := _LINE.match(line):
            points.append((float(found[1]), float(found[2])))
            if points[-1][1] >= optimum - TOLERANCE:
                child.kill()
                break
    return points


def is_pairwise(model: GraphicalModel) -> bool:
    """Can the tree yardstick take the model?"""
    return all(len(factor.scope) <= 2 for factor in model.factors)
