"""daoopt, an exact solver, as a program that its user has built.

It reports log10 of the product, so only its assignments are taken; it may know no time limit, so it is
stopped from outside and the last improvement that it printed is its answer. Without ``--rotate``: with it,
false optima were reported.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.formats import write_model
from beacon.model.graphical_model import GraphicalModel
from beacon.peers.child import run_child
from beacon.peers.peer import PeerAnswer, checked_answer, no_answer

SOLUTION, IMPROVEMENT = "s", "u"  # first words of its lines; what goes before the assignment differs
WORDS_BEFORE = {SOLUTION: 2, IMPROVEMENT: 4}


@dataclass(frozen=True)
class Daoopt:
    """daoopt in a child process per query, on the model of the unobserved variables alone."""

    program: str
    """Path of the program, or its name on the search path."""
    options: tuple[str, ...] = ()
    """More options, passed on as they are."""

    name: ClassVar[str] = "daoopt"

    def __post_init__(self) -> None:
        """Find the program before any query."""
        if shutil.which(self.program) is None:
            raise UsageError(f"daoopt: no program to run at {self.program}")
        if "--rotate" in self.options:
            raise UsageError("daoopt's --rotate can report a false optimum; leave it out")

    def solve(self, model: GraphicalModel, evidence: Mapping[int, int], seconds: float) -> PeerAnswer:
        """Its best assignment within this many seconds of wall-clock time, proved optimal or not."""
        began = perf_counter()
        conditioned, free = model.condition(evidence)
        values = np.zeros(model.num_variables, dtype=np.int64)
        values[list(evidence)] = list(evidence.values())
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_model(_shifted(conditioned), folder / "model.uai")
            program = str(Path(str(shutil.which(self.program))).absolute())
            run = run_child([program, "-f", "model.uai", *self.options], folder, seconds)
        found, is_final = _last_assignment(run.output, conditioned)
        if found is None:
            return no_answer(perf_counter() - began, run.failure or "it printed no assignment")
        values[free] = found
        proved = is_final and run.exit_code == 0
        why = "" if proved else run.failure or "it ended without a solution line"
        return checked_answer(model, evidence, values, proved, perf_counter() - began, why)


def _shifted(model: GraphicalModel) -> GraphicalModel:
    """Every table with 1 as its largest potential: the same best assignments, and nothing overflows.

    Written with a MARKOV header: daoopt takes tables of BAYES files as they are, other programs do not.
    """
    tops = [f.log_table.max() if np.isfinite(f.log_table.max()) else 0.0 for f in model.factors]
    tables = [(f.scope, f.log_table - top) for f, top in zip(model.factors, tops, strict=True)]
    return GraphicalModel.from_tables(model.domain_sizes.tolist(), tables)


def _last_assignment(output: str, model: GraphicalModel) -> tuple[NDArray[np.int64] | None, bool]:
    """The assignment of the last line that has one, and whether it is the final solution.

    A line cut off by the end of the program is passed over; so is a solution of probability zero, which it
    prints without having found any.
    """
    lines = output.split("\n")[:-1]
    for line in reversed(lines):
        words = line.split()
        if not words or words[0] not in WORDS_BEFORE:
            continue
        before = WORDS_BEFORE[words[0]]
        try:
            cost, (count, *values) = float(words[before - 1]), map(int, words[before:])
            if count == len(values) == model.num_variables and cost > -math.inf:
                return model.check_assignment(np.array(values, dtype=np.int64)), words[0] == SOLUTION
        except (ValueError, IndexError):
            continue
    return None, False
