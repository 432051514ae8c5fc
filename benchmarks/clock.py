"""The methods without a guide by the clock, many searches at a time: rows for clock_tables.py.

    python benchmarks/clock.py --data DATA --run RUN --out ROWS.csv --daoopt PROGRAM --workers 12 --minutes 9

The queries are the first test queries of ``reproduce.py``, which has left them in RUN, as ``clock_tuned.py``
has the guides of the tuned default. Every method has the same processor time: Beacon's clock is exchanged,
toulbar2 counts its own, daoopt is ended by the system. Evidence is propagated. A search of Beacon and
toulbar2's neighbourhood search end when they have the score that an earlier row says is optimal. Not run are
the tuned default where it does not ask its guide with this time limit, which makes it `auto`, and daoopt
where it had no answer to the first three queries. Rows that ROWS.csv has are not made again, and a query
comes after those before it on all networks.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

from clock_tuned import asks_guide, tuned
from common import ALL_MODELS, load_model, options
from curves import Curve, follow_ours
from pages import rows_of
from reproduce_stages import Job
from toulbar2 import follow_toulbar2

import beacon
from beacon.model.flat import DEFAULT_LOG_ZERO
from beacon.peers.daoopt import Daoopt

OURS = ("auto", "gls+", "greedy")
TUNED = "tuned default"
METHODS = (*OURS, TUNED, "toulbar2", "toulbar2 vns", "daoopt")
FAILURES = 3  # queries without an answer after which daoopt is not asked more of a network
MARKS = (0.1, 1.0, 10.0)  # scores on the way
KNOWN = tuple(f"at {mark:g}" for mark in MARKS)
FIELDS = ("network", "query", "method", "limit", *KNOWN, "score", "seconds", "proof")
TWINS = ("rus_50_100_6_1", "rus_100_200_3_3")  # the bytes of other networks
NETWORKS = tuple(name for name in ALL_MODELS if name not in TWINS)
Row = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """One search."""

    network: str
    query: int
    method: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.network, str(self.query), self.method


@cache
def load(data: Path, run: Path, network: str) -> tuple[beacon.GraphicalModel, Sequence[dict[int, int]]]:
    """A model and its test queries, kept by every worker."""
    model = load_model(data, network)
    queries = beacon.QuerySet.load(run / Job(network, "own", 0).name / "queries.parquet", model).split("test")
    return model, [queries.evidence(k) for k in range(len(queries))]


@cache
def warm_up(method: str, data: Path, run: Path, network: str) -> None:
    """Load what a worker loads once: facts about the model, and kernels, which count as processor time."""
    model, evidences = load(data, run, network)
    if method in OURS:
        beacon.solve(model, evidences[-1], strategy=method, stop=beacon.MaxRuntime(0.5))
    if method == TUNED:
        beacon.solve(model, evidences[-1], guide=tuned(run, network).folder, stop=beacon.MaxRuntime(0.5))


def ask(task: Task, args: argparse.Namespace, optimum: float) -> Row:
    """One search, and its row."""
    model, evidences = load(args.data, args.run, task.network)
    warm_up(task.method, args.data, args.run, task.network)
    curve, proof = follow(task, model, evidences[task.query], args, optimum)
    best = curve.points[-1][1] if curve.points else -math.inf
    when = next((seconds for seconds, score in curve.points if score >= best), math.nan)
    known = ["" if score is None else f"{score:.10g}" for score in curve.at(MARKS)]
    ends = (f"{best:.10g}", "" if math.isnan(when) else f"{when:.4g}", proof)
    return dict(zip(FIELDS, (*task.key, args.seconds, *known, *ends), strict=True))


def follow(
    task: Task,
    model: beacon.GraphicalModel,
    evidence: Mapping[int, int],
    args: argparse.Namespace,
    optimum: float,
) -> tuple[Curve, str]:
    """Best scores over time, and what proved the last of them."""
    if task.method == "daoopt":
        return follow_daoopt(model, evidence, args)
    if task.method in (*OURS, TUNED):
        strategy = task.method if task.method in OURS else None
        guide = None if strategy else tuned(args.run, task.network).folder
        curve = follow_ours(model, evidence, strategy, args.seconds, optimum, args.seed, guide=guide)
        return curve, "beacon" if curve.proved else ""
    vns = task.method == "toulbar2 vns"
    found, proved = follow_toulbar2(model, evidence, args.seconds, vns=vns, optimum=optimum)
    return Curve(found, args.seconds, proved=proved), "toulbar2" if proved else ""


def follow_daoopt(
    model: beacon.GraphicalModel, evidence: Mapping[int, int], args: argparse.Namespace
) -> tuple[Curve, str]:
    """daoopt knows no limit, so a script limits its processor time; when it found its answer is not known."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "daoopt"
        program = args.daoopt.resolve()
        script.write_text(f'#!/bin/sh\nulimit -t {args.seconds}\nexec {program} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        answer = Daoopt(str(script)).solve(model, evidence, 20.0 * args.seconds)
    if answer.assignment is None:
        return Curve([], args.seconds), ""
    score = model.floored_log_score(answer.assignment, DEFAULT_LOG_ZERO)
    return Curve([(math.nan, score)], args.seconds), "daoopt" if answer.proved_optimal else ""


def tasks_left(args: argparse.Namespace, rows: Sequence[Row]) -> Iterator[Task]:
    """What is to be done, query by query; the mix comes first, since its proofs spare the others time."""
    done = {(row["network"], row["query"], row["method"]) for row in rows}
    for query in range(args.first, args.queries):
        for method in args.methods:
            for network in args.models:
                task = Task(network, query, method)
                if task.key not in done and is_asked(task, rows, args):
                    yield task


def is_asked(task: Task, rows: Sequence[Row], args: argparse.Namespace) -> bool:
    """Could the answer say more than other rows?"""
    if task.method == TUNED:
        return asks_guide(args.run, task.network, args.seconds)
    answers = [float(row["score"]) for row in rows if (row["network"], row["method"]) == task.key[::2]]
    return task.method != "daoopt" or len(answers) < FAILURES or max(answers) > -math.inf


def optimum_of(task: Task, rows: Sequence[Mapping[str, Any]]) -> float:
    """The score that a row has proved optimal, less what rounding took from it, else infinity."""
    own = (row for row in rows if (row["network"], str(row["query"])) == task.key[:2])
    score = next((float(row["score"]) for row in own if row["proof"]), math.inf)
    return score - 1e-9 * abs(score) if math.isfinite(score) else score


def work(args: argparse.Namespace, rows: list[Row]) -> Iterator[Row]:
    """The rows of all tasks as they come; no search begins that could not end in time."""
    end = monotonic() + 60 * args.minutes
    left = tasks_left(args, rows)
    running: set[Future[Row]] = set()
    with ProcessPoolExecutor(args.workers) as pool:
        while True:
            while len(running) < args.workers and monotonic() < end - 1.1 * args.seconds:
                task = next(left, None)
                if task is None:
                    break
                running.add(pool.submit(ask, task, args, optimum_of(task, rows)))
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                rows.append(future.result())
                yield rows[-1]


def main() -> None:
    parser = options(__doc__, NETWORKS)
    parser.set_defaults(queries=20, seed=0)
    parser.add_argument("--run", type=Path, required=True, help="folder of reproduce.py, with the queries")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seconds", type=int, default=60, help="of processor time, for each search")
    parser.add_argument("--first", type=int, default=0, help="pass over the queries before this one")
    parser.add_argument("--daoopt", type=Path, help="the program; without it daoopt is left out")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--out", type=Path, required=True, help="CSV, appended to")
    args = parser.parse_args()
    args.methods = [name for name in args.methods if name != "daoopt" or args.daoopt]
    rows: list[Row] = list(rows_of(args.out)) if args.out.exists() else []
    with args.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if not rows:
            writer.writeheader()
        for row in work(args, rows):
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
