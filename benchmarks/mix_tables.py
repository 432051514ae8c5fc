"""The tables of research/mix.md, made from results/mix.csv: the mix, now and before, and other methods.

    python benchmarks/mix_tables.py [ROWS.csv]

With ROWS.csv, written by ``arms_table.py run``, the results file is made of it first.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from arms_table import MIXES, OTHERS
from numpy.typing import NDArray
from pages import ROOT, markdown, rows_of, updated

PAGE = ROOT / "research" / "mix.md"
RESULTS = ROOT / "results" / "mix.csv"
MARKS = ("0.03", "0.1", "1.0", "10.0")
NAMES = dict(zip(MIXES, ("now", "before"), strict=True)) | {name: name for name in OTHERS}
"""Columns of the results file, by method."""
NO_ANSWER = "-inf"  # empty cells: not asked
LEVEL = 1e-4  # percent: scores that are closer are equal, for the yardsticks print few digits


def keep(source: Path) -> None:
    """Write the scores of the queries that both versions were asked, and those of other methods on them."""
    scores: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows_of(source):
        found = scores.setdefault((row["network"], row["query"], row["mark"]), {})
        if row["mark"] == row["limit"] or row["method"] not in found:
            found[row["method"]] = f"{float(row['score'] or NO_ANSWER):.10g}"
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["network", "query", "mark", *NAMES.values()])
        for key, of_method in scores.items():
            if all(name in of_method for name in MIXES):
                writer.writerow([*key, *(of_method.get(name, "") for name in NAMES)])


def leads(rows: list[dict[str, str]], network: str, mark: str) -> NDArray[np.float64]:
    """How far the mix is ahead of what it was, a number for each query, in percent of the score."""
    pairs = [
        (float(row["now"]), float(row["before"]))
        for row in rows
        if (row["network"], row["mark"]) == (network, mark)
    ]
    now, before = np.array(pairs).reshape(-1, 2).T
    lead: NDArray[np.float64] = 100 * (now - before) / np.maximum(np.abs(before), 1e-9)
    return lead


def table(rows: list[dict[str, Any]], marks: Sequence[str] = MARKS) -> str:
    """Mean lead with its standard error, queries ahead and behind."""
    lines = []
    for network in dict.fromkeys(row["network"] for row in rows):
        cells = []
        for mark in marks:
            if (lead := leads(rows, network, mark)).size < 2:
                cells.append("")
                continue
            error = lead.std(ddof=1) / np.sqrt(len(lead))
            ahead, behind = int((lead > LEVEL).sum()), int((lead < -LEVEL).sum())
            cells.append(f"{lead.mean():+.3f} ± {error:.3f} ({ahead} : {behind})")
        lines.append([network, str(len(leads(rows, network, marks[0]))), *cells])
    return markdown(["network", "queries", *(f"{float(mark):g} s" for mark in marks)], lines)


def gaps(rows: list[dict[str, str]], network: str, mark: str) -> dict[str, NDArray[np.float64]]:
    """How far each method is below the best score that any has at any time, in percent, on the same queries.

    Queries that the others were not asked are left out; infinite: no assignment at all.
    """
    columns = [name for name in NAMES.values() if name != "before"]
    of_network = [row for row in rows if row["network"] == network]
    best = {
        query: max(
            float(row[name])
            for row in of_network
            if row["query"] == query
            for name in NAMES.values()
            if row[name]
        )
        for query in dict.fromkeys(row["query"] for row in of_network)
    }
    asked = [row for row in of_network if row["mark"] == mark and row["gls+"]]
    found = {}
    for name in columns:
        if any(row[name] for row in of_network):
            scores = np.array([float(row[name] or NO_ANSWER) for row in asked])
            tops = np.array([best[row["query"]] for row in asked])
            found[name] = 100 * (tops - scores) / np.maximum(np.abs(tops), 1e-9)
    return found


def methods_table(rows: list[dict[str, str]], mark: str) -> str:
    """Mean gap of every method at a time, and in brackets the queries on which it has the best score."""
    columns = [name for name in NAMES.values() if name != "before"]
    lines = []
    for network in dict.fromkeys(row["network"] for row in rows):
        found = gaps(rows, network, mark)
        cells = [_cell(found[name]) if name in found else "" for name in columns]
        lines.append([network, str(len(found["now"])), *cells])
    return markdown(["network", "queries", *("mix" if name == "now" else name for name in columns)], lines)


def _cell(gap: NDArray[np.float64]) -> str:
    if not gap.size:
        return ""
    if not np.isfinite(gap).all():
        return f"none on {int(np.isinf(gap).sum())}"
    return f"{gap.mean():.4f} ({int((gap < LEVEL).sum())})"


def page() -> str:
    """The page with its table made anew."""
    rows = rows_of(RESULTS)
    made = {"mix": lambda: table(rows)}
    made |= {f"methods {float(mark):g}": partial(methods_table, rows, mark) for mark in MARKS}
    return updated(PAGE.read_text(encoding="utf-8"), made)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        keep(Path(sys.argv[1]))
    PAGE.write_text(page(), encoding="utf-8")
