"""What ``benchmarks/reproduce.py`` left in RUN, network by network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from beacon.evaluation.suite import SuiteNetwork, load_suite

SUITE = Path(__file__).with_name("paper.toml")
STEPS = (100, 200, 500, 1000, 2000, 4000)
PAPER_STEPS = (500, 1000, 2000, 4000)
WITHIN = 1e-3  # of the best known score

Row = dict[str, Any]


class Results:
    """The runs of one network on its test queries, by method and query."""

    def __init__(self, folder: Path, group: str = "results") -> None:
        self.folder, self.name = folder, folder.name
        rows: dict[tuple[str, int], Row] = {}
        for path in sorted(folder.glob(f"{group}/**/*.parquet")):
            for row in pq.read_table(path).to_pylist():
                rows[row["method"], row["query"]] = row
        self.queries = sorted({query for _, query in rows})
        methods = sorted({method for method, _ in rows})
        self.rows = {
            method: [rows[method, query] for query in self.queries]
            for method in methods
            if all((method, query) in rows for query in self.queries)
        }

    def has(self, *methods: str) -> bool:
        return all(method in self.rows for method in methods)

    def at(self, method: str, kind: str) -> np.ndarray:
        """[queries, budgets] the best scores; kind is step or second."""
        return np.array([row[f"{kind}_scores"] for row in self.rows[method]])

    def after(self, method: str) -> np.ndarray:
        """[queries, budgets] the best score known after so many seconds, set-up and scoring included.

        Before that nothing better is known than the random start, at time 0.
        """
        rows = []
        baseline = "gls+" if self.has("gls+") else "gls+ propagating"
        for row, plain in zip(self.rows[method], self.rows[baseline], strict=True):
            places = np.searchsorted(row["trace_seconds"], row["second_budgets"], side="right") - 1
            known = np.array(row["trace_scores"])[np.maximum(places, 0)]
            rows.append(np.where(places < 0, plain["trace_scores"][0], known))
        return np.array(rows)

    def budgets(self, method: str, kind: str) -> list[float]:
        return list(self.rows[method][0][f"{kind}_budgets"])

    def facts(self, name: str) -> Row:
        facts: Row = json.loads((self.folder / f"{name}.json").read_text())
        return facts

    def best_known(self) -> np.ndarray:
        """[queries] the best score of all methods, a zero factor counting as in the runs."""
        return np.max([[row["score"] for row in rows] for rows in self.rows.values()], axis=0)

    def seconds_to_target(self, method: str) -> np.ndarray:
        """[queries] time until the score was within 0.1 % of the best known; infinite if never."""
        times = []
        for row, best in zip(self.rows[method], self.best_known(), strict=True):
            scores = np.array(row["trace_scores"])
            seconds = row["trace_seconds"]
            reached = np.flatnonzero(scores >= best - WITHIN * max(1.0, abs(best)))
            times.append(seconds[reached[0]] if len(reached) else np.inf)
        return np.array(times)


def load_networks(run: Path, group: str = "results") -> list[Results]:
    """Networks of the paper's list, in its order, that have runs in this group of results."""
    found = [Results(run / name, group) for name in suite() if (run / name).is_dir()]
    return [network for network in found if network.rows]


def suite() -> dict[str, SuiteNetwork]:
    """The paper's networks by the name of their folder."""
    return {network.file.removesuffix(".uai"): network for network in load_suite(SUITE).networks}


def label(name: str) -> str:
    """The paper's name of a network, with a star if another one stands in for it."""
    network = suite()[name]
    return (network.short_name or network.name) + ("*" if network.stands_in_for else "")


def common(networks: Sequence[Results], *methods: str) -> list[Results]:
    """Those that have all of these methods."""
    return [network for network in networks if network.has(*methods)]
