"""Mean best score of every strategy, the C++ yardsticks and toulbar2 after 0.1, 1 and 10 s, one core each.

Results are appended to --out as JSON lines, one per network, query and method; a second run goes on where
the first one stopped, and --table prints what there is.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import ALL_MODELS, load, options
from toulbar2 import solve_with_toulbar2

from beacon.formats import write_evidence, write_model
from beacon.model.flat import DEFAULT_LOG_ZERO
from beacon.model.graphical_model import GraphicalModel
from beacon.search.solve import solve
from beacon.search.stop import MaxRuntime

MARKS = (0.1, 1.0, 10.0)
OURS = ("gls+", "tree", "auto")
Scores = list[float | None]


def run_ours(model: GraphicalModel, evidence: dict[int, int], method: str, marks: list[float]) -> Scores:
    """Best floored score at each mark; a run that is proved optimal ends early and stays there."""
    result = solve(model, evidence, strategy=method, stop=MaxRuntime(marks[-1]))
    return [float(score) for score in result.trace.best_after(marks)]


def run_toulbar2(model: GraphicalModel, evidence: dict[int, int], marks: list[float]) -> Scores:
    """toulbar2 takes whole seconds of time, so the first mark is left out."""
    scores: Scores = []
    for mark in marks:
        best = solve_with_toulbar2(model, evidence, int(mark))[0] if mark >= 1 else None
        scores.append(None if best is None else model.floored_log_score(best, DEFAULT_LOG_ZERO))
    return scores


def run_program(
    program: Path, model: GraphicalModel, evidence: dict[int, int], marks: list[float], tree: bool
) -> Scores:
    """A yardstick, run once for each mark."""
    with tempfile.TemporaryDirectory() as folder:
        model_path, evidence_path = Path(folder) / "model.uai", Path(folder) / "query.evid"
        write_model(model, model_path)
        write_evidence(evidence_path, evidence)
        return [_program_score(program, model_path, evidence_path, mark, tree) for mark in marks]


def _program_score(program: Path, model: Path, evidence: Path, seconds: float, tree: bool) -> float | None:
    tail = [seconds, 1, 600, 3] if tree else [10**12, seconds, 10, 1]
    command = [str(part) for part in (program, model, evidence, *tail)]
    out = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = (
        re.findall(r"best (-?[\d.]+)", out) if tree else re.findall(r'"floored_log_score": (-?[\d.]+)', out)
    )
    return float(found[-1]) if found else None


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: one line per network and method, mean over the queries that every method has finished."""
    marks = rows[0]["marks"] if rows else []
    head = ["network", "method", "queries", *(f"{mark:g} s" for mark in marks)]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for network in dict.fromkeys(row["network"] for row in rows):
        for method in dict.fromkeys(row["method"] for row in rows):
            scores = [row["scores"] for row in rows if (row["network"], row["method"]) == (network, method)]
            if scores:
                means = np.array(scores, dtype=float).mean(axis=0)
                cells = " | ".join("-" if np.isnan(mean) else f"{mean:.3f}" for mean in means)
                lines.append(f"| {network} | {method} | {len(scores)} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    parser = options(__doc__, ALL_MODELS)
    parser.add_argument("--out", type=Path, required=True, help="JSON lines, appended to")
    parser.add_argument("--gls-program", type=Path, help="the compiled GLS+ yardstick")
    parser.add_argument("--tree-program", type=Path, help="the compiled tree yardstick (pairwise models)")
    parser.add_argument("--methods", nargs="+", default=[*OURS, "toulbar2"])
    parser.add_argument("--marks", nargs="+", type=float, default=list(MARKS), help="seconds")
    parser.add_argument("--table", action="store_true", help="print what there is and stop")
    arguments = parser.parse_args()
    marks = arguments.marks
    runs: dict[str, Callable[[GraphicalModel, dict[int, int]], Scores]] = {
        name: (lambda m, e, name=name: run_ours(m, e, name, marks)) for name in OURS
    }
    runs["toulbar2"] = lambda m, e: run_toulbar2(m, e, marks)
    runs["c++ gls+"] = lambda m, e: run_program(arguments.gls_program, m, e, marks, tree=False)
    runs["c++ tree"] = lambda m, e: run_program(arguments.tree_program, m, e, marks, tree=True)
    methods = list(arguments.methods)
    methods += ["c++ gls+"] * bool(arguments.gls_program) + ["c++ tree"] * bool(arguments.tree_program)
    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    rows = [json.loads(line) for line in lines]
    done = {(row["network"], row["query"], row["method"]) for row in rows}
    for network in [] if arguments.table else arguments.models:
        model, evidences = load(arguments.data, network, arguments.queries, arguments.seed)
        for query, evidence in enumerate(evidences):
            for method in methods:
                if (network, query, method) in done:
                    continue
                row = {"network": network, "query": query, "method": method, "marks": marks}
                row["scores"] = runs[method](model, evidence)
                rows.append(row)
                with arguments.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
