"""One network at a glance: how far the methods are from the best known at every budget."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from beacon.evaluation.evaluation import Evaluation, Kind
from beacon.evaluation.metrics import Floats, mean_of
from beacon.io.files import write_bytes
from beacon.report.drawings import anytime_plots
from beacon.report.figure import drawing_style
from beacon.report.naming import amount, main_methods
from beacon.report.tables import Cell, Table, digits_of, duration, label, mark_best, number, written


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
        return number(np.inf if mean.num_infinite else np.nan)
    extra = f"+{mean.num_infinite}" if mean.num_infinite else ""
    return Cell(written(mean.mean, digits_of(mean.mean)), mean.mean, detail=extra)


def write_picture(results: Evaluation, path: Path) -> None:
    """The anytime curves of the first network, over steps and over seconds, as one PNG file."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    plots = anytime_plots(results)[:2]
    with drawing_style():
        figure = Figure(figsize=(4.6 * len(plots), 3.4), layout="constrained")
        for plot, ax in zip(plots, figure.subplots(1, len(plots), squeeze=False)[0], strict=True):
            plot.draw(ax=ax)
        image = io.BytesIO()
        figure.savefig(image, format="png", dpi=150, facecolor="white")
    write_bytes(path, image.getvalue())
