"""The tables of research/serve.md, made from all runs in results/serve.json.

python benchmarks/serve_tables.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pages import ROOT, markdown, updated

PAGE = ROOT / "research" / "serve.md"
COLUMNS = {
    "answers": "answers",
    "a second": "a_second",
    "p50, ms": "p50_ms",
    "p99, ms": "p99_ms",
    "slowest, ms": "max_ms",
    "refused": "refused",
    "failed": "failed",
}
THROUGHPUT = {"model": "model", "asked": "asked", "connections": "connections"} | COLUMNS
OVERLOAD = COLUMNS | {
    "later than 1,100 ms": "later_than_1100_ms",
    "slowest refusal, ms": "slowest_refusal_ms",
}
KILL = COLUMNS | {"workers killed": "workers_killed"}
SOAK = {"minutes": "minutes"} | {name: COLUMNS[name] for name in ("answers", "p99, ms", "refused", "failed")}


def read(results: Path) -> list[dict[str, Any]]:
    """Every run, in the order of measuring."""
    runs: list[dict[str, Any]] = json.loads((results / "serve.json").read_text(encoding="utf-8"))
    return runs


def cell(value: Any) -> str:
    """A number with commas, or a text."""
    return value if isinstance(value, str) else f"{value:,}"


def table(runs: list[dict[str, Any]], part: str, columns: dict[str, str]) -> str:
    """All runs that have measured this, one after the other."""
    lines = []
    for number, run in enumerate(runs, 1):
        rows = run.get(part, [])
        for row in rows if isinstance(rows, list) else [rows]:
            lines.append([str(number), *(cell(row[name]) for name in columns.values())])
    return markdown(["run", *columns], lines)


def overview(runs: list[dict[str, Any]]) -> str:
    """When, with which settings, and how busy the machine was."""
    lines = [
        [
            str(number),
            run["began"].replace("T", " ").removesuffix("+00:00"),
            ", ".join(map(str, run["load_average"])) or "not noted",
            str(run["settings"]["tries"]),
            f"{run['settings']['reserve_seconds']:g}",
        ]
        for number, run in enumerate(runs, 1)
    ]
    return markdown(["run", "began (UTC)", "load average", "tries", "reserve at most, s"], lines)


def soak(runs: list[dict[str, Any]]) -> str:
    """The soaks, with the memory early, late and at most."""
    lines = []
    for number, run in enumerate(runs, 1):
        if row := run.get("soak"):
            memory = row["megabytes"]
            fifth = max(1, len(memory) // 5)
            means = [sum(part) / len(part) for part in (memory[fifth : 2 * fifth], memory[-fifth:])]
            cells = [cell(row[name]) for name in SOAK.values()]
            lines.append([str(number), *cells, *(f"{one:.0f}" for one in (*means, max(memory)))])
    return markdown(["run", *SOAK, "second fifth, MB", "last fifth, MB", "most, MB"], lines)


def page(results: Path) -> str:
    """The page with its tables made anew."""
    runs = read(results)
    made = {
        "runs": lambda: overview(runs),
        "throughput": lambda: table(runs, "throughput", THROUGHPUT),
        "overload": lambda: table(runs, "overload", OVERLOAD),
        "kill": lambda: table(runs, "kill", KILL),
        "soak": lambda: soak(runs),
    }
    return updated(PAGE.read_text(encoding="utf-8"), made)


if __name__ == "__main__":
    PAGE.write_text(page(ROOT / "results"), encoding="utf-8")
