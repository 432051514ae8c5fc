"""toulbar2, an exact solver, through its Python package.

The tables go in through its Python interface, as costs relative to each table's best entry: through UAI
files some queries came back "proved" with a worse score than ours, or with a zero factor.
"""

from __future__ import annotations

import importlib.util
import json
import math
import signal
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from beacon.errors import MissingDependencyError
from beacon.model.graphical_model import GraphicalModel
from beacon.peers import toulbar2_child
from beacon.peers.child import run_child
from beacon.peers.peer import PeerAnswer, checked_answer, no_answer

MAX_DECIMALS = 6
MAX_COST = 1e15  # toulbar2 counts in integers; beyond this, sums might overflow
IMPOSSIBLE = "no assignment has a non-zero probability"


@dataclass(frozen=True)
class Toulbar2:
    """toulbar2 in a child process per query: several problems in one process are fragile."""

    name: ClassVar[str] = "toulbar2"

    def __post_init__(self) -> None:
        """Refuse to exist without the package, rather than fail at every query."""
        if importlib.util.find_spec("pytoulbar2") is None:
            raise MissingDependencyError("pytoulbar2", "the peer toulbar2", "peers")

    def solve(self, model: GraphicalModel, evidence: Mapping[int, int], seconds: float) -> PeerAnswer:
        """Its best assignment within this many seconds of wall-clock time, proved optimal or not."""
        began = perf_counter()
        single = {i: 0 for i in range(model.num_variables) if model.domain_sizes[i] == 1}
        fixed = {**single, **evidence}
        conditioned, free = model.condition(fixed)
        values = np.zeros(model.num_variables, dtype=np.int64)
        values[list(fixed)] = list(fixed.values())
        if any(f.log_table.max() == -math.inf for f in conditioned.factors):
            return no_answer(perf_counter() - began, IMPOSSIBLE)
        if not free:
            return checked_answer(model, evidence, values, True, perf_counter() - began)
        scoped = [
            (list(factor.scope), factor.log_table.ravel()) for factor in conditioned.factors if factor.scope
        ]
        answer, why = ask(problem(conditioned.domain_sizes.tolist(), scoped), seconds)
        if answer is None or answer["values"] is None:
            return no_answer(perf_counter() - began, why)
        values[free] = answer["values"]
        return checked_answer(model, evidence, values, answer["proved"], perf_counter() - began, why)


def ask(
    problem: dict[str, Any], seconds: float, cancelled: threading.Event | None = None
) -> tuple[dict[str, Any] | None, str]:
    """What a child process answers, and why it has no answer or no proof."""
    with tempfile.TemporaryDirectory() as name:  # it would read files that lie beside the model's
        folder = Path(name)
        (folder / "problem.json").write_text(json.dumps(problem), encoding="ascii")
        child_limit = math.ceil(seconds) + 1  # of CPU time; ours comes first, but a child may be orphaned
        command = [sys.executable, toulbar2_child.__file__, "problem.json", str(child_limit)]
        stops_it = signal.SIGVTALRM  # as its own timer does
        run = run_child(command, folder, seconds, stops_it, cancelled)
    try:
        answer: dict[str, Any] = json.loads(run.output.splitlines()[-1])
    except (ValueError, IndexError):
        return None, run.failure or "no answer that can be read"
    if answer["proved"]:
        return answer, ""
    if answer["values"] is None and not answer["limited"]:
        return answer, IMPOSSIBLE
    return answer, f"time limit of {seconds:g} s"


def problem(sizes: list[int], scoped: list[tuple[list[int], NDArray[np.float64]]]) -> dict[str, Any]:
    """Costs relative to each table's best entry; a zero costs more than any possible assignment, and more
    than the upper bound for certain: toulbar2 rounds tables of more than three variables down.
    """
    costs = [(scope, table.max() - table) for scope, table in scoped]
    top = 1.0 + sum(float(table.max(where=np.isfinite(table), initial=0.0)) for _, table in costs)
    return {
        "sizes": sizes,
        "upper_bound": top,
        "decimals": decimals_of(top),
        "functions": [(scope, np.minimum(table, top + 1.0).tolist()) for scope, table in costs],
    }


def decimals_of(upper_bound: float) -> int:
    """As many decimals of the costs as fit into its integers."""
    return max(0, min(MAX_DECIMALS, math.floor(math.log10(MAX_COST / upper_bound))))
