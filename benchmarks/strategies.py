"""Best score of every strategy, the C++ yardsticks and toulbar2 over time, one search at a time on one core.

Results are appended to --out as JSON lines, one per network, query and method; a second run goes on where
the first one stopped, and --table prints what there is. Where toulbar2 has proved the optimum, the others
stop when they reach it: name it first among the methods.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from common import ALL_MODELS, load, options
from curves import Curve, follow_judge, follow_ours, follow_program, is_pairwise
from strategies_table import MARKS, ORDER, report, write_means

from beacon.model.graphical_model import GraphicalModel
from beacon.solver import GuidedStart
from beacon.strategies.auto import Auto
from beacon.strategies.gls import GlsPlus
from beacon.strategies.strategy import Strategy
from beacon.strategies.tree import Tree

OURS: dict[str, tuple[str | Strategy, GuidedStart | None]] = {
    "gls+": ("gls+", None),
    "gls+ constructed": ("gls+", "constructed"),
    "gls+ landscape": (GlsPlus(by_landscape=True), None),
    "tree": ("tree", None),
    "auto": ("auto", None),
    "auto, search alone": (Auto(exact=False), None),
    "auto, one weight": (Auto((GlsPlus(), Tree()), exact=False), None),
    "auto, random start": (Auto(exact=False), "random"),
}
"""A strategy and a start for each of Beacon's own methods."""
Row = dict[str, Any]


def run(method: str, model: GraphicalModel, evidence: dict[int, int], best: float, arguments: Any) -> Curve:
    """One search by a method, on a query whose optimum is known, or infinity."""
    if method == "toulbar2":
        return follow_judge(model, evidence, arguments.seconds)
    if method in OURS:
        strategy, start = OURS[method]
        return follow_ours(model, evidence, strategy, arguments.seconds, best, arguments.seed, start)
    program = arguments.tree_program if method == "c++ tree" else arguments.gls_program
    return follow_program(program, model, evidence, arguments.seconds, best)


def can_run(method: str, model: GraphicalModel, arguments: Any) -> bool:
    """Is the yardstick there, and can it take the model?"""
    if method == "c++ tree":
        return bool(arguments.tree_program) and is_pairwise(model)
    return method != "c++ gls+" or bool(arguments.gls_program)


def read_rows(path: Path) -> list[Row]:
    """What earlier runs have left."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def optimum(rows: list[Row], network: str, query: int) -> float:
    """What toulbar2 has proved, or infinity."""
    for row in rows:
        if _key(row) == (network, query, "toulbar2") and row["proved"]:
            return float(row["scores"][-1])
    return math.inf


def _key(row: Row) -> tuple[str, int, str]:
    return row["network"], row["query"], row["method"]


def core_share(began: os.times_result) -> float:
    """The share of a core that this process and its children have had since then."""
    now = os.times()
    return round((sum(now[:4]) - sum(began[:4])) / max(0.01, now.elapsed - began.elapsed), 2)


def measure(arguments: Any, rows: list[Row]) -> None:
    """Run what is not there yet, network by network, the methods of a query one after the other."""
    done = {_key(row) for row in rows if row["seconds"] >= arguments.seconds or row["scores"][-1] is not None}
    for network in arguments.models:
        model, evidences = load(arguments.data, network, arguments.queries, arguments.seed)
        methods = [name for name in arguments.methods if can_run(name, model, arguments)]
        for query, evidence in list(enumerate(evidences))[arguments.skip : arguments.first]:
            for method in methods:
                if (network, query, method) not in done:
                    began = os.times()
                    curve = run(method, model, evidence, optimum(rows, network, query), arguments)
                    row = {"network": network, "query": query, "method": method, "seconds": arguments.seconds}
                    row |= {"marks": MARKS, "scores": curve.at(MARKS), "proved": curve.proved}
                    row["core"] = core_share(began)
                    rows.append(row)
                    with arguments.out.open("a") as file:
                        file.write(json.dumps(row) + "\n")


def main() -> None:
    parser = options(__doc__, ALL_MODELS)
    parser.add_argument("--out", type=Path, required=True, help="JSON lines, appended to")
    parser.add_argument("--first", type=int, default=20, help="only so many of the queries sampled")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first of these")
    parser.add_argument("--seconds", type=float, default=max(MARKS), help="length of a search")
    parser.add_argument("--gls-program", type=Path, help="the GLS+ yardstick, printing as it goes")
    parser.add_argument("--tree-program", type=Path, help="the tree yardstick, printing as it goes")
    parser.add_argument("--methods", nargs="+", default=list(ORDER), choices=ORDER)
    parser.add_argument("--table", action="store_true", help="print what there is and stop")
    parser.add_argument("--csv", type=Path, help="write the mean scores of all methods there, too")
    arguments = parser.parse_args()
    rows = read_rows(arguments.out)
    if not arguments.table:
        measure(arguments, rows)
    print(report(rows))
    if arguments.csv:
        write_means(rows, arguments.csv)


if __name__ == "__main__":
    main()
