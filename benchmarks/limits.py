"""By how much whole calls overrun their time limit, while another core is busy: results/limits.csv.

Every row is one kind of call: p50, p99, p99.9 and the largest of its wall-clock time beyond the limit, in
milliseconds. Kernels are loaded before; ``beacon uai`` is a process of its own, from its start to its end.
Each kind is measured on two cores, one of which another process keeps busy; workers have two cores each.
A run goes on where its table ends.

    BEACON_BENCHMARKS=... python benchmarks/limits.py --out results/limits.csv
"""

from __future__ import annotations

import csv
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, time
from typing import NamedTuple

import numpy as np
from common import load, options

import beacon
from beacon.guide.trivial import FrequencyGuide

MODELS = ("BN_30", "grid80x80.f10", "rus_100_200_1_1")
LIMITS = (0.01, 0.1, 1.0)
UAI_LIMITS = (1.0, 5.0)  # the process starts in half a second
QUERIES_AT_ONCE = 4
THREADS_OF_CALL = {"solve_many, 4 queries, 1 thread": 1, "solve_many, 4 queries, 2 threads": 2}
CALLS = ("solve", "solve with a guide", *THREADS_OF_CALL)
WARM_UP = 3
COLUMNS = ("call", "model", "limit", "calls", "p50", "p99", "p99.9", "max")


class Task(NamedTuple):
    """A row of the table to be measured."""

    call: str
    model: str
    limit: float
    solves: int


def _spin() -> None:
    while True:
        pass


@contextmanager
def busy_core() -> Iterator[None]:
    """Another process that keeps a core busy."""
    process = multiprocessing.get_context("spawn").Process(target=_spin, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def overruns(call: Callable[[int], object], limit: float, calls: int) -> list[float]:
    """Seconds beyond the limit, of each call; less than none: it ended early."""
    for k in range(WARM_UP):  # each query may be the first to need another kernel
        call(k)
    found = []
    for k in range(calls):
        began = perf_counter()
        call(k)
        found.append(perf_counter() - began - limit)
    return found


def row(call: str, model: str, limit: float, found: list[float]) -> dict[str, object]:
    milliseconds = 1000 * np.array(found)
    shares = {
        f"p{share}": f"{np.quantile(milliseconds, float(share) / 100):.1f}" for share in ("50", "99", "99.9")
    }
    figures = {"calls": len(found), **shares, "max": f"{milliseconds.max():.1f}"}
    return {"call": call, "model": model, "limit": limit, **figures}


def measured(task: Task, data: Path, seed: int, until: float) -> dict[str, object] | None:
    """One row of the table; None if there is no time left for it."""
    if time() > until:
        return None
    with busy_core():
        if task.call == "beacon uai":
            return _uai_row(task, data)
        return _row(task, data, seed)


def _row(task: Task, data: Path, seed: int) -> dict[str, object]:
    model, queries = load(data, task.model, 50, seed)
    stop, limit, num_calls = beacon.MaxRuntime(task.limit), task.limit, task.solves
    guide = FrequencyGuide(model, np.full(int(model.domain_sizes.sum()), 0.5))
    if task.call in THREADS_OF_CALL:
        threads = THREADS_OF_CALL[task.call]
        limit *= math.ceil(QUERIES_AT_ONCE / threads)
        num_calls = max(2, num_calls // QUERIES_AT_ONCE)

    def call(k: int) -> object:
        some = [queries[(k + j) % len(queries)] for j in range(QUERIES_AT_ONCE)]
        if task.call in THREADS_OF_CALL:
            return beacon.solve_many(model, some, stop=stop, seed=k, threads=threads)
        return beacon.solve(model, some[0], guide=guide if "guide" in task.call else None, stop=stop, seed=k)

    return row(task.call, task.model, task.limit, overruns(call, limit, num_calls))


def _uai_row(task: Task, data: Path) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "beacon", "uai", str(data / "paper" / f"{task.model}.uai.xz")]
        command += ["-", "-", "MPE", "--time", str(task.limit), "-q", "-o", str(Path(folder, "a.MPE"))]

        def call(k: int) -> object:
            return subprocess.run([*command, "--seed", str(k)], check=True, capture_output=True)

        return row(task.call, task.model, task.limit, overruns(call, task.limit, task.solves))


def _take_cores(free: multiprocessing.Queue[set[int]]) -> None:
    """Two cores for this process and those that it starts."""
    os.sched_setaffinity(0, free.get())


def rows_in_processes(
    tasks: list[Task], data: Path, seed: int, workers: int, until: float
) -> Iterator[dict[str, object]]:
    """The rows of all tasks for which there is time."""
    context, cores = multiprocessing.get_context("spawn"), sorted(os.sched_getaffinity(0))
    free: multiprocessing.Queue[set[int]] = context.Queue()
    for k in range(workers):
        free.put({cores[2 * k % len(cores)], cores[(2 * k + 1) % len(cores)]})
    with ProcessPoolExecutor(workers, context, _take_cores, (free,)) as pool:
        done = [pool.submit(measured, task, data, seed, until) for task in tasks]
        for future in done:
            if (found := future.result()) is not None:
                yield found


def tasks_of(models: list[str], solves: dict[float, int], uai_calls: dict[float, int]) -> list[Task]:
    """The rows of the table, one after the other."""
    return [
        task
        for model in models
        for task in (
            *(Task(call, model, limit, count) for limit, count in solves.items() for call in CALLS),
            *(Task("beacon uai", model, limit, count) for limit, count in uai_calls.items()),
        )
    ]


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.add_argument("--solves", type=int, nargs=3, default=(1000, 1000, 60), help="for 0.01, 0.1 and 1 s")
    parser.add_argument("--uai", type=int, nargs=2, default=(30, 10), help="calls of beacon uai, 1 and 5 s")
    parser.add_argument("--workers", type=int, default=1, help="rows at a time, two cores for each")
    parser.add_argument("--minutes", type=float, default=math.inf, help="no new row after this")
    parser.add_argument("--out", type=Path, default=Path("results/limits.csv"))
    chosen = parser.parse_args()
    solves, uai_calls = (
        {limit: count for limit, count in zip(limits, counts, strict=True) if count}
        for limits, counts in ((LIMITS, chosen.solves), (UAI_LIMITS, chosen.uai))
    )
    tasks, rows = tasks_of(chosen.models, solves, uai_calls), list[dict[str, object]]()
    if chosen.out.exists():
        with chosen.out.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    known = {tuple(str(row[column]) for column in COLUMNS[:3]) for row in rows}
    left = [task for task in tasks if (task.call, task.model, str(task.limit)) not in known]
    for model in {task.model: None for task in left} if chosen.workers > 1 else ():
        for call in CALLS:
            _row(Task(call, model, 0.1, 1), chosen.data, chosen.seed)  # compiles what all processes load
    until = time() + 60 * chosen.minutes
    for found in rows_in_processes(left, chosen.data, chosen.seed, chosen.workers, until):
        rows.append(found)
        write(rows, chosen.out)
        print(*found.values(), sep=", ", file=sys.stderr, flush=True)


def write(rows: list[dict[str, object]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
