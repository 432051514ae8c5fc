"""What size costs: grids of up to a million variables, read, set up, described and searched.

Writes results/large.csv, the tables of research/large.md and its plot. Each figure comes from a process of
its own. Yardsticks of the same run: read_numbers.c, compiled here, reads the numbers of the file and nothing
more; --program (see yardstick.py) is a plain C++ GLS+.

    python benchmarks/large.py --program PROGRAM
    python benchmarks/large.py --image
    python benchmarks/large.py --page
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import orders
from pages import ROOT, markdown, replace_row, rows_of, updated
from yardstick import ours, theirs

import beacon
from beacon.formats import write_evidence, write_model
from beacon.model.factors import Factors
from beacon.model.families import ising_grid
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel

PAGE, RESULTS = ROOT / "research" / "large.md", ROOT / "results" / "large.csv"
IMAGE_RESULTS = ROOT / "results" / "image.csv"
PLOT = ROOT / "research" / "images" / "large.svg"
SIDES = (10, 32, 100, 316, 1000)
RUNS = 2  # of each figure; the better one counts
READING = {
    "file, MB": "file_mb",
    "read, s": "read_s",
    "C, s": "c_read_s",
    "ratio": "read_ratio",
    "tables, MB": "tables_mb",
    "reading takes, MB": "read_mb",
}
SEARCHING = {
    "set-up, s": "setup_s",
    "step, µs": "step_us",
    "C++, µs": "cpp_step_us",
    "ratio": "step_ratio",
    "`info`, s": "info_s",
    "`solve --time 3`, s": "solve_s",
    "its memory, MB": "solve_mb",
}
IMAGE = {
    "pixels": "pixels",
    "labels": "labels",
    "tables, MB": "tables_mb",
    "file, MB": "file_mb",
    "read, s": "read_s",
    "reading takes, MB": "read_mb",
    "`solve --time 3`, s": "solve_s",
    "its memory, MB": "solve_mb",
}
COLUMNS = ("side", "variables", *READING.values(), *SEARCHING.values())


def child_make(path: str, side: str) -> dict[str, float]:
    """Write a grid. Not in the measuring process: what a process took at most, its children inherit."""
    write_model(ising_grid(int(side), int(side), seed=0), path)
    return {}


def child_image(path: str, width: str, height: str, labels: str) -> dict[str, float]:
    """Write a model of an image: a table of its own for each pixel, and one for all neighbours."""
    places = np.arange(int(width) * int(height)).reshape(int(height), int(width))
    values = np.arange(int(labels))
    smooth = -0.5 * np.minimum(np.abs(np.subtract.outer(values, values)), 4)
    beside, below = (places[:, :-1], places[:, 1:]), (places[:-1], places[1:])
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in (beside, below)])
    tables = np.broadcast_to(smooth, (len(pairs), *smooth.shape))
    pixels = np.random.default_rng(0).normal(size=(places.size, len(values))).round(6)
    factors = Factors.of_blocks([len(values)] * places.size, (places.reshape(-1, 1), pixels), (pairs, tables))
    write_model(GraphicalModel.from_factors(factors), path)
    return {}


def child_read(path: str) -> dict[str, float]:
    """Seconds for reading and for setting up, and what reading adds to the memory of the process."""
    import pyarrow  # noqa: F401, PLC0415 - what the process takes without a model

    before, began = _peak_mb(), perf_counter()
    model = beacon.read_model(path)
    read, read_mb = perf_counter() - began, _peak_mb() - before
    began = perf_counter()
    compile_model(model)
    tables_mb = 8e-6 * model.num_entries
    return {"read_s": read, "read_mb": read_mb, "setup_s": perf_counter() - began, "tables_mb": tables_mb}


def child_step(path: str) -> dict[str, float]:
    """Microseconds for a step, the first descent included."""
    ours(ising_grid(4, 4), {}, 1000, 0)  # load the kernels outside the clock
    model = beacon.read_model(path)
    return {"step_us": ours(model, {}, _steps(model.num_variables), 0)}


def child_command(path: str, *words: str) -> dict[str, float]:
    """Seconds and memory of a command, from its start to its end."""
    began = perf_counter()
    subprocess.run([sys.executable, "-m", "beacon", *words, path], check=True, stdout=subprocess.DEVNULL)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    return {f"{words[0]}_s": perf_counter() - began, f"{words[0]}_mb": peak}


CHILDREN: dict[str, Callable[..., dict[str, float]]] = {
    "make": child_make,
    "image": child_image,
    "read": child_read,
    "step": child_step,
    "command": child_command,
}


def measure(side: int, program: Path, reader: Path) -> dict[str, Any]:
    """All figures of one grid."""
    with tempfile.TemporaryDirectory() as folder:
        path, none = Path(folder) / "grid.uai", Path(folder) / "none.evid"
        _json(_call("make", str(path), str(side)))
        write_evidence(none, {})
        found: dict[str, float] = {"file_mb": path.stat().st_size / 1e6}
        found |= _best("read", str(path)) | _best("step", str(path))
        found |= _best("command", str(path), "info") | _best("command", str(path), "solve", "--time", "3")
        c_runs = [_json([str(reader), str(path)])["seconds"] for _ in range(RUNS)]
        cpp_runs = [theirs(program, path, none, _steps(side * side), seed) for seed in range(RUNS)]
    found |= {"c_read_s": min(c_runs), "cpp_step_us": min(cpp_runs)}
    found["read_ratio"] = found["read_s"] / found["c_read_s"]
    found["step_ratio"] = found["step_us"] / found["cpp_step_us"]
    row = {name: f"{found[name]:.3g}" for name in COLUMNS[2:]}
    return {"side": str(side), "variables": str(side * side), **row}


def measure_image(width: int = 384, height: int = 288, labels: int = 16) -> dict[str, str]:
    """What a model costs whose factors share a table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "image.lg"
        _json(_call("image", str(path), str(width), str(height), str(labels)))
        found: dict[str, float] = {"file_mb": path.stat().st_size / 1e6}
        found |= _best("read", str(path)) | _best("command", str(path), "solve", "--time", "3")
    said = {"pixels": f"{width} × {height}", "labels": str(labels)}
    return said | {name: f"{found[name]:.3g}" for name in IMAGE.values() if name not in said}


def _steps(num_variables: int) -> int:
    return 200_000 + num_variables  # past the first descent


def _best(kind: str, path: str, *words: str) -> dict[str, float]:
    """The least of each figure over some runs, each in a process of its own."""
    runs = [_json(_call(kind, path, *words)) for _ in range(RUNS)]
    return {name: min(run[name] for run in runs) for name in runs[0]}


def _call(kind: str, path: str, *words: str) -> list[str]:
    return [sys.executable, __file__, "--child", kind, path, *words]


def _json(call: list[str]) -> dict[str, float]:
    run = subprocess.run(call, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def page() -> str:
    """The page with its tables made anew."""

    def table(columns: dict[str, str]) -> str:
        cells = (
            [f"{row['side']} × {row['side']}", *(row[name] for name in columns.values())]
            for row in rows_of(RESULTS)
        )
        return markdown(["grid", *columns], cells)

    made = {"reading": lambda: table(READING), "searching": lambda: table(SEARCHING), "orders": orders.table}
    made["image"] = lambda: markdown(list(IMAGE), (list(row.values()) for row in rows_of(IMAGE_RESULTS)))
    return updated(PAGE.read_text(encoding="utf-8"), made)


def draw() -> None:
    """Seconds, memory and step against size, both sides."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    found = rows_of(RESULTS)
    panels: dict[str, dict[str, str]] = {
        "read, s": {"Beacon": "read_s", "C": "c_read_s"},
        "memory, MB": {"reading": "read_mb", "the tables": "tables_mb"},
        "set-up, s": {"Beacon": "setup_s"},
        "step, µs": {"Beacon": "step_us", "C++": "cpp_step_us"},
    }
    plt.rcParams["svg.hashsalt"] = "large"
    figure, axes = plt.subplots(1, len(panels), figsize=(12, 3), layout="constrained")
    for axis, (title, lines) in zip(axes, panels.items(), strict=True):
        for label, name in lines.items():
            axis.loglog(
                [int(row["variables"]) for row in found],
                [float(row[name]) for row in found],
                "o-",
                label=label,
            )
        axis.set_title(title)
        axis.set_xlabel("variables")
        axis.legend()
    figure.savefig(PLOT, facecolor="white", metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, help="the compiled yardstick of steps")
    parser.add_argument("--sides", nargs="+", type=int, default=SIDES)
    parser.add_argument("--image", action="store_true", help="measure the model of an image alone")
    parser.add_argument("--page", action="store_true", help="make the tables and the plot anew, no figures")
    parser.add_argument("--child", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        kind, *words = arguments.child
        print(json.dumps(CHILDREN[kind](*words)))
        return
    if arguments.image:
        with IMAGE_RESULTS.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, tuple(IMAGE.values()))
            writer.writeheader()
            writer.writerow(measure_image())
    elif not arguments.page:
        if arguments.program is None:
            parser.error("--program is needed: the compiled yardstick")
        with tempfile.TemporaryDirectory() as folder:
            reader, source = Path(folder) / "read_numbers", Path(__file__).with_name("read_numbers.c")
            subprocess.run(["cc", "-O2", "-o", str(reader), str(source)], check=True)
            for side in arguments.sides:
                replace_row(RESULTS, measure(side, arguments.program, reader))
    PAGE.write_text(page(), encoding="utf-8")
    draw()


if __name__ == "__main__":
    main()
