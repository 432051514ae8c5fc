"""What the rows of strategies.py say: mean scores over time, and how the methods stand to each other."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MARKS = (0.1, 0.3, 1.0, 3.0, 10.0)
SHOWN = (0.1, 1.0, 3.0, 10.0)
TOLERANCE = 1e-3  # scores this close are equal: programs print and round their figures
BLIND = "c++ tree"  # counts a zero as any other table entry, so its score may be above every possible one
ORDER = (
    "toulbar2",
    "c++ gls+",
    "c++ tree",
    "gls+",
    "gls+ constructed",
    "gls+ landscape",
    "tree",
    "auto, one weight",
    "auto, random start",
    "auto, search alone",
    "auto",
)
Row = dict[str, Any]


def report(rows: Sequence[Row]) -> str:
    """All tables, in Markdown."""
    return "\n\n".join((score_table(rows), standing_table(rows)))


def networks_of(rows: Sequence[Row]) -> list[str]:
    """The networks, in the order of their first rows."""
    return list(dict.fromkeys(row["network"] for row in rows))


def scores_of(rows: Sequence[Row], network: str, common: bool = True) -> dict[str, NDArray[np.float64]]:
    """[queries, marks] by method: the scores, NaN where there is none.

    With ``common``, only of queries that every method of the network has finished.
    """
    found: dict[str, dict[int, list[float]]] = {}
    for row in rows:
        if row["network"] == network:
            scores = [math.nan if score is None else score for score in row["scores"]]
            found.setdefault(row["method"], {})[row["query"]] = scores
    shared = set.intersection(*(set(queries) for queries in found.values()))
    return {
        method: np.array([queries[k] for k in sorted(shared if common else queries)], dtype=float)
        for method, queries in found.items()
    }


def mean_at(scores: NDArray[np.float64], mark: float) -> float:
    """The mean over queries, NaN if one of them has no score yet."""
    return float(scores[:, MARKS.index(mark)].mean()) if len(scores) else math.nan


def score_table(rows: Sequence[Row]) -> str:
    """Mean best score by network, method and time, and on how many queries it is the best of all."""
    lines = _head("network", "method", *(f"{mark:g} s" for mark in SHOWN))
    for network in networks_of(rows):
        scores = scores_of(rows, network)
        best, label = _best_of_all(scores), f"{network}{_proofs(rows, network)}"
        for method in (name for name in ORDER if name in scores):
            lines.append(_line(label, method, *(_cell(scores[method], best, mark) for mark in SHOWN)))
            label = ""
    return "\n".join(lines)


def write_means(rows: Sequence[Row], path: Path) -> None:
    """The same as a file: a row for each network and method, mean and number of best scores at each time."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        heads = [head for mark in MARKS for head in (f"s_{mark:g}", f"best_{mark:g}")]
        writer.writerow(["network", "queries", "method", *heads])
        for network in networks_of(rows):
            scores = scores_of(rows, network)
            best = _best_of_all(scores)
            for method in (name for name in ORDER if name in scores):
                own = scores[method]
                cells = [
                    ("", "") if math.isnan(mean_at(own, mark)) else (f"{mean_at(own, mark):.3f}", reached)
                    for mark in MARKS
                    for reached in [_num_reached(own, best, mark)]
                ]
                writer.writerow([network, len(own), method, *(cell for pair in cells for cell in pair)])


def _proofs(rows: Sequence[Row], network: str) -> str:
    proved = sum(row["proved"] for row in rows if row["network"] == network)
    return f", {proved} proved" if proved else ""


def standing_table(rows: Sequence[Row]) -> str:
    """How far a method is ahead of the best of others, in per cent of the score; minus is behind.

    Others that were not measured are left out.
    """
    marks = (1.0, 3.0, 10.0)
    pairs = [("tree", ("c++ tree",)), ("auto", ("gls+", "tree")), ("auto", ("toulbar2",))]
    heads = [f"{one} to {' or '.join(others)}, {mark:g} s" for one, others in pairs for mark in marks]
    lines = _head("network", "queries", *heads)
    for network in networks_of(rows):
        scores = scores_of(rows, network)
        cells = [_lead(scores, one, others, mark) for one, others in pairs for mark in marks]
        lines.append(_line(network, len(next(iter(scores.values()))), *cells))
    return "\n".join(lines)


def _lead(scores: dict[str, NDArray[np.float64]], one: str, others: Sequence[str], mark: float) -> str:
    measured = [other for other in others if other in scores]
    if one not in scores or not measured:
        return "-"
    best = max(mean_at(scores[other], mark) for other in measured)
    lead = mean_at(scores[one], mark) - best
    if math.isnan(lead):
        return "-"
    return "=" if abs(lead) < TOLERANCE else f"{100 * lead / abs(best):+.4f}"


def _best_of_all(scores: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """[queries] the best score of all times and of all methods that put zero factors first."""
    tops = [np.nanmax(own, axis=1) for name, own in scores.items() if name != BLIND]
    best: NDArray[np.float64] = np.nanmax(tops, axis=0)
    return best


def _num_reached(own: NDArray[np.float64], best: NDArray[np.float64], mark: float) -> int:
    return int((abs(own[:, MARKS.index(mark)] - best) <= TOLERANCE).sum())


def _cell(own: NDArray[np.float64], best: NDArray[np.float64], mark: float) -> str:
    mean = mean_at(own, mark)
    return "-" if math.isnan(mean) else f"{mean:.3f} ({_num_reached(own, best, mark)})"


def _line(*cells: object) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _head(*names: str) -> list[str]:
    return [_line(*names), "|---" * len(names) + "|"]
