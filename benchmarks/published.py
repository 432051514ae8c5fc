"""Published figures of the same networks beside ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.metrics import improvements, mean_of, seconds_per_step
from beacon.report.tables import (
    Cell,
    Table,
    amount,
    duration,
    label,
    main_methods,
    number,
    short_name,
    written,
)

NO_SOLUTION = "no solution"


def published_tables(results: Evaluation) -> list[Table]:
    """What has been published for the networks of this evaluation, as far as both sides have figures."""
    known = {
        network: facts["published"]
        for network, facts in results.run["networks"].items()
        if facts.get("published") and network in results.networks
    }
    if not known:
        return []
    tables = [_improvements(results, known), _step_times(results, known), _wall_clock(results, known)]
    return [table for table in tables if table.rows]


def _improvements(results: Evaluation, known: dict[str, Any]) -> Table:
    """Guided methods over their baselines, where both were measured here."""
    listed = {budget for figures in known.values() for budget in figures.get("steps", [])}
    budgets = [budget for budget in results.step_budgets if budget in listed]
    rows = []
    for network, figures in known.items():
        for method, values in figures.get("improvement", {}).items():
            if results.runs(network, method) and results.runs(network, method.removeprefix("beacon-")):
                published = dict(zip(figures["steps"], values, strict=True))
                pairs = [
                    (number(published.get(b, np.nan)), _our_improvement(results, network, method, b))
                    for b in budgets
                ]
                cells = [cell for pair in pairs for cell in pair]
                rows.append((label(short_name(results, network)), label(method), *cells))
    names = [f"{amount('step', b)}: {side}" for b in budgets for side in ("published", "ours")]
    return Table(
        "published-improvement",
        "Improvement over the own baseline, %, by steps: published and ours",
        ("network", "method", *names),
        tuple(rows),
        num_labels=2,
    )


def _our_improvement(results: Evaluation, network: str, method: str, budget: int) -> Cell:
    baseline = method.removeprefix("beacon-")
    scores = results.scores(network, method, "step", budget)
    reference = results.scores(network, baseline, "step", budget)
    return number(mean_of(improvements(scores, reference)).mean)


def _step_times(results: Evaluation, known: dict[str, Any]) -> Table:
    rows = []
    for network, figures in known.items():
        for method, (mean, _) in figures.get("seconds_per_step", {}).items():
            if method not in main_methods(results):
                continue
            runs = results.runs(network, method)
            ours = seconds_per_step([run.seconds for run in runs], [run.steps for run in runs]).mean
            ratio = Cell(f"{mean / ours:,.0f} ×", mean / ours) if np.isfinite(ours) else number(np.nan)
            cells = (Cell(duration(mean), mean), Cell(duration(ours), ours), ratio)
            rows.append((label(short_name(results, network)), label(method), *cells))
    return Table(
        "published-time-per-step",
        "Time per step: published and ours",
        ("network", "method", "published", "ours", "ratio"),
        tuple(rows),
        "Different machines and languages: the ratio says how much more search a second buys here.",
        num_labels=2,
    )


def _wall_clock(results: Evaluation, known: dict[str, Any]) -> Table:
    """Improvement over Greedy under a time limit."""
    if not results.second_budgets or "greedy" not in results.methods:
        return Table("published-wall-clock", "", ("network",), ())
    budget, rows = results.second_budgets[-1], []
    for network, figures in known.items():
        reference = results.scores(network, "greedy", "second", budget)
        for method, entry in figures.get("gap_to_greedy_60s", {}).items():
            if method in main_methods(results) and method != "greedy":
                ours = mean_of(improvements(results.scores(network, method, "second", budget), reference))
                cells = (
                    _published_gap(entry),
                    _mean_cell(ours.mean, ours.std, ours.num_infinite),
                )
                rows.append((label(short_name(results, network)), label(method), *cells))
    return Table(
        "published-wall-clock",
        f"Improvement over Greedy in a time limit, %: published (60 s), ours ({amount('second', budget)})",
        ("network", "method", "published, 60 s", f"ours, {amount('second', budget)}"),
        tuple(rows),
        "Mean ± standard deviation. Queries, time, machine and what a zero potential counts all differ. "
        "“+k”: k queries without an answer are not in the mean; −∞: none has one.",
        num_labels=2,
    )


def _published_gap(entry: Any) -> Cell:
    if entry == NO_SOLUTION:
        return Cell(NO_SOLUTION, "-inf")
    return _mean_cell(*entry)


def _mean_cell(mean: float, std: float, num_infinite: int = 0) -> Cell:
    if not np.isfinite(mean):
        return number(-np.inf if num_infinite else np.nan)
    extra = f" +{num_infinite}" if num_infinite else ""
    return Cell(written(mean), mean, detail=f"± {written(std)}{extra}")
