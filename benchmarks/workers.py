"""What workers bring and cost: answers a second, bytes, start, messages a second, with one and two workers.

Writes results/workers.csv and the tables of research/workers.md; each row comes from a process of its own.
What 100 workers would need is computed from these figures.

    python benchmarks/workers.py
    python benchmarks/workers.py --page
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from pages import ROOT, markdown, rows_of, updated

import beacon
from beacon.model.families import ising_grid, random_bayes_net
from beacon.runner import workers as spreading
from beacon.runner.crews import DaskCrew, LokyCrew, RayCrew, on_backend

PAGE, RESULTS = ROOT / "research" / "workers.md", ROOT / "results" / "workers.csv"
BACKENDS, WORKERS = ("threads", "loky", "dask", "ray"), (1, 2)
SEARCHES, SEARCH_STEPS, PROOFS, MESSAGES, ROUNDS = 30, 100_000, 2_000, 1_000, 2
MANY = 100
LINE_BYTES = 125e6  # a second: a network of one gigabit
MEASURED = {
    "backend": "backend",
    "workers": "workers",
    "first answer, s": "start_s",
    "searches/s": "searches_per_s",
    "proofs/s": "proofs_per_s",
    "messages/s": "messages_per_s",
    "bytes to a worker, per search": "bytes_there",
    "bytes back": "bytes_back",
    "load": "load",
}
COLUMNS = (*MEASURED.values(), "model_bytes")


class Nothing:
    """Work that is none: what is left is the handing out."""

    kept: tuple[object, ...] = ()

    def __call__(self, items: Sequence[int]) -> list[int]:
        return list(items)


def child(backend: str, workers: str) -> dict[str, Any]:
    """All figures of one backend with some workers."""
    grid, net = ising_grid(30, 30, seed=0), random_bayes_net(30, max_domain=3, seed=0)
    searched = [{k: 0} for k in range(SEARCHES)]
    proved = [{k % 30: 0, (k // 30) % 30: 0} for k in range(PROOFS)]
    steps, threads = beacon.MaxSteps(SEARCH_STEPS), int(workers) if backend == "threads" else None

    def search(queries: list[dict[int, int]]) -> None:
        beacon.solve_many(grid, queries, strategy="gls+", stop=steps, threads=threads)

    began = perf_counter()
    with on_backend(backend, int(workers)):
        search(searched[: 2 * int(workers)])
        row: dict[str, Any] = {"backend": backend, "workers": workers, "start_s": perf_counter() - began}
        row["searches_per_s"] = SEARCHES / seconds(lambda: search(searched))
        beacon.solve_many(net, proved[:100], threads=threads)
        row["proofs_per_s"] = PROOFS / seconds(lambda: beacon.solve_many(net, proved, threads=threads))
        row["load"] = os.getloadavg()[0]
        row |= messages() | sizes(lambda: search(searched)) if backend != "threads" else {}
    return row


def seconds(work: Callable[[], Any]) -> float:
    """What some work takes, the best of some rounds: others may use the machine, too."""
    taken = []
    for _ in range(ROUNDS):
        began = perf_counter()
        work()
        taken.append(perf_counter() - began)
    return min(taken)


def messages() -> dict[str, float]:
    """Messages a second if there is nothing to do, with as many on their way as 100 workers would have."""
    longest, spreading.MAX_CHUNK = spreading.MAX_CHUNK, 1
    known, DaskCrew.num_workers = DaskCrew.num_workers, MANY  # type: ignore[assignment, method-assign]
    count = len(list(spreading.spread(Nothing(), range(100))))
    taken = seconds(lambda: list(spreading.spread(Nothing(), range(MESSAGES))))
    spreading.MAX_CHUNK, DaskCrew.num_workers = longest, known  # type: ignore[method-assign]
    assert count == 100
    return {"messages_per_s": MESSAGES / taken}


def sizes(search: Callable[[], None]) -> dict[str, float]:
    """Bytes that travel for a search, and for the model."""
    there, back, model = list[int](), list[int](), list[int]()
    packed = spreading._packed
    submits: dict[Any, Any] = {crew: crew.submit for crew in (LokyCrew, DaskCrew, RayCrew)}

    def counted_pack(work: Any) -> bytes:
        model.append(len(packed(work)))
        return packed(work)

    spreading._packed = counted_pack
    for crew, submit in submits.items():

        def counted(self: Any, items: Sequence[Any], submit: Any = submit) -> Any:
            there.append(len(pickle.dumps(list(items))))
            future = submit(self, items)
            future.add_done_callback(lambda done: back.append(len(done.result())))
            return future

        crew.submit = counted  # type: ignore[method-assign]
    search()
    spreading._packed = packed
    for crew, submit in submits.items():
        crew.submit = submit  # type: ignore[method-assign]
    return {
        "bytes_there": sum(there) / SEARCHES,
        "bytes_back": sum(back) / SEARCHES,
        "model_bytes": sum(model),
    }


def measure() -> None:
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        for backend in BACKENDS:
            for workers in WORKERS:
                call = [sys.executable, __file__, "--child", backend, str(workers)]
                run = subprocess.run(call, check=True, capture_output=True, text=True)
                found = json.loads(run.stdout.splitlines()[-1])
                table.writerow({name: _written(found.get(name, "")) for name in COLUMNS})
                file.flush()


def _written(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def measured() -> str:
    rows = ([row[name] or "–" for name in MEASURED.values()] for row in rows_of(RESULTS))
    return markdown(list(MEASURED), rows)


def expected() -> str:
    """What more workers need, if each is as quick as one here and the scheduler no quicker than here."""
    (dask,) = (row for row in rows_of(RESULTS) if (row["backend"], row["workers"]) == ("dask", "2"))
    (one,) = (row for row in rows_of(RESULTS) if (row["backend"], row["workers"]) == ("dask", "1"))
    rate, limit = float(one["searches_per_s"]), float(dask["messages_per_s"])
    bytes_each = float(dask["bytes_there"]) + float(dask["bytes_back"])
    lines = []
    for workers in (10, 100, 1000):
        needed = workers / spreading.CHUNK_SECONDS
        lines.append(
            [
                f"{workers:,}",
                f"{min(1.0, limit / needed) * workers * rate:,.0f}",
                f"{needed:,.0f}",
                f"{needed / limit:.0%}",
                f"{workers * rate * bytes_each / 1e6:.3g}",
                f"{workers * float(dask['model_bytes']) / LINE_BYTES:.2g}",
            ]
        )
    header = [
        "workers",
        "searches/s",
        "messages/s",
        "of the scheduler's limit",
        "MB/s",
        "sending the model, s",
    ]
    return markdown(header, lines)


def page() -> str:
    """The page with its tables made anew."""
    return updated(PAGE.read_text(encoding="utf-8"), {"measured": measured, "expected": expected})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="make the tables anew, no figures")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(child(*arguments.child)))
        return
    if not arguments.page:
        measure()
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
