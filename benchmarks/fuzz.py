"""Damaged and hostile inputs for everything that Beacon reads: each is read, or refused in one line.

Input number k of a seed is always the same, whatever ran before: a run goes on where its report ends, and
``--first K --count 1`` shows a single one again.

    python benchmarks/fuzz.py --count 100000 --workers 2 --out results/fuzz.json
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter, time
from typing import Any

from fuzz_inputs import Inputs

import beacon

MOST_SECONDS, MOST_BYTES = 5.0, 1 << 30
CHUNK = 1000  # inputs after which a process reports
SHOWN = 20_000  # inputs between two lines of progress
SILENT_SECONDS = 300  # without any report: something hangs where no signal is heard
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


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


def _resident(field: str) -> int:
    """Memory of this process in bytes: VmRSS, now; VmHWM, the most since it was last forgotten."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith(field):
                return int(line.split()[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _forget_most() -> None:
    """From now on VmHWM counts anew; where that is not possible, inputs seem to take more than they do."""
    with suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def new_report(seed: int) -> dict[str, Any]:
    """A report of nothing."""
    figures = {"slowest_seconds": 0.0, "most_memory_bytes": 0, "seconds": 0.0}
    return {"seed": seed, "inputs": 0, "read": 0, "refused": 0, **figures, "readers": {}, "faults": []}


def merged(report: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The report of the inputs of both; the other's come after."""
    sums = {key: report[key] + other[key] for key in ("inputs", "read", "refused", "faults")}
    most = {key: max(report[key], other[key]) for key in ("slowest_seconds", "most_memory_bytes")}
    readers = dict(sorted((Counter(report["readers"]) + Counter(other["readers"])).items()))
    seconds = round(report["seconds"] + other["seconds"], 6)
    return {**report, **sums, **most, "seconds": seconds, "readers": readers}


def try_input(inputs: Inputs, number: int, report: dict[str, Any]) -> None:
    """Read one input, and enter what came of it."""
    name, read = inputs.input(report["seed"], number)
    _forget_most()
    before = _resident("VmRSS")
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
    seconds, taken = perf_counter() - began, _resident("VmHWM") - before
    if taken > MOST_BYTES:
        fault = fault or f"{taken / 2**30:.2f} GiB"
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


def fuzz(
    inputs: Inputs, seed: int, numbers: Iterable[int], mark: Callable[[int], object] | None = None
) -> dict[str, Any]:
    """The report of some inputs; ``mark`` is told of each before it is read."""
    try_input(inputs, 0, new_report(seed))  # loads what is loaded once
    report = new_report(seed)
    for number in numbers:
        if mark is not None:
            mark(number)
        try_input(inputs, number, report)
    return report


class _Worker:
    """What a process keeps: its inputs, and the number of the one that it reads, in a file."""

    inputs: Inputs
    mark_file: Path

    @classmethod
    def begin(cls, folder: str) -> None:
        """Make this process ready."""
        os.environ.update(ONE_THREAD)
        cls.mark_file = Path(folder, f"{os.getpid()}.number")
        cls.inputs = Inputs(Path(tempfile.mkdtemp(dir=folder)))

    @classmethod
    def chunk(cls, seed: int, numbers: range, until: float) -> dict[str, Any] | None:
        """The report of some inputs; None if there is no time left for them."""
        if time() > until:
            return None
        return fuzz(cls.inputs, seed, numbers, lambda number: cls.mark_file.write_text(str(number)))


def in_processes(report: dict[str, Any], count: int, workers: int, until: float) -> Iterator[dict[str, Any]]:
    """The report again and again as it grows: input after input, though they are read at the same time.

    A process that dies, or is silent for long, ends it with a fault.
    """
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(dir=place) as folder:
        pool = ProcessPoolExecutor(workers, context, _Worker.begin, (folder,))
        firsts = range(report["inputs"], count, CHUNK)
        chunks = [range(first, min(first + CHUNK, count)) for first in firsts]
        done = [pool.submit(_Worker.chunk, report["seed"], numbers, until) for numbers in chunks]
        try:
            for future in done:
                found = future.result(timeout=SILENT_SECONDS)
                if found is None:
                    break
                report = merged(report, found)
                yield report
        except (BrokenProcessPool, TimeoutError) as error:
            numbers = sorted(int(path.read_text()) for path in Path(folder).glob("*.number"))
            fault = {"input": numbers, "reader": "one of these", "fault": type(error).__name__}
            yield {**report, "faults": [*report["faults"], fault]}
        finally:
            for process in multiprocessing.active_children():
                process.kill()
            pool.shutdown(cancel_futures=True)


def show(seed: int, number: int) -> None:
    """Read a single input, and let its error through."""
    with tempfile.TemporaryDirectory() as folder:
        name, read = Inputs(Path(folder)).input(seed, number)
        print(name, sorted(Path(folder).glob("input*")))
        print(read())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1_000_000, help="of all inputs, earlier runs included")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no new chunk after this")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, help="show this input alone")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    until = time() + 60 * options.minutes
    if options.first is not None:
        show(options.seed, options.first)
        return
    report = new_report(options.seed)
    if options.out is not None and options.out.exists():
        report = json.loads(options.out.read_text())
    else:
        with tempfile.TemporaryDirectory() as folder:
            Inputs(Path(folder))  # compiles once what all processes load
    for grown in in_processes(report, options.count, options.workers, until):
        report = grown
        if options.out is not None:
            options.out.write_text(json.dumps(report, indent=1) + "\n")
        if report["inputs"] % SHOWN == 0:
            print(f"{report['inputs']:,} inputs, {len(report['faults'])} faults", file=sys.stderr, flush=True)
    print(json.dumps({**report, "faults": report["faults"][:20]}, indent=1))


if __name__ == "__main__":
    main()
