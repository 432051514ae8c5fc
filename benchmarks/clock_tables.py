"""The paper's methods, the mix and other solvers after sixty seconds of the clock: results/clock.csv.

    python benchmarks/clock_tables.py ROWS.csv RACE

ROWS.csv was written by ``clock.py``, the folder RACE by ``reproduce.py --race``. ``reproduce_tables.py`` puts
the tables onto their page: means over the queries that all methods without a guide were asked. The tuned
default that does not ask its guide is the mix; daoopt was not asked on where it had no answer.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pages import ROOT, markdown, rows_of
from reproduce_results import label

RESULTS = ROOT / "results" / "clock.csv"
FIELDS = ("network", "query", "method", "at 0.1", "at 1", "at 10", "score", "seconds", "steps", "proof")
NAMES = {
    "greedy": "Greedy",
    "BEACON-Greedy": "BEACON-Greedy",
    "gls+": "GLS+",
    "BEACON-GLS+": "BEACON-GLS+",
    "auto": "mix",
    "tuned default": "tuned default",
    "toulbar2": "toulbar2",
    "toulbar2 vns": "its VNS",
    "daoopt": "daoopt",
}
GUIDED = tuple(name for name in NAMES if name.startswith("BEACON"))
PUBLISHED = {name: name.lower() for name in ("gls+", *GUIDED, "toulbar2", "daoopt")}
AS_MIX = "mix"  # what the tuned default is where it does not ask its guide
CLOSE = 1e-6  # of a score: as good as the best
Row = Mapping[str, str]


def keep(rows_file: Path, race: Path) -> None:
    """Write what all methods came to on every query."""
    rows = [row for path in (rows_file, *sorted(race.glob("*.csv"))) for row in rows_of(path)]
    order = list(NAMES)
    rows.sort(key=lambda row: (row["network"], int(row["query"]), order.index(row["method"])))
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


class Clocked:
    """The rows of one network on the queries that all methods without a guide were asked."""

    def __init__(self, rows: Sequence[Row], network: str) -> None:
        found: dict[str, dict[str, Row]] = {}
        for row in rows:
            if row["network"] == network:
                found.setdefault(row["query"], {})[row["method"]] = row
        answers = [row["score"] for own in found.values() for name, row in own.items() if name == "daoopt"]
        is_tuned = any("tuned default" in own for own in found.values())
        self.is_without_daoopt = all(math.isinf(float(score)) for score in answers)
        spared = {*GUIDED, *(() if is_tuned else ("tuned default",))}
        spared |= {"daoopt"} if self.is_without_daoopt else set()
        self.queries = [own for own in found.values() if set(NAMES) - spared <= own.keys()]

    def rows(self, method: str) -> list[Row]:
        """A method's rows, none where it was not asked all queries."""
        rows = [of_method[method] for of_method in self.queries if method in of_method]
        return rows if len(rows) == len(self.queries) else []

    @property
    def best(self) -> list[float]:
        """The best score of each query."""
        return [max(float(row["score"]) for row in of_method.values()) for of_method in self.queries]

    def gap(self, method: str, published: Sequence[float] | str | None) -> str:
        """The mean gap to Greedy in percent and its standard error, in brackets the proofs, after the slash
        the paper's."""
        said = self._own_gap(method)
        if published is None:
            return said
        return f"{said} / {'none' if isinstance(published, str) else f'{published[0]:+.2f}'}"

    def _own_gap(self, method: str) -> str:
        rows = self.rows(method)
        if method == "daoopt" and self.is_without_daoopt:
            return f"none on {sum(method in own for own in self.queries)}"
        if not rows:
            return AS_MIX if method == "tuned default" else "–"
        scores = np.array([float(row["score"]) for row in rows])
        base = np.array([float(row["score"]) for row in self.rows("greedy")])
        if none := int(np.isinf(scores).sum()):
            said = f"none on {none}"
        else:
            gaps = 100 * (scores - base) / np.abs(base)
            said = f"{np.mean(gaps):+.2f}"
            said += f" ± {np.std(gaps, ddof=1) / np.sqrt(len(gaps)):.2f}" if len(gaps) > 1 else ""
        proofs = sum(bool(row["proof"]) for row in rows)
        return f"{said} ({proofs})" if proofs else said

    def reached(self, method: str) -> str:
        """On how many queries the best score was found, and the median time of those."""
        if method == "daoopt" and self.is_without_daoopt:
            return "0"
        if not self.rows(method):
            return AS_MIX if method == "tuned default" else "–"
        pairs = zip(self.rows(method), self.best, strict=False)
        hits = [row for row, best in pairs if float(row["score"]) >= best - CLOSE * abs(best)]
        times = [float(row["seconds"]) for row in hits if row["seconds"]]
        return f"{len(hits)}, {np.median(times):.2g} s" if times else str(len(hits))


def networks_of(rows: Sequence[Row], suite: Mapping[str, Any]) -> list[str]:
    """The networks with rows, in the paper's order."""
    return sorted({row["network"] for row in rows}, key=list(suite).index)


def clock_table(rows: Sequence[Row], suite: Mapping[str, Any]) -> str:
    """Mean gaps to Greedy after all the time."""
    methods = [name for name in NAMES if name != "greedy"]
    lines = []
    for network in networks_of(rows, suite):
        own, published = Clocked(rows, network), suite[network].published["gap_to_greedy_60s"]
        cells = [own.gap(name, published.get(PUBLISHED.get(name, ""))) for name in methods]
        lines.append([label(network), str(len(own.queries)), *cells])
    return markdown(["network", "queries", *(NAMES[name] for name in methods)], lines)


def reached_table(rows: Sequence[Row], suite: Mapping[str, Any]) -> str:
    """Who found the best score, and when."""
    lines = []
    for network in networks_of(rows, suite):
        own = Clocked(rows, network)
        cells = [own.reached(name) for name in NAMES]
        lines.append([label(network), str(len(own.queries)), *cells])
    return markdown(["network", "queries", *NAMES.values()], lines)


def guided_table(rows: Sequence[Row], suite: Mapping[str, Any]) -> str:
    """The guided searches on all their queries: steps, and mean scores on the way."""
    lines = []
    for network in networks_of(rows, suite):
        for method in GUIDED:
            own = [row for row in rows if (row["network"], row["method"]) == (network, method)]
            if own:
                means = [_mean(own, mark) for mark in ("at 0.1", "at 1", "at 10", "score")]
                name = label(network)
                lines.append([name, method, str(len(own)), f"{int(own[0]['steps']):,}", *means])
    return markdown(["network", "method", "queries", "steps", "0.1 s", "1 s", "10 s", "60 s"], lines)


def _mean(rows: Sequence[Row], column: str) -> str:
    return f"{np.mean([float(row[column]) for row in rows]):,.2f}"


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(sys.argv[2]))
