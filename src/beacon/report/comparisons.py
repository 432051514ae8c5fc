"""Tables of methods against their baselines and against the best known: wins, improvements, differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from beacon.evaluation.evaluation import Evaluation, Kind
from beacon.evaluation.metrics import (
    Floats,
    Mean,
    bootstrap_interval,
    improvements,
    mean_of,
    win_percentage,
    win_points,
)
from beacon.report.naming import amount, main_methods, short_name
from beacon.report.tables import (
    NOTHING,
    Cell,
    Table,
    as_rich,
    digits_of,
    duration,
    label,
    mark_best,
    number,
    written,
)

if TYPE_CHECKING:
    from rich.table import Table as RichTable

BASELINES = ("greedy", "gls+")


def compared(results: Evaluation, baseline: str) -> list[str]:
    """The methods that are shown against a baseline: all others, without the variants of a λ sweep.

    GLS+ is the stronger baseline: that Greedy loses to it is shown once, the other way round.
    """
    left_out = {baseline, "greedy"} if baseline == "gls+" else {baseline}
    others = [method for method in main_methods(results) if method not in left_out]
    return [method for method in others if results.baselines.get(method) in {None, baseline}]


def baselines(results: Evaluation) -> list[str]:
    """The baselines that were measured and have something to be compared with."""
    return [name for name in BASELINES if name in results.methods and compared(results, name)]


def win_matrix(results: Evaluation, method: str, baseline: str, kind: Kind) -> Floats:
    """[networks, budgets] win percentage against the baseline; nan where one was not measured."""

    def wins(network: str, budget: float) -> float:
        scores, others = (results.scores(network, name, kind, budget) for name in (method, baseline))
        return win_percentage(scores, others)

    return np.array([[wins(network, b) for b in results.budgets(kind)] for network in results.networks])


def win_table(results: Evaluation, baseline: str, kind: Kind) -> Table:
    """Win percentages of all methods, with the green and red of a heatmap."""
    note = "A win counts 1, a tie ½, a loss 0; in brackets the 95 % bootstrap interval over queries."
    return _table(results, baseline, kind, "wins", "Wins", _win_cell, note)


def improvement_table(results: Evaluation, baseline: str, kind: Kind) -> Table:
    """Mean improvement in percent of the baseline's score."""
    note = (
        "Mean over queries of (score − baseline) / |baseline| · 100, with the 95 % bootstrap interval. "
        "“+k”: k queries without a finite quotient (no answer, a baseline of 0) are not in the mean."
    )
    return _table(
        *(results, baseline, kind, "improvement", "Improvement"),
        lambda scores, baselines: percent_cell(improvements(scores, baselines)),
        note,
    )


def _table(
    results: Evaluation,
    baseline: str,
    kind: Kind,
    key: str,
    title: str,
    cell_of: Callable[[Floats, Floats], Cell],
    note: str,
) -> Table:
    """A row for each network and method, a column for each budget; rows without a number are left out."""
    rows = []
    for network in results.networks:
        for method in compared(results, baseline):
            cells = [
                cell_of(results.scores(network, method, kind, b), results.scores(network, baseline, kind, b))
                for b in results.budgets(kind)
            ]
            if any(cell.text != NOTHING for cell in cells):
                rows.append((label(short_name(results, network)), label(method), *cells))
    return Table(
        f"{key}-over-{baseline.replace('+', 'plus')}-{kind}s",
        f"{title} over {baseline}, %, by {kind}s",
        ("network", "method", *(amount(kind, budget) for budget in results.budgets(kind))),
        tuple(rows),
        note,
        num_labels=2,
    )


def _win_cell(scores: Floats, baselines: Floats) -> Cell:
    points = win_points(scores, baselines)
    mean = mean_of(points)
    if not mean.num_finite:
        return number(np.nan)
    low, high = bootstrap_interval(100 * points)
    detail = f"[{written(low, 0)}, {written(high, 0)}]"
    return Cell(written(100 * mean.mean, 0), 100 * mean.mean, shade=2 * mean.mean - 1, detail=detail)


def percent_cell(values: Floats) -> Cell:
    """Mean of percentages with its interval, and how many were not finite."""
    mean = mean_of(values)
    if not mean.num_finite:
        return infinite_cell(values)
    low, high = bootstrap_interval(values)
    digits = digits_of(mean.mean)
    detail = f"[{written(low, digits)}, {written(high, digits)}]{left_out(mean)}"
    shade = float(np.clip(mean.mean / 20, -1, 1))
    return Cell(written(mean.mean, digits), mean.mean, shade=shade, detail=detail)


def infinite_cell(values: Floats) -> Cell:
    """A cell of values of which none is finite: the sign that most of the infinite ones have."""
    extremes = values[np.isinf(values)]
    return number(float(np.sign(extremes.sum()) * np.inf) if len(extremes) else np.nan)


def left_out(mean: Mean) -> str:
    """How many values are not in a mean."""
    return f" +{mean.num_infinite}" if mean.num_infinite else ""


def difference_tables(results: Evaluation) -> list[RichTable]:
    """For the terminal: how far each method is below the best known score, by steps and by time."""
    kinds: tuple[Kind, Kind] = ("step", "second")
    network = results.networks[0]
    return [as_rich(budget_table(results, network, kind)) for kind in kinds if results.budgets(kind)]


def budget_table(results: Evaluation, network: str, kind: Kind) -> Table:
    """Mean difference to the best known log score of each query: a row a method, a column a budget."""
    methods, best = main_methods(results), results.best(network)[None]
    columns = [
        mark_best(
            [_difference_cell(best - results.scores(network, m, kind, budget)) for m in methods],
            largest=False,
        )
        for budget in results.budgets(kind)
    ]
    rows = [(label(method), *(column[k] for column in columns)) for k, method in enumerate(methods)]
    headings = [amount(kind, b) if kind == "step" else duration(b) for b in results.budgets(kind)]
    return Table(
        f"differences-{kind}s",
        f"Below the best known, by {'steps' if kind == 'step' else 'time'}",
        ("method", *headings),
        tuple(rows),
        f"Difference of log scores, mean over {len(results.queries(network)):,} test queries; 0 is best.",
    )


def _difference_cell(differences: Floats) -> Cell:
    mean = mean_of(differences)
    if not mean.num_finite:
        return infinite_cell(differences)
    return Cell(written(mean.mean, digits_of(mean.mean)), mean.mean, detail=left_out(mean).strip())
