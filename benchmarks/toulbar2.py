"""toulbar2 as a judge, in a child process.

``python toulbar2.py PROBLEM.npz SECONDS tree|vns COST`` ends with a JSON line. Its neighbourhood search ends
at that cost.

The tables go in through its Python interface as costs relative to each table's best entry. Through UAI
files some pedigree queries came back "proved" with a worse score than ours, or with a zero factor.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.model.flat import DEFAULT_LOG_ZERO
from beacon.model.graphical_model import GraphicalModel

DECIMALS = 6
LDS = -4  # its neighbourhood search begins at the first assignment that its tree search finds
_SOLUTION = re.compile(r"New solution: (-?[\d.]+) .*, ([\d.e-]+) seconds")


def solve_with_toulbar2(
    model: GraphicalModel, evidence: Mapping[int, int], seconds: int
) -> tuple[NDArray[np.int64] | None, bool]:
    """The best assignment found (None if there is none) and whether it is proved optimal."""
    assignment, _, proved = _solve(model, evidence, seconds)
    return assignment, proved


def follow_toulbar2(
    model: GraphicalModel,
    evidence: Mapping[int, int],
    seconds: int,
    *,
    vns: bool = False,
    optimum: float = math.inf,
) -> tuple[list[tuple[float, float]], bool]:
    """Floored score over time as (seconds, score), and whether the last one is proved optimal.

    Its own clock: preprocessing is inside, handing over the tables is not. The neighbourhood search, which
    proves nothing, ends at the optimum where that is known.
    """
    assignment, costs, proved = _solve(model, evidence, seconds, vns, optimum)
    if assignment is None:
        return [], False
    score = model.floored_log_score(assignment, DEFAULT_LOG_ZERO)
    return [(when, score + costs[-1][1] - cost) for when, cost in costs], proved


def _solve(
    model: GraphicalModel,
    evidence: Mapping[int, int],
    seconds: int,
    vns: bool = False,
    optimum: float = math.inf,
) -> tuple[NDArray[np.int64] | None, list[tuple[float, float]], bool]:
    single = {i: 0 for i in range(model.num_variables) if model.domain_sizes[i] == 1}
    fixed = {**single, **evidence}
    conditioned, free = model.condition(fixed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        _save(conditioned, path)
        target = sum(factor.log_table.max() for factor in conditioned.factors) - optimum
        method = "vns" if vns else "tree"
        command = [sys.executable, __file__, str(path), str(seconds), method, str(target)]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, timeout=10 * seconds + 60, check=False
            )
            answer: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
        except (subprocess.TimeoutExpired, json.JSONDecodeError, IndexError):
            return None, [], False
    if answer["values"] is None:
        return None, [], False
    assignment = np.zeros(model.num_variables, dtype=np.int64)
    assignment[free] = answer["values"]
    assignment[list(fixed)] = list(fixed.values())
    solutions = [(float(when), float(cost)) for cost, when in _SOLUTION.findall(run.stdout)]
    return assignment, solutions or [(0.0, 0.0)], answer["proved"]


def _save(model: GraphicalModel, path: Path) -> None:
    factors = [factor for factor in model.factors if factor.scope]
    np.savez(
        path,
        sizes=model.domain_sizes,
        arities=[len(factor.scope) for factor in factors],
        scopes=np.concatenate([np.empty(0, dtype=np.int64), *(factor.scope for factor in factors)]).astype(
            int
        ),
        tables=np.concatenate([np.empty(0), *(factor.log_table.ravel() for factor in factors)]),
    )


def _child(path: str, seconds: int, method: str, target: float) -> None:
    import pytoulbar2  # noqa: PLC0415

    arrays = np.load(path)
    sizes, scopes, tables = arrays["sizes"], arrays["scopes"], arrays["tables"]
    place, entry, functions, worst = 0, 0, [], 1.0
    for arity in arrays["arities"]:
        scope = scopes[place : place + arity].tolist()
        costs = tables[entry : entry + np.prod(sizes[scope])]
        costs = costs.max() - costs if np.isfinite(costs.max()) else np.full(len(costs), np.inf)
        functions.append((scope, costs))
        worst += costs.max(where=np.isfinite(costs), initial=0.0)
        place, entry = place + arity, entry + len(costs)
    problem = pytoulbar2.CFN(worst, resolution=DECIMALS, verbose=0, vns=LDS if method == "vns" else None)
    for i, size in enumerate(sizes):
        problem.AddVariable(f"x{i}", range(size))
    for scope, costs in functions:
        problem.AddFunction(scope, np.minimum(costs, worst).tolist())
    if method == "vns" and math.isfinite(target):
        problem.Option.vnsOptimum = math.ceil(target * 10**DECIMALS)
    found = problem.Solve(timeLimit=seconds)
    proved = found is not None and problem.GetDDualBound() >= found[1] - 10.0**-DECIMALS
    print()
    print(json.dumps({"values": found and list(found[0]), "proved": bool(proved)}), flush=True)
    os._exit(0)  # its own clean-up at exit is fragile


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4]))
