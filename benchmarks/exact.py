"""Proved optima: time from evidence to answer, beside a plain C++ program and toulbar2, in one run.

The program is called as ``PROGRAM MODEL.uai EVIDENCE MAX_ENTRIES REPEATS`` and prints a JSON line with the
milliseconds of propagating, ordering and eliminating. toulbar2 gets the reduced query; its time is that of
its Solve call alone. Every side uses one thread. ``--output`` writes the table that docs/exactness.md quotes.
"""

from __future__ import annotations

import csv
import json
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np
from common import PROVABLE_MODELS, load, options
from numpy.typing import NDArray

from beacon.exact.plan import plan
from beacon.exact.solve import SolvedParts, solve_parts
from beacon.formats import write_evidence, write_model
from beacon.model.flat import FlatModel, as_fixed, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.query import ReducedQuery, reduce_query
from beacon.reduce.tables import ALIVE, VARIABLE

MAX_ENTRIES = 1 << 25
REPEATS = 3  # of each query and side; the mean counts
DECIMALS = 6
COLUMNS = ("network", "queries", "proved", "ms", "yardstick_ms", "ratio", "plan_and_eliminate_ms",
           "toulbar2_ms", "per_second_on_two_threads")  # fmt: skip

CHILD = """
import json, os, sys, time, pytoulbar2
problem = json.load(open(sys.argv[1]))
network = pytoulbar2.CFN(problem["top"], resolution=problem["decimals"])
for i, size in enumerate(problem["sizes"]):
    network.AddVariable(f"x{i}", range(size))
for scope, costs in problem["functions"]:
    network.AddFunction(scope, costs)
began = time.perf_counter()
network.Solve(timeLimit=20)
print()
print(json.dumps(time.perf_counter() - began), flush=True)
os._exit(0)
"""


def answer(model: FlatModel, fixed: NDArray[np.int32]) -> tuple[SolvedParts, float, float]:
    """The solved query; milliseconds in all, and of planning and eliminating."""
    began = perf_counter()
    reduced = reduce_query(model, fixed)
    reduced_at = perf_counter()
    solved = solve_parts(reduced, plan(reduced, 0, MAX_ENTRIES), max_entries=MAX_ENTRIES)
    solved_at = perf_counter()
    solved.complete()
    return solved, 1e3 * (perf_counter() - began), 1e3 * (solved_at - reduced_at)


def yardstick(program: Path, model: Path, evidence: Path) -> float:
    """Its milliseconds in all."""
    command = [str(program), str(model), str(evidence), str(MAX_ENTRIES), str(REPEATS)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return sum(float(found[f"{step}_ms"]) for step in ("propagate", "order", "eliminate"))


def toulbar2(reduced: ReducedQuery, folder: Path) -> float:
    """Milliseconds of its Solve call on what is left of a query; 0 where nothing is."""
    if not reduced.num_parts:
        return 0.0
    (folder / "problem.json").write_text(json.dumps(problem(reduced)), encoding="ascii")
    command = [sys.executable, "-c", CHILD, "problem.json"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return 1e3 * float(json.loads(run.stdout.splitlines()[-1]))


def problem(reduced: ReducedQuery) -> dict[str, object]:
    """The living factors as costs relative to each table's best entry."""
    tables, left = reduced.tables, reduced.members.tolist()
    position = {variable: k for k, variable in enumerate(left)}
    scoped = [([v], tables.unary[tables.unary_starts[v] : tables.unary_starts[v + 1]]) for v in left]
    for f in np.flatnonzero(tables.consumers[: tables.counts[0]] == ALIVE).tolist():
        scope = tables.places[tables.scope_starts[f] : tables.scope_starts[f + 1], VARIABLE].tolist()
        scoped.append((scope, tables.table[tables.table_starts[f] : tables.table_starts[f + 1]]))
    costs = [table.max() - table for _, table in scoped]
    top = 1.0 + sum(float(table.max(where=np.isfinite(table), initial=0.0)) for table in costs)
    functions = [
        ([position[v] for v in scope], np.minimum(table, top + 1.0).tolist())
        for (scope, _), table in zip(scoped, costs, strict=True)
    ]
    sizes = [int(tables.sizes[v]) for v in left]
    return {"sizes": sizes, "top": top, "decimals": DECIMALS, "functions": functions}


def answers_per_second(model: FlatModel, queries: list[NDArray[np.int32]]) -> float:
    """Proved answers a second with two threads."""
    many = queries * max(1, 400 // len(queries))
    with ThreadPoolExecutor(2) as pool:
        began = perf_counter()
        solved = list(pool.map(lambda fixed: answer(model, fixed)[0].is_complete, many))
        return sum(solved) / (perf_counter() - began)


def row(
    name: str, model: GraphicalModel, queries: list[dict[int, int]], program: Path, num_peer: int
) -> dict[str, object]:
    """One network's line of the table."""
    flat = compile_model(model)
    fixed = [as_fixed(evidence, model.num_variables) for evidence in queries]
    answer(flat, fixed[0])  # compiles, and learns what is the same for all queries
    ours, steps, theirs, peer, proved = [], [], [], [], 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_model(model, folder / "model.uai")
        for k, evidence in enumerate(queries):
            write_evidence(folder / "query.evid", evidence)
            theirs.append(yardstick(program, folder / "model.uai", folder / "query.evid"))
            tries = [answer(flat, fixed[k]) for _ in range(REPEATS)]
            ours.append(statistics.fmean(total for _, total, _ in tries))
            steps.append(statistics.fmean(part for _, _, part in tries))
            proved += tries[0][0].is_complete
            if k < num_peer:
                peer.append(toulbar2(tries[0][0].reduced, folder))
    medians = [statistics.median(times) for times in (ours, theirs, steps, peer)]
    shown = [f"{number:.3f}" for number in medians]
    speed = f"{answers_per_second(flat, fixed):.0f}"
    ratio = f"{medians[0] / medians[1]:.2f}"
    values = (name, len(queries), proved, shown[0], shown[1], ratio, shown[2], shown[3], speed)
    return dict(zip(COLUMNS, values, strict=True))


def main() -> None:
    parser = options(__doc__, PROVABLE_MODELS)
    parser.set_defaults(queries=100)
    parser.add_argument("--program", type=Path, required=True, help="the compiled yardstick")
    parser.add_argument("--peer-queries", type=int, default=10, help="queries that toulbar2 gets")
    parser.add_argument("--output", type=Path, help="CSV file for the table")
    arguments = parser.parse_args()
    rows = []
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for name in arguments.models:
        model, queries = load(arguments.data, name, arguments.queries, arguments.seed)
        rows.append(row(name, model, queries, arguments.program.resolve(), arguments.peer_queries))
        print(f"| {' | '.join(str(value) for value in rows[-1].values())} |", flush=True)
        if arguments.output:
            with arguments.output.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


if __name__ == "__main__":
    main()
