"""By how much whole calls overrun their time limit, while another core is busy: results/limits.csv.

Every row is one kind of call: p50, p99, p99.9 and the largest of its wall-clock time beyond the limit, in
milliseconds. Kernels are loaded before; ``beacon uai`` is a process of its own, from its start to its end.

    BEACON_BENCHMARKS=... python benchmarks/limits.py --out results/limits.csv
"""

from __future__ import annotations

import csv
import math
import multiprocessing
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np
from common import load, options

import beacon
from beacon.guide.trivial import FrequencyGuide

MODELS = ("BN_30", "grid80x80.f10", "rus_100_200_1_1")
LIMITS = (0.01, 0.1, 1.0)
QUERIES_AT_ONCE = 4
WARM_UP = 3
COLUMNS = ("call", "model", "limit", "calls", "p50", "p99", "p99.9", "max")


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


def rows_of(name: str, data: Path, num_calls: dict[float, int], seed: int) -> Iterator[dict[str, object]]:
    model, queries = load(data, name, 50, seed)
    guide = FrequencyGuide(model, np.full(int(model.domain_sizes.sum()), 0.5))
    for limit, calls in num_calls.items():
        stop = beacon.MaxRuntime(limit)

        def some(k: int) -> list[dict[int, int]]:
            return [queries[(k + j) % len(queries)] for j in range(QUERIES_AT_ONCE)]

        def one(k: int, stop: beacon.Stop = stop) -> object:
            return beacon.solve(model, queries[k % len(queries)], stop=stop, seed=k)

        def guided(k: int, stop: beacon.Stop = stop) -> object:
            return beacon.solve(model, queries[k % len(queries)], guide=guide, stop=stop, seed=k)

        yield row("solve", name, limit, overruns(one, limit, calls))
        yield row("solve with a guide", name, limit, overruns(guided, limit, calls))
        for threads in (1, 2):
            rounds = math.ceil(QUERIES_AT_ONCE / threads)

            def many(k: int, stop: beacon.Stop = stop, threads: int = threads) -> object:
                return beacon.solve_many(model, some(k), stop=stop, seed=k, threads=threads)

            label = f"solve_many, {QUERIES_AT_ONCE} queries, {threads} thread{'s' * (threads > 1)}"
            few = max(2, calls // (2 * rounds))
            yield row(label, name, limit, overruns(many, rounds * limit, few))


def uai_row(name: str, data: Path, limit: float, calls: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "beacon",
            "uai",
            str(data / "paper" / f"{name}.uai.xz"),
            "-",
            "-",
            "MPE",
        ]
        command += ["--time", str(limit), "-q", "-o", str(Path(folder, "a.MPE"))]

        def call(k: int) -> object:
            return subprocess.run([*command, "--seed", str(k)], check=True, capture_output=True)

        return row("beacon uai", name, limit, overruns(call, limit, calls))


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.add_argument("--calls", type=int, nargs=3, default=(200, 60, 10), help="for 0.01, 0.1 and 1 s")
    parser.add_argument("--uai", type=float, nargs=2, default=(5.0, 5), help="limit and calls of beacon uai")
    parser.add_argument("--out", type=Path, default=Path("results/limits.csv"))
    chosen = parser.parse_args()
    rows = []
    with busy_core():
        for name in chosen.models:
            rows += list(
                rows_of(name, chosen.data, dict(zip(LIMITS, chosen.calls, strict=True)), chosen.seed)
            )
            rows.append(uai_row(name, chosen.data, chosen.uai[0], int(chosen.uai[1])))
            write(rows, chosen.out)


def write(rows: list[dict[str, object]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
