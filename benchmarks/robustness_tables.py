"""Puts the measurements of ``fuzz.py``, ``hardship.py`` and ``limits.py`` into research/robustness.md.

python benchmarks/robustness_tables.py
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from typing import Any

from pages import ROOT, markdown

PAGE = ROOT / "research" / "robustness.md"
RESULTS = ROOT / "results"


def _json(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def _table(header: str, rows: list[list[str]]) -> str:
    return markdown(header.split(", "), rows) + "\n"


def fuzz_table() -> str:
    """Inputs, and what became of them."""
    report = _json("fuzz.json")
    counts = [f"{report[key]:,}" for key in ("inputs", "read", "refused")] + [str(len(report["faults"]))]
    most = [f"{report['slowest_seconds']:.1f} s", f"{report['most_memory_bytes'] / 2**20:,.0f} MiB"]
    return _table("inputs, read, refused, faults, slowest, largest", [counts + most])


def kills_table() -> str:
    """Kills of each command; results that differ and files left behind are those of all."""
    report = _json("hardship.json")["kills"]
    rows = [[name, str(count)] for name, count in report["kills"].items()]
    rows.append(["all", str(sum(report["kills"].values()))])
    rows.append(["results that differ", str(len(report["differing"]))])
    rows.append(["temporary files left", str(report["leftovers"])])
    return _table("command, kills", rows)


def signals_table() -> str:
    """Signals for each command, and how it ended."""
    report = _json("hardship.json")["signals"]
    rows = []
    for name, count in report["signals"].items():
        codes = sorted(report["exit_codes"][name].items())
        rows.append([name, str(count), ", ".join(f"{code}: {number}" for code, number in codes)])
    ends = [["all", str(sum(report["signals"].values())), f"faults: {len(report['faults'])}"]]
    return _table("command, signalled, exit codes", [*rows, *ends])


def limits_table() -> str:
    """By how much calls overrun their limits."""
    with (RESULTS / "limits.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return _table(", ".join(rows[0]), rows[1:])


TABLES: dict[str, Callable[[], str]] = {
    "Damaged and hostile files": fuzz_table,
    "Kills": kills_table,
    "Signals": signals_table,
    "Time limits": limits_table,
}


def with_tables(page: str) -> str:
    """The page with the first table below each heading made anew."""
    for heading, table in TABLES.items():
        pattern = re.compile(rf"(## {heading}\n(?:(?!## |\|).*\n)*)(?:\|.*\n)*")
        page = pattern.sub(lambda found, table=table: found[1] + table(), page, count=1)  # type: ignore[misc]
    return page


def main() -> None:
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
