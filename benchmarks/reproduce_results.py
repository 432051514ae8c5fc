"""What the jobs of ``reproduce.py`` have left in results/guided, and which rows of the paper they stand for.

A job has two files: JOB.parquet (scores by method, query and steps) and JOB.json (how they were made).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pages import ROOT

from beacon.evaluation.metrics import improvements
from beacon.evaluation.problem import load_suite

STEPS = (500, 1000, 2000, 4000)
STRATEGIES = {"greedy": "Greedy", "gls+": "GLS+"}
KINDS = {"own": "own chains", "shared": "one chain", "exact": "ancestral"}
ANCESTRAL = ("BN_", "Promedas_", "or_chain_")  # Bayesian networks: sampled without chains
REBUILT = "le450_"  # networks that were rebuilt from their graph
TWINS = {"rus_50_100_6_1": "rus_50_100_4_1", "rus_100_200_3_3": "rus_100_200_1_1"}
"""Rows of the paper whose public files are those of another row, byte for byte."""


@dataclass(frozen=True, eq=False)
class Result:
    """What one job has left."""

    run: dict[str, Any]
    scores: dict[str, NDArray[np.float64]]
    """[queries, STEPS] of each method."""
    zeros: dict[str, NDArray[np.int64]]
    """[queries, STEPS] zero factors left."""

    @classmethod
    def load(cls, path: Path) -> Result:
        table = pq.read_table(path.with_suffix(".parquet"))
        method, steps = (np.array(table[name].to_pylist()) for name in ("method", "steps"))
        score, zeros = (np.array(table[name].to_pylist()) for name in ("score", "zeros"))
        order = np.argsort(np.array(table["query"].to_pylist()), kind="stable")

        def by_method(values: NDArray[Any]) -> dict[str, NDArray[Any]]:
            places = {
                name: [order[(method[order] == name) & (steps[order] == budget)] for budget in STEPS]
                for name in sorted(set(method.tolist()))
            }
            return {name: np.stack([values[own] for own in columns], 1) for name, columns in places.items()}

        return cls(json.loads(path.read_text()), by_method(score), by_method(zeros))

    @property
    def network(self) -> str:
        name: str = self.run["network"]
        return name

    @property
    def job(self) -> str:
        return f"{self.network}.{self.run['queries']}.{self.run['seed']}"

    @property
    def kind(self) -> str:
        return KINDS["exact" if self.network.startswith(ANCESTRAL) else self.run["queries"]]

    @property
    def own_cells(self) -> list[str]:
        return [label(self.network), self.kind]

    def improvements(self, strategy: str) -> NDArray[np.float64]:
        """[queries, STEPS] of the guided strategy over the strategy by itself, in percent."""
        return improvements(self.scores[f"beacon-{strategy}"], self.scores[strategy])

    def ratios_of_means(self, strategy: str) -> NDArray[np.float64]:
        """[STEPS] improvement of the mean score over all queries, in percent."""
        ours, base = (self.scores[name].mean(axis=0) for name in (f"beacon-{strategy}", strategy))
        ratios: NDArray[np.float64] = 100 * (ours - base) / np.abs(base)
        return ratios


@cache
def suite() -> dict[str, Any]:
    path = ROOT / "benchmarks" / "paper.toml"
    return {network.file.removesuffix(".uai"): network for network in load_suite(path)}


def label(name: str) -> str:
    """The paper's name of a network; * if another one stands in for it, † if it was rebuilt."""
    network = suite()[name]
    mark = "*" if network.stands_in_for else "†" if name.startswith(REBUILT) else ""
    return (network.short_name or network.name) + mark


def load_results(results: Path) -> list[Result]:
    """All jobs, in the order of the paper's networks."""
    order = list(suite())
    found = [Result.load(path) for path in sorted((results / "guided").glob("*.json"))]
    return sorted(
        found, key=lambda result: (order.index(result.network), result.run["queries"], result.run["seed"])
    )


def first_seed(found: Sequence[Result]) -> list[Result]:
    """The jobs that all tables but that of the seeds are made of."""
    return [result for result in found if result.run["seed"] == 0]


def with_twins(found: Sequence[Result]) -> list[tuple[str, Result]]:
    """(row of the paper, result): a file that stands in two rows gives both its figures."""
    of_row = [(result.network, result) for result in found]
    of_row += [(name, result) for name, same in TWINS.items() for result in found if result.network == same]
    order = list(suite())
    return sorted(of_row, key=lambda row: order.index(row[0]))


def row_cells(name: str, result: Result) -> list[str]:
    """A row of the paper and the kind of queries; a twin says whose file it has."""
    twin = "" if name == result.network else f" (= {label(result.network)})"
    return [label(name) + twin, result.kind]


def published_improvements(names: Sequence[str], strategy: str) -> NDArray[np.float64]:
    """[names, STEPS] as published."""
    return np.array([suite()[name].published["improvement"][f"beacon-{strategy}"] for name in names])


def scores_by(path: Path, *columns: str) -> dict[tuple[str, ...], NDArray[np.float64]]:
    """[queries, STEPS] of a file with a row for every query and budget, by its other columns."""
    found: dict[tuple[str, ...], NDArray[np.float64]] = {}
    for row in pq.read_table(path, filters=[("steps", "in", STEPS)]).to_pylist():
        key = tuple(row[column] for column in columns)
        grid = found.setdefault(key, np.full((100, len(STEPS)), np.nan))
        grid[row["query"], STEPS.index(row["steps"])] = row["score"]
    return found
