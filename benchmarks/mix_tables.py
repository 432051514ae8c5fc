"""The tables of research/mix.md, made from results files: the mix, now and before, and other methods.

    python benchmarks/mix_tables.py [FILE ROWS.csv ...]

With rows, written by ``arms_table.py run``, the results file of that name (mix or mix_fresh) is made of them
first.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from arms_table import ARMS, MIXES, OTHERS, PROGRAMS, PUBLISHED
from numpy.typing import NDArray
from pages import ROOT, markdown, rows_of, updated

PAGE = ROOT / "research" / "mix.md"
RESULTS = ROOT / "results" / "mix.csv"
FRESH = ROOT / "results" / "mix_fresh.csv"
MARKS = ("0.03", "0.1", "1.0", "10.0")
NAMES = dict(zip(MIXES, ("now", "before"), strict=True)) | {name: name for name in OTHERS}
"""Columns of the results file, by method."""
NO_ANSWER = "-inf"  # empty cells: not asked
LEVEL = 1e-4  # percent: scores that are closer are equal, for the yardsticks print few digits
ROUNDED = 1e-6  # of a score: what they print may be above the optimum by that
ASKED = {
    RESULTS.name: [name for name in OTHERS if name != "c++ tree"],  # which takes pairs alone
    FRESH.name: ARMS,
}
Rows = list[dict[str, str]]


def keep(sources: Sequence[Path], target: Path) -> None:
    """Write the scores of the queries that the mix was asked (in the first file: both versions).

    Those of other methods where all of them were asked. The published query is one of the first, and so none
    of those that were used for no choice. The C++ programs let a zero factor count -100, whatever the tables
    offer for it: a score above the optimum has one, and is none.
    """
    needed, others = MIXES if target.name == RESULTS.name else MIXES[:1], ASKED[target.name]
    scores: dict[tuple[str, ...], dict[str, str]] = {}
    rows = [row for source in sources for row in rows_of(source)]
    optima = _optima(rows)
    for row in rows:
        found = scores.setdefault((row["network"], row["query"], row["mark"]), {})
        if row["mark"] == row["limit"] or row["method"] not in found:
            score, top = float(row["score"] or NO_ANSWER), optima.get((row["network"], row["query"]), np.inf)
            is_possible = row["method"] not in PROGRAMS or score <= top + ROUNDED * abs(top)
            found[row["method"]] = f"{score:.10g}" if is_possible else NO_ANSWER
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["network", "query", "mark", *NAMES.values()])
        for key, of_method in scores.items():
            if not all(name in of_method for name in needed) or (target == FRESH and key[1] == PUBLISHED):
                continue
            kept = NAMES if all(name in of_method for name in others) else MIXES
            writer.writerow([*key, *(of_method.get(name, "") if name in kept else "" for name in NAMES)])


def _optima(rows: Rows) -> dict[tuple[str, str], float]:
    """The scores that are proved optimal, by network and query."""
    proved = [row for row in rows if row.get("proof") and row["score"] and row["mark"] == row["limit"]]
    return {(row["network"], row["query"]): float(row["score"]) for row in proved}


def leads(rows: Rows, network: str, mark: str) -> NDArray[np.float64]:
    """How far the mix is ahead of what it was, a number for each query, in percent of the score."""
    pairs = [
        (float(row["now"]), float(row["before"]))
        for row in rows
        if (row["network"], row["mark"]) == (network, mark) and row["before"]
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
        if any(cells):
            lines.append([network, str(len(leads(rows, network, marks[0]))), *cells])
    return markdown(["network", "queries", *(f"{float(mark):g} s" for mark in marks)], lines)


def published_table(rows: Rows) -> str:
    """The scores with the published evidence: of the mix and in brackets of what it was."""
    found = {(row["network"], row["mark"]): row for row in rows if row["query"] == PUBLISHED}
    lines = []
    for network in dict.fromkeys(network for network, _ in found):
        pairs = [found.get((network, mark)) for mark in MARKS[:3]]
        cells = [f"{float(row['now']):.3f} ({float(row['before']):.3f})" if row else "" for row in pairs]
        lines.append([network, *cells])
    return markdown(["network", *(f"{float(mark):g} s" for mark in MARKS[:3])], lines)


def best_of(rows: Rows) -> dict[tuple[str, str], float]:
    """The best score of each query by any method at any time."""
    best: dict[tuple[str, str], float] = {}
    for row in rows:
        key = row["network"], row["query"]
        found = [float(row[name]) for name in NAMES.values() if row[name]]
        best[key] = max([best.get(key, -np.inf), *found])
    return best


def gaps(rows: Rows, network: str, mark: str) -> dict[str, NDArray[np.float64]]:
    """How far each method is below the best score that any has at any time, in percent, on the same queries.

    Queries that the others were not asked are left out; infinite: no assignment at all.
    """
    of_network = [row for row in rows if row["network"] == network]
    best = best_of(of_network)
    asked = [row for row in of_network if row["mark"] == mark and row["gls+"]]
    found = {}
    for name in NAMES.values():
        if any(row[name] for row in of_network):
            scores = np.array([float(row[name] or NO_ANSWER) for row in asked])
            tops = np.array([best[row["network"], row["query"]] for row in asked])
            found[name] = 100 * (tops - scores) / np.maximum(np.abs(tops), 1e-9)
    return found


def methods_table(rows: Rows, mark: str) -> str:
    """Mean gap of every method at a time, and in brackets the queries on which it has the best score."""
    at_mark = [row for row in rows if row["mark"] == mark]
    columns = [name for name in NAMES.values() if any(row[name] for row in at_mark)]
    lines = []
    for network in dict.fromkeys(row["network"] for row in rows):
        found = gaps(rows, network, mark)
        cells = [_cell(found[name]) if name in found else "" for name in columns]
        if any(cells):
            lines.append([network, str(len(found["now"])), *cells])
    shown = {"now": "mix", "before": "mix before"}
    return markdown(["network", "queries", *(shown.get(name, name) for name in columns)], lines)


def _cell(gap: NDArray[np.float64]) -> str:
    if not gap.size:
        return ""
    if not np.isfinite(gap).all():
        return f"none on {int(np.isinf(gap).sum())}"
    return f"{gap.mean():.4f} ({int((gap < LEVEL).sum())})"


def page() -> str:
    """The page with its tables made anew."""
    rows, fresh = rows_of(RESULTS), rows_of(FRESH)
    made = {
        "mix": lambda: table(rows),
        "published": lambda: published_table(rows),
        "fresh": partial(methods_table, fresh, "1.0"),
    }
    made |= {f"methods {float(mark):g}": partial(methods_table, rows, mark) for mark in MARKS}
    return updated(PAGE.read_text(encoding="utf-8"), made)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        keep([Path(name) for name in sys.argv[2:]], ROOT / "results" / f"{sys.argv[1]}.csv")
    PAGE.write_text(page(), encoding="utf-8")
