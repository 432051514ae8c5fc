"""An evaluation as arrays: every number of a report is a function of these."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from beacon.errors import BeaconError, UsageError
from beacon.evaluation.metrics import Floats, best_known, first_reaching, known_at, target_score
from beacon.evaluation.records import Record, record_store
from beacon.evaluation.run_file import FILE, Facts, load_run, save_run
from beacon.io.files import make_folder
from beacon.model.html_view import html_table

Kind = Literal["step", "second"]
KINDS: tuple[Kind, Kind] = ("step", "second")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The results of an evaluation. Arrays are [seeds, queries]; nan where a run is missing.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> evaluation = beacon.evaluate(ising_grid(4, 4), methods=["greedy", "gls+"], steps=[50], count=3)
    >>> evaluation
    Evaluation(gls+, greedy on model: 6 records)
    >>> evaluation.scores("model", "gls+", "step", 50).shape
    (1, 3)
    >>> evaluation.report("results").name
    'report.html'
    """

    run: Facts
    """Settings, networks, methods, machine: what ``run.json`` holds."""
    records: Sequence[Record]
    """One for each network, method, seed and query."""
    folder: Path | None = None
    """Where they are kept; None: in memory alone."""

    def __repr__(self) -> str:
        """What was compared, without the thousands of numbers."""
        methods, networks = (
            ", ".join(sorted({getattr(record, name) for record in self.records}))
            for name in ("method", "network")
        )
        return f"Evaluation({methods} on {networks}: {len(self.records):,} records)"

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Evaluation:
        """Read an evaluation's folder, finished or not."""
        place = Path(folder)
        if not place.is_dir():
            raise BeaconError(f"cannot read {folder}: no such folder")
        run = load_run(place)
        rows = record_store(place).rows()
        if not rows:
            raise BeaconError(f"{folder} holds no results yet; finish it with `beacon evaluate`")
        return cls(run, [Record(**row) for row in rows], place)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``evaluation.parquet`` and ``run.json`` into a folder that holds no evaluation yet."""
        place = make_folder(folder)
        if (place / FILE).exists():
            raise UsageError(f"{place} holds an evaluation already; use another folder")
        store = record_store(place)
        for record in self.records:
            store.add(asdict(record))
        store.merge()
        save_run(place, self.run)

    def report(
        self, folder: str | os.PathLike[str] | None = None, *, title: str = "Beacon evaluation"
    ) -> Path:
        """Write ``report.html``, ``tables/`` and ``plots/`` into a folder, by default its own.

        Returns the page's path; :func:`beacon.report.contents.make_report` has its tables and plots.
        """
        from beacon.report.contents import make_report  # noqa: PLC0415 - drawing is needed only here
        from beacon.report.html import write_parts, write_report  # noqa: PLC0415

        if folder is None and self.folder is None:
            raise UsageError("the evaluation has no folder of its own; give one: report('folder')")
        place = make_folder(self.folder if folder is None else folder)  # type: ignore[arg-type]
        made = make_report(self)
        write_report(made, place / "report.html", title)
        write_parts(made, place)
        return place / "report.html"

    def mean_scores(self, network: str, method: str, kind: Kind) -> list[float | None]:
        """The mean score over queries at each budget; None where there is no finite one."""
        means = [float(self.scores(network, method, kind, budget).mean()) for budget in self.budgets(kind)]
        return [mean if math.isfinite(mean) else None for mean in means]

    def _repr_html_(self) -> str:
        """Mean scores at each budget, for notebooks."""
        budgets = [(kind, budget) for kind in KINDS for budget in self.budgets(kind)]
        shared = self.shared
        rows = (
            (network, method, *(shared._mean(network, method, *budget) for budget in budgets))
            for network in shared.networks
            for method in shared.methods
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

    @cached_property
    def shared(self) -> Evaluation:
        """The runs on queries and seeds that all methods with runs on the same network have done.

        Only these can be compared; an evaluation that is not finished, or has grown, has others, too.
        """
        done = {
            network: set.intersection(
                *(set(runs) for (name, _), runs in self._table.items() if name == network)
            )
            for network in self.networks
        }
        kept = [record for record in self.records if (record.seed, record.query) in done[record.network]]
        return self if len(kept) == len(self.records) else Evaluation(self.run, kept, self.folder)

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

    def is_proved(self, network: str) -> Floats:
        """[queries] 1 where some run has proved its answer optimal, so that the best known is the optimum."""
        proved = {record.query for record in self.records if record.network == network and record.proved}
        return np.array([float(query in proved) for query in self.queries(network)])

    def bound_gaps(self, network: str) -> Floats:
        """[queries] how far the best score may be below the optimum at most, in percent; inf: not known."""
        bounds = dict.fromkeys(self.queries(network), np.inf)
        for record in self.records:
            if record.network == network and record.upper_bound is not None:
                bounds[record.query] = min(bounds[record.query], record.upper_bound)
        best = self.best(network)
        above = np.maximum(np.array(list(bounds.values())) - best, 0.0)
        return np.where(self.is_proved(network) > 0, 0.0, 100 * above / np.maximum(np.abs(best), 1e-9))

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

    def band(self, network: str, method: str, grid: Floats) -> tuple[Floats, Floats]:
        """[grid] mean best score and mean upper bound after these seconds; nan until all runs have one.

        A bound below its score, by rounding or because zeros are floored, counts as equal to it.
        """
        scores = self.curve(network, method, "second", grid)
        runs = self.runs(network, method)
        known = [known_at(run.bound_seconds or (), run.bounds or (), grid, np.inf) for run in runs]
        return _mean_of_all(scores), _mean_of_all(np.maximum(np.reshape(known, scores.shape), scores))

    def _each(self, network: str, method: str, value: Any) -> Floats:
        known = self._table.get((network, method), {})
        queries = self.queries(network)
        rows = [[known.get((seed, query)) for query in queries] for seed in self.seeds]
        return np.array([[np.nan if record is None else value(record) for record in row] for row in rows])


def _mean_of_all(rows: Floats) -> Floats:
    """[rows, grid] -> [grid] the mean where all rows are finite, else nan."""
    means = np.full(rows.shape[1], np.nan)
    if len(rows):
        is_known = np.isfinite(rows).all(axis=0)
        means[is_known] = rows[:, is_known].mean(axis=0)
    return means


def _in_order(listed: Sequence[str], present: set[str]) -> list[str]:
    return [name for name in listed if name in present] + sorted(present - set(listed))
