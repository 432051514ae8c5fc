"""The paper's methods, the mix and other solvers after ten seconds of the clock: results/clock.csv.

    python benchmarks/clock_tables.py ROWS.csv RACE.csv

ROWS.csv was written by ``clock.py``, RACE.csv by ``reproduce.py --race``. The table is
one of those of ``reproduce_tables.py``.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from arms_table import SEARCHED
from pages import ROOT, markdown, rows_of

RESULTS = ROOT / "results" / "clock.csv"
FIELDS = ("network", "query", "method", "score", "proof")
MARK = "10.0"
NAMES = {
    "greedy": "Greedy",
    "BEACON-Greedy": "BEACON-Greedy",
    "gls+": "GLS+",
    "BEACON-GLS+": "BEACON-GLS+",
    "auto": "mix",
    "toulbar2": "toulbar2",
    "toulbar2 vns": "its VNS",
    "daoopt": "daoopt",
}
PUBLISHED = {name: name.lower() for name in NAMES if name not in {"greedy", "auto", "toulbar2 vns"}}


def keep(rows_file: Path, race_file: Path) -> None:
    """Write the last score of every method on the queries that all but the guided ones were asked."""
    found: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for row in (*rows_of(rows_file), *rows_of(race_file)):
        if row["mark"] == row["limit"] == MARK and row["method"] in NAMES and row["network"] in SEARCHED:
            found.setdefault((row["network"], row["query"]), {})[row["method"]] = row
    needed = [name for name in NAMES if not name.startswith("BEACON")]
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for (network, query), of_method in found.items():
            if all(name in of_method for name in needed):
                for name in (name for name in NAMES if name in of_method):
                    row = of_method[name]
                    score = f"{float(row['score'] or -math.inf):.10g}"
                    writer.writerow([network, query, name, score, row.get("proof", "")])


def clock_table(rows: Sequence[Mapping[str, str]], suite: Mapping[str, Any]) -> str:
    """Mean gap to Greedy in percent, in brackets the proofs, after the slash the paper's after 60 s."""
    lines = []
    for network in sorted({row["network"] for row in rows}, key=list(suite).index):
        own = [row for row in rows if row["network"] == network]
        greedy = {row["query"]: float(row["score"]) for row in own if row["method"] == "greedy"}
        published = suite[network].published["gap_to_greedy_60s"]
        cells = []
        for method in (name for name in NAMES if name != "greedy"):
            asked = [row for row in own if row["method"] == method]
            cells.append(_cell(asked, greedy, published.get(PUBLISHED.get(method, ""))))
        lines.append([suite[network].short_name or network, str(len(greedy)), *cells])
    return markdown(["network", "queries", *list(NAMES.values())[1:]], lines)


def _cell(
    asked: Sequence[Mapping[str, str]], greedy: Mapping[str, float], published: Sequence[float] | str | None
) -> str:
    if not asked:
        return "–"
    scores = np.array([float(row["score"]) for row in asked])
    base = np.array([greedy[row["query"]] for row in asked])
    none = int(np.isinf(scores).sum())
    said = f"none on {none}" if none else f"{np.mean(100 * (scores - base) / np.abs(base)):+.2f}"
    proofs = sum(bool(row["proof"]) for row in asked)
    said += f" ({proofs})" if proofs else ""
    if published is None:
        return said
    return f"{said} / none" if isinstance(published, str) else f"{said} / {published[0]:+.2f}"


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(sys.argv[2]))
