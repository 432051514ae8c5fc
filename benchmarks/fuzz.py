"""Damaged and hostile inputs for everything that Beacon reads: each is read, or refused in one line.

Input number k of a seed is always the same, whatever ran before: a run goes on where its report ends, and
``--first K --count 1`` shows a single one again.

    python benchmarks/fuzz.py --count 100000 --out results/fuzz.json
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from fuzz_inputs import Inputs

import beacon

MOST_SECONDS, MOST_BYTES = 5.0, 1 << 30


class Hang(BaseException):
    """It took too long."""


@contextmanager
def _timed() -> Iterator[None]:
    def end(number: int, frame: Any) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _memory() -> int:
    """The most that this process has used, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _forget_memory() -> None:
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def new_report(seed: int) -> dict[str, Any]:
    """A report of nothing."""
    figures = {"slowest_seconds": 0.0, "most_memory_bytes": 0, "seconds": 0.0}
    return {"seed": seed, "inputs": 0, "read": 0, "refused": 0, **figures, "readers": {}, "faults": []}


def try_input(inputs: Inputs, number: int, report: dict[str, Any], base: int) -> None:
    """Read one input, and enter what came of it."""
    name, read = inputs.input(report["seed"], number)
    fault, outcome, began = "", "read", perf_counter()
    try:
        with _timed():
            read()
    except beacon.BeaconError as error:
        outcome = "refused"
        if len(str(error).splitlines()) != 1:
            fault = f"not one line: {error!r}"
    except Hang:
        fault = "hang"
    except BaseException as error:
        fault = f"{type(error).__name__}: {error}"[:300] + _last_place(error)
    seconds, taken = perf_counter() - began, _memory() - base
    if taken > MOST_BYTES:
        fault = fault or f"{taken / 2**30:.2f} GiB"
        _forget_memory()
    report["inputs"] += 1
    report[outcome] += not fault
    report["readers"][name] = report["readers"].get(name, 0) + 1
    report["slowest_seconds"] = max(report["slowest_seconds"], round(seconds, 3))
    report["most_memory_bytes"] = max(report["most_memory_bytes"], taken)
    report["seconds"] = round(report["seconds"] + seconds, 6)
    if fault:
        report["faults"].append({"input": number, "reader": name, "fault": fault})


def _last_place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""


def fuzz(inputs: Inputs, report: dict[str, Any], count: int, until: float = float("inf")) -> dict[str, Any]:
    """So many inputs more, or as many as the time allows."""
    try_input(inputs, 0, new_report(report["seed"]), 0)  # loads what is loaded once
    base = _memory()
    for number in range(report["inputs"], report["inputs"] + count):
        try_input(inputs, number, report, base)
        if perf_counter() > until:
            break
    return report


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, help="show this input alone")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    until = perf_counter() + 60 * options.minutes
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        inputs = Inputs(Path(folder))
        if options.first is not None:
            name, read = inputs.input(options.seed, options.first)
            print(name, sorted(Path(folder).glob("input*")))
            print(read())
            return
        report = new_report(options.seed)
        if options.out is not None and options.out.exists():
            report = json.loads(options.out.read_text())
        while report["inputs"] < options.count and perf_counter() < until:
            fuzz(inputs, report, min(5000, options.count - report["inputs"]), until)
            if options.out is not None:
                options.out.write_text(json.dumps(report, indent=1) + "\n")
            print(report["inputs"], len(report["faults"]), file=sys.stderr, flush=True)
    print(json.dumps({**report, "faults": report["faults"][:20]}, indent=1))


if __name__ == "__main__":
    main()
