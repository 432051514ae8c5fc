"""The table of research/mix.md, made from results/mix.csv: the mix now and before.

    python benchmarks/mix_tables.py [ROWS.csv]

With ROWS.csv, written by ``arms_table.py run``, the results file is made of it first.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from arms_table import MIXES
from numpy.typing import NDArray
from pages import ROOT, markdown, rows_of, updated

PAGE = ROOT / "research" / "mix.md"
RESULTS = ROOT / "results" / "mix.csv"
MARKS = ("0.03", "0.1", "1.0")
FIELDS = ("network", "query", "mark", "now", "before")


def keep(source: Path) -> None:
    """Write the scores of the queries that both versions were asked."""
    scores: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows_of(source):
        if row["method"] in MIXES and row["mark"] in MARKS:
            scores.setdefault((row["network"], row["query"], row["mark"]), {})[row["method"]] = row["score"]
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for key, of_method in scores.items():
            if len(of_method) == len(MIXES):
                writer.writerow([*key, *(f"{float(of_method[name]):.10g}" for name in MIXES)])


def leads(rows: list[dict[str, str]], network: str, mark: str) -> NDArray[np.float64]:
    """How far the mix is ahead of what it was, a number for each query, in percent of the score."""
    pairs = [
        (float(row["now"]), float(row["before"]))
        for row in rows
        if (row["network"], row["mark"]) == (network, mark)
    ]
    now, before = np.array(pairs).T
    lead: NDArray[np.float64] = 100 * (now - before) / np.maximum(np.abs(before), 1e-9)
    return lead


def table(rows: list[dict[str, Any]], marks: Sequence[str] = MARKS) -> str:
    """Mean lead with its standard error, queries ahead and behind."""
    lines = []
    for network in dict.fromkeys(row["network"] for row in rows):
        cells = []
        for mark in marks:
            lead = leads(rows, network, mark)
            error = lead.std(ddof=1) / np.sqrt(len(lead))
            ahead, behind = int((lead > 1e-6).sum()), int((lead < -1e-6).sum())
            cells.append(f"{lead.mean():+.3f} ± {error:.3f} ({ahead} : {behind})")
        lines.append([network, str(len(lead)), *cells])
    return markdown(["network", "queries", *(f"{float(mark):g} s" for mark in marks)], lines)


def page() -> str:
    """The page with its table made anew."""
    return updated(PAGE.read_text(encoding="utf-8"), {"mix": lambda: table(rows_of(RESULTS))})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        keep(Path(sys.argv[1]))
    PAGE.write_text(page(), encoding="utf-8")
