"""Proved optima: time from evidence to answer, beside a plain C++ program and toulbar2, in one run.

The program is called as ``PROGRAM MODEL.uai EVIDENCE MAX_ENTRIES REPEATS`` and prints a JSON line with the
milliseconds of propagating, ordering and eliminating. toulbar2 gets the reduced query; its time is that of
its Solve call alone. Every side uses one thread. What is proved, how much of it within 100 ms and after what
time (``solve_ms``) is found with ``beacon.solve``, one second a query; answers a second with
``beacon.solve_many``, two threads and a thousand queries, after a first look at the model. ``--output``
writes the table of research/exactness.md.

With ``--grids`` instead: what the default strategy proves in ``--seconds`` where elimination alone cannot,
and the gaps that it leaves.
"""

from __future__ import annotations

import csv
import json
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from common import BIF_MODELS, GRIDS, PROVABLE_MODELS, load, options
from numpy.typing import NDArray

import beacon
from beacon.exact.at_once import Caps, at_once
from beacon.exact.plan import plan
from beacon.exact.solve import solve_parts
from beacon.formats import write_evidence, write_model
from beacon.model.flat import FlatModel, as_fixed, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.peers.proof import left_of
from beacon.peers.toulbar2 import problem
from beacon.reduce.query import ReducedQuery, reduce_query

MAX_ENTRIES = 1 << 25
CAPS = Caps(entries=float(MAX_ENTRIES), work=1e8, order_work=5e7)
REPEATS = 3  # of each query and side; the mean counts
NUM_MANY = 1000  # queries that answers a second are measured with
COLUMNS = ("network", "queries", "proved", "within_100_ms", "solve_ms", "ms", "yardstick_ms", "ratio",
           "plan_and_eliminate_ms", "toulbar2_ms", "per_second_on_two_threads")  # fmt: skip

GRID_COLUMNS = ("network", "queries", "seconds", "proved", "median_seconds_to_proof", "mean_gap_percent",
                "largest_gap_percent")  # fmt: skip

CHILD = """
import json, os, sys, time, pytoulbar2
problem = json.load(open(sys.argv[1]))
network = pytoulbar2.CFN(problem["upper_bound"], resolution=problem["decimals"])
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


def answer(model: FlatModel, fixed: NDArray[np.int32]) -> float:
    """Milliseconds from evidence to proved answer; those of the attempt where there is none."""
    began = perf_counter()
    if at_once(model).answer(model, fixed, 0, CAPS) is None:
        steps(model, fixed)
    return 1e3 * (perf_counter() - began)


def steps(model: FlatModel, fixed: NDArray[np.int32]) -> tuple[ReducedQuery, float]:
    """The reduced query, and milliseconds of planning and eliminating it, one call after another."""
    reduced = reduce_query(model, fixed)
    began = perf_counter()
    solve_parts(reduced, plan(reduced, 0, MAX_ENTRIES), max_entries=MAX_ENTRIES)
    return reduced, 1e3 * (perf_counter() - began)


def yardstick(program: Path, model: Path, evidence: Path) -> float:
    """Its milliseconds in all."""
    command = [str(program), str(model), str(evidence), str(MAX_ENTRIES), str(REPEATS)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return sum(float(found[f"{step}_ms"]) for step in ("propagate", "order", "eliminate"))


def toulbar2(reduced: ReducedQuery, folder: Path) -> float:
    """Milliseconds of its Solve call on what is left of a query; 0 where nothing is."""
    if not reduced.num_parts:
        return 0.0
    nothing_solved = solve_parts(reduced, plan(reduced), np.zeros(reduced.num_parts, dtype=np.bool_))
    scoped, left = left_of(nothing_solved)
    asked = problem(reduced.tables.sizes[left].tolist(), scoped)
    (folder / "problem.json").write_text(json.dumps(asked), encoding="ascii")
    command = [sys.executable, "-c", CHILD, "problem.json"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return 1e3 * float(json.loads(run.stdout.splitlines()[-1]))


def answers_per_second(model: GraphicalModel, queries: list[dict[int, int]]) -> float:
    """Proved answers a second with two threads."""
    began = perf_counter()
    results = beacon.solve_many(model, queries, threads=2)
    return sum(result.is_optimal for result in results) / (perf_counter() - began)


def row(
    name: str,
    model: GraphicalModel,
    queries: list[dict[int, int]],
    many: list[dict[int, int]],
    program: Path,
    num_peer: int,
) -> dict[str, object]:
    """One network's line of the table."""
    flat = compile_model(model)
    fixed = [as_fixed(evidence, model.num_variables) for evidence in queries]
    results = [beacon.solve(model, evidence) for evidence in queries]  # compiles and learns, too
    answers_per_second(model, many[:50])
    ours, parts, theirs, peer = [], [], [], []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_model(model, folder / "model.uai")
        for k, evidence in enumerate(queries):
            write_evidence(folder / "query.evid", evidence)
            theirs.append(yardstick(program, folder / "model.uai", folder / "query.evid"))
            ours.append(statistics.fmean(answer(flat, fixed[k]) for _ in range(REPEATS)))
            tries = [steps(flat, fixed[k]) for _ in range(REPEATS)]
            parts.append(statistics.fmean(ms for _, ms in tries))
            if k < num_peer:
                peer.append(toulbar2(tries[0][0], folder))
    results = [beacon.solve(model, evidence) for evidence in queries]
    proved = [result for result in results if result.is_optimal]
    soon = sum(result.total_seconds <= 0.1 for result in proved)
    call = f"{1e3 * statistics.median(result.total_seconds for result in proved):.3f}"
    medians = [statistics.median(times) for times in (ours, theirs, parts, peer)]
    shown = [f"{number:.3f}" for number in medians]
    speed, ratio = f"{answers_per_second(model, many):.0f}", f"{medians[0] / medians[1]:.2f}"
    ours_and_theirs = (shown[0], shown[1], ratio, shown[2], shown[3], speed)
    values = (name, len(queries), len(proved), soon, call, *ours_and_theirs)
    return dict(zip(COLUMNS, values, strict=True))


def grid_row(
    name: str, model: GraphicalModel, queries: list[dict[int, int]], seconds: float
) -> dict[str, object]:
    """What is proved about one network's queries within a time limit each."""
    beacon.solve(model, queries[0], stop=beacon.MaxRuntime(0.1))  # compiles
    results = [beacon.solve(model, evidence, stop=beacon.MaxRuntime(seconds)) for evidence in queries]
    gaps = [100 * (math.inf if r.gap is None else r.gap) / abs(r.log_score) for r in results]
    times = [result.total_seconds for result in results if result.is_optimal]
    median = f"{statistics.median(times):.2f}" if times else ""
    shown = (f"{statistics.fmean(gaps):.4f}", f"{max(gaps):.4f}")
    values = (name, len(queries), f"{seconds:g}", len(times), median, *shown)
    return dict(zip(GRID_COLUMNS, values, strict=True))


def main() -> None:
    parser = options(__doc__, ())
    parser.set_defaults(queries=None)
    parser.add_argument("--program", type=Path, help="the compiled yardstick")
    parser.add_argument("--peer-queries", type=int, default=10, help="queries that toulbar2 gets")
    parser.add_argument("--grids", action="store_true", help="gaps and proofs beside a search")
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of each query with --grids")
    parser.add_argument("--output", type=Path, help="CSV file for the table")
    arguments = parser.parse_args()
    if arguments.program is None and not arguments.grids:
        parser.error("--program is needed, unless --grids is given")
    count = arguments.queries or (20 if arguments.grids else 100)
    rows: list[dict[str, object]] = []
    columns = GRID_COLUMNS if arguments.grids else COLUMNS
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for name in arguments.models or (GRIDS if arguments.grids else (*PROVABLE_MODELS, *BIF_MODELS)):
        model, many = load(
            arguments.data, name, count if arguments.grids else max(NUM_MANY, count), arguments.seed
        )
        if arguments.grids:
            rows.append(grid_row(name, model, many, arguments.seconds))
        else:
            program = arguments.program.resolve()
            rows.append(row(name, model, many[:count], many, program, arguments.peer_queries))
        print(f"| {' | '.join(str(value) for value in rows[-1].values())} |", flush=True)
        if arguments.output:
            with arguments.output.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, columns, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


if __name__ == "__main__":
    main()
