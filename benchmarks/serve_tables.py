"""The tables of research/serve.md, made from results/serve.json.

python benchmarks/serve_tables.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reproduce_tables import ROOT, markdown, updated

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
OVERLOAD = {"later than 1,100 ms": "later_than_1100_ms", "slowest refusal, ms": "slowest_refusal_ms"}
KILL = {"workers killed": "workers_killed"}
SOAK = {"minutes": "minutes"}


def read(results: Path) -> dict[str, Any]:
    """What was measured."""
    made: dict[str, Any] = json.loads((results / "serve.json").read_text(encoding="utf-8"))
    return made


def cell(value: float) -> str:
    """A number with commas."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,g}"


def one(row: dict[str, Any], columns: dict[str, str]) -> str:
    """A table of one line."""
    return markdown(list(columns), [[cell(row[name]) for name in columns.values()]])


def throughput(rows: list[dict[str, Any]]) -> str:
    """A line for each kind of question."""
    lines = [[row["model"], row["asked"], *(cell(row[name]) for name in COLUMNS.values())] for row in rows]
    return markdown(["model", "asked", *COLUMNS], lines)


def soak(row: dict[str, Any]) -> str:
    """Memory early, late and at most."""
    memory = row["megabytes"]
    fifth = max(1, len(memory) // 5)
    first, last = (sum(part) / len(part) for part in (memory[fifth : 2 * fifth], memory[-fifth:]))
    figures = {"second fifth, MB": first, "last fifth, MB": last, "most, MB": max(memory)}
    columns = SOAK | {"answers": "answers", "a second": "a_second", "p99, ms": "p99_ms", "failed": "failed"}
    cells = [cell(row[name]) for name in columns.values()] + [f"{one:.0f}" for one in figures.values()]
    return markdown([*columns, *figures], [cells])


def page(results: Path) -> str:
    """The page with its tables made anew."""
    found = read(results)
    made = {
        "throughput": lambda: throughput(found["throughput"]),
        "overload": lambda: one(found["overload"], COLUMNS | OVERLOAD),
        "kill": lambda: one(found["kill"], COLUMNS | KILL),
        "soak": lambda: soak(found["soak"]),
    }
    return updated(PAGE.read_text(encoding="utf-8"), made)


if __name__ == "__main__":
    PAGE.write_text(page(ROOT / "results"), encoding="utf-8")
