"""toulbar2 as a judge, in a child process: ``python toulbar2.py MODEL.uai SECONDS`` prints one JSON line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from beacon.formats import write_model
from beacon.model.graphical_model import GraphicalModel


def solve_with_toulbar2(
    model: GraphicalModel, evidence: Mapping[int, int], seconds: int
) -> tuple[np.ndarray | None, bool]:
    """The best assignment found (None if there is none) and whether it is proved optimal.

    The evidence is folded into the tables, and the file lies alone in a folder of its own, because
    toulbar2 reads evidence files that lie beside a model unasked.
    """
    conditioned, free = model.condition(evidence)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.uai"
        write_model(conditioned, path)
        command = [sys.executable, __file__, str(path), str(seconds)]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=False)
            answer: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
        except (subprocess.TimeoutExpired, json.JSONDecodeError, IndexError):
            return None, False
    if answer["values"] is None:
        return None, False
    assignment = np.zeros(model.num_variables, dtype=np.int64)
    assignment[free] = answer["values"]
    assignment[list(evidence)] = list(evidence.values())
    return assignment, answer["proved"]


def _child(path: str, seconds: int) -> None:
    import pytoulbar2  # noqa: PLC0415

    problem = pytoulbar2.CFN(vac=0)
    pytoulbar2.tb2.option.uai = 1
    pytoulbar2.tb2.option.markov = 1
    problem.Read(path)
    found = problem.Solve(timeLimit=seconds)
    values = None if found is None else list(found[0])
    print()
    proved = found is not None and problem.GetDDualBound() >= found[1] - 1e-9 * max(1.0, abs(found[1]))
    print(json.dumps({"values": values, "proved": bool(proved)}), flush=True)
    os._exit(0)  # its own clean-up at exit is fragile


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]))
