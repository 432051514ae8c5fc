"""An evaluation as arrays: every number of a report is a function of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from beacon.errors import BeaconError
from beacon.evaluation.drift_records import drift_store
from beacon.evaluation.metrics import Floats, best_known, first_reaching, known_at, target_score
from beacon.evaluation.records import Record, record_store
from beacon.evaluation.run_file import Facts, load_run
from beacon.model.html_view import html_table

Kind = Literal["step", "second"]


@dataclass(frozen=True, eq=False)
class Results:
    """The records of an evaluation. Arrays are [seeds, queries]; nan where a run is missing."""

    run: Facts
    records: Sequence[Record]
    drift: Sequence[dict[str, Any]] = ()

    @classmethod
    def load(cls, folder: Path) -> Results:
        """Read an evaluation's folder, finished or not."""
        run = load_run(folder)
        rows = record_store(folder).rows()
        if not rows:
            raise BeaconError(f"{folder} holds no results yet; finish it with `beacon evaluate`")
        return cls(run, [Record(**row) for row in rows], drift_store(folder).rows())

    def _repr_html_(self) -> str:
        """Mean scores at each budget, for notebooks."""
        kinds: tuple[Kind, Kind] = ("step", "second")
        budgets = [(kind, budget) for kind in kinds for budget in self.budgets(kind)]
        rows = (
            (network, method, *(self._mean(network, method, *budget) for budget in budgets))
            for network in self.networks
            for method in self.methods
        )
        header = ("network", "method", *(f"{budget:,g} {kind}s" for kind, budget in budgets))
        return html_table("Mean best scores", rows, header, "… see `beacon report`")

    def _mean(self, network: str, method: str, kind: Kind, budget: float) -> str:
        scores = self.scores(network, method, kind, budget)
        return f"{np.nanmean(scores):.4f}" if np.isfinite(scores).any() else ""

    @cached_property
    def networks(self) -> list[str]:
        """The networks with results, in the order in which they were evaluated."""
        return _in_order(self.run["networks"], {record.network for record in self.records})

    @cached_property
    def methods(self) -> list[str]:
        """The methods with results, in the order in which they were listed."""
        return _in_order(self.run["methods"], {record.method for record in self.records})

    @cached_property
    def weights(self) -> dict[str, float | None]:
        """λ of each method."""
        return {record.method: record.weight for record in self.records}

    @cached_property
    def baselines(self) -> dict[str, str | None]:
        """The method that each is meant to improve on."""
        return {record.method: record.baseline for record in self.records}

    @property
    def step_budgets(self) -> list[int]:
        """Budgets in steps."""
        return list(self.run["settings"]["steps"])

    @property
    def second_budgets(self) -> list[float]:
        """Budgets in seconds."""
        return list(self.run["settings"]["seconds"])

    def budgets(self, kind: Kind) -> Sequence[float]:
        """Budgets of a kind, ascending."""
        return self.step_budgets if kind == "step" else self.second_budgets

    @cached_property
    def seeds(self) -> list[int]:
        """The seeds."""
        return sorted({record.seed for record in self.records})

    @cached_property
    def _table(self) -> dict[tuple[str, str], dict[tuple[int, int], Record]]:
        table: dict[tuple[str, str], dict[tuple[int, int], Record]] = {}
        for record in self.records:
            table.setdefault((record.network, record.method), {})[record.seed, record.query] = record
        return table

    @cached_property
    def _queries(self) -> dict[str, list[int]]:
        every = {(record.network, record.query) for record in self.records}
        return {name: sorted(query for network, query in every if network == name) for name in self.networks}

    def queries(self, network: str) -> list[int]:
        """The queries of a network that have results."""
        return self._queries[network]

    def record(self, network: str, method: str, seed: int, query: int) -> Record | None:
        """One run."""
        return self._table.get((network, method), {}).get((seed, query))

    def runs(self, network: str, method: str) -> list[Record]:
        """All runs of a method on a network."""
        return list(self._table.get((network, method), {}).values())

    def scores(self, network: str, method: str, kind: Kind, budget: float) -> Floats:
        """[seeds, queries] the best score within a budget."""
        place = self.budgets(kind).index(budget)

        def score(record: Record) -> float:
            scores = record.step_scores if kind == "step" else record.second_scores
            return scores[place] if place < len(scores) else np.nan

        return self._each(network, method, score)

    def final_scores(self, network: str, method: str) -> Floats:
        """[seeds, queries] the best score at the end."""
        return self._each(network, method, lambda record: record.score)

    def best(self, network: str) -> Floats:
        """[queries] the best score that any method found on any seed."""
        rows = [self.final_scores(network, method) for method in self.methods]
        return best_known(np.concatenate(rows))

    def times_to_target(self, network: str, method: str, percent: float, kind: Kind) -> Floats:
        """[seeds, queries] steps or seconds until within ``percent`` of the best known; inf: never."""
        targets = dict(zip(self.queries(network), self.best(network).tolist(), strict=True))

        def reached(record: Record) -> float:
            times = record.trace_steps if kind == "step" else record.trace_seconds
            return first_reaching(times, record.trace_scores, target_score(targets[record.query], percent))

        return self._each(network, method, reached)

    def curve(self, network: str, method: str, kind: Kind, grid: Floats) -> Floats:
        """[runs, grid] the best score known at each point; -inf before the first assignment."""
        rows = [
            known_at(
                record.trace_steps if kind == "step" else record.trace_seconds,
                record.trace_scores,
                grid,
                -np.inf,
            )
            for record in self.runs(network, method)
        ]
        return np.array(rows).reshape(len(rows), len(grid))

    def _each(self, network: str, method: str, value: Any) -> Floats:
        known = self._table.get((network, method), {})
        queries = self.queries(network)
        rows = [[known.get((seed, query)) for query in queries] for seed in self.seeds]
        return np.array([[np.nan if record is None else value(record) for record in row] for row in rows])


def _in_order(listed: Sequence[str], present: set[str]) -> list[str]:
    return [name for name in listed if name in present] + sorted(present - set(listed))
