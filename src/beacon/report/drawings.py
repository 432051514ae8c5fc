"""The plots of a report: from results to what is drawn."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from beacon.evaluation.evaluation import KINDS, Evaluation, Kind
from beacon.evaluation.metrics import Floats, gaps
from beacon.io.files import write_bytes
from beacon.model.ties import TIE_TOLERANCE
from beacon.report.comparisons import win_matrix
from beacon.report.plots import (
    drawing_style,
    plot_anytime,
    plot_bands,
    plot_history,
    plot_weights,
    plot_win_heatmap,
)
from beacon.report.tables import amount, colour_of, is_variant, main_methods, short_name

GRID_POINTS = 45
FIRST_SECONDS = 1e-4


@dataclass(frozen=True)
class Plot:
    """A figure that is drawn when it is needed."""

    key: str
    caption: str
    draw: Callable[..., Any]
    """Draws into ``ax``, or into a figure of its own, and returns the axes."""

    @cached_property
    def axes(self) -> Any:
        """The figure's axes, drawn once."""
        return self.draw()


def win_plots(results: Evaluation, method: str, baseline: str) -> Iterator[Plot]:
    """Heatmaps of wins: networks × step budgets, and networks × time budgets."""
    names = [short_name(results, network) for network in results.networks]
    for kind in KINDS:
        percentages = win_matrix(results, method, baseline, kind)
        if np.isfinite(percentages).any():
            columns = [amount(kind, budget) for budget in results.budgets(kind)]
            title = f"{method} against {baseline}, {kind}s"
            draw = partial(plot_win_heatmap, percentages, names, columns, title=title)
            caption = f"Wins of {method} over {baseline}, %, by {kind}s."
            yield Plot(_key("wins", method, "over", baseline, kind), caption, draw)


def anytime_plots(results: Evaluation) -> Iterator[Plot]:
    """One plot a network over steps, one over seconds, and one of upper bounds where there are any."""
    colours = {method: colour_of(results, method) for method in results.methods}
    for network in results.networks:
        name = short_name(results, network)
        for kind in KINDS:
            grid = _grid(results, network, kind)
            curves = _gap_curves(results, network, kind, grid)
            if curves:
                look = {"xlabel": f"{kind}s", "title": f"{name}, {kind}s"}
                draw = partial(plot_anytime, grid, curves, colours, **look)
                caption = f"{name}: gap to the best known over {kind}s."
                yield Plot(_key("anytime", network, kind), caption, draw)
        grid = _grid(results, network, "second")
        bands = {method: results.band(network, method, grid) for method in main_methods(results)}
        bands = {method: band for method, band in bands.items() if (band[1] - band[0] > TIE_TOLERANCE).any()}
        if bands:
            caption = f"{name}: mean best score over seconds, and a band up to the mean upper bound."
            draw = partial(plot_bands, grid, bands, colours, title=f"{name}, score and bound")
            yield Plot(_key("bounds", network), caption, draw)


def weight_plots(results: Evaluation) -> Iterator[Plot]:
    """λ curves of every guided method that was measured with several weights."""
    families = {method.partition(" λ=")[0] for method in results.methods if is_variant(results, method)}
    for network in results.networks:
        for family in sorted(families):
            variants = [m for m in results.methods if is_variant(results, m) and m.startswith(f"{family} λ=")]
            baseline = str(results.baselines[variants[0]])
            scores = {
                method.removeprefix(f"{family} "): _step_scores(results, network, method)
                for method in [baseline, *variants]
                if results.runs(network, method)
            }
            if len(scores) > 1:
                title = f"{short_name(results, network)}, {family}"
                draw = partial(plot_weights, results.step_budgets, scores, baseline, title=title)
                caption = f"{title}: mean score ± standard deviation for each λ."
                yield Plot(_key("weights", network, family), caption, draw)


def history_plot(name: str, history: Sequence[Mapping[str, Any]]) -> Plot:
    """The losses of one training."""
    return Plot(_key("training", name), f"Training of {name}.", partial(plot_history, history, title=name))


def _step_scores(results: Evaluation, network: str, method: str) -> Floats:
    """[queries of all seeds, budgets]"""
    return np.array(
        [results.scores(network, method, "step", budget).ravel() for budget in results.step_budgets]
    ).T


def _grid(results: Evaluation, network: str, kind: Kind) -> Floats:
    if kind == "step":
        last = max((run.steps for m in results.methods for run in results.runs(network, m)), default=1)
        return np.unique(np.geomspace(1, max(2, last), GRID_POINTS).round())
    until = results.second_budgets[-1] if results.second_budgets else 0.0
    return np.geomspace(FIRST_SECONDS, until, GRID_POINTS) if until > FIRST_SECONDS else np.empty(0)


def _gap_curves(results: Evaluation, network: str, kind: Kind, grid: Floats) -> dict[str, Floats]:
    """[runs, grid] gaps of every method that has something to show."""
    best = dict(zip(results.queries(network), results.best(network).tolist(), strict=True))
    curves = {}
    for method in main_methods(results) if len(grid) else []:
        runs = results.runs(network, method)
        if not runs or (kind == "step" and not runs[0].step_budgets):
            continue
        targets = np.array([best[run.query] for run in runs])
        curve = gaps(results.curve(network, method, kind, grid), targets[:, None])
        if kind == "step":  # no further than all runs went
            unfinished = [run.steps for run in runs if not run.proved]
            curve[:, grid > min(unfinished, default=np.inf)] = np.nan
        curves[method] = curve
    return curves


def _key(*words: str) -> str:
    return "-".join(words).replace("+", "plus").replace(" ", "-").replace("λ=", "lambda").replace(".", "_")


def write_picture(results: Evaluation, path: Path) -> None:
    """The anytime curves of the first network, over steps and over seconds, as one PNG file."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    plots = list(islice(anytime_plots(results), 2))
    with drawing_style():
        figure = Figure(figsize=(4.6 * len(plots), 3.4), layout="constrained")
        for plot, ax in zip(plots, figure.subplots(1, len(plots), squeeze=False)[0], strict=True):
            plot.draw(ax=ax)
        image = io.BytesIO()
        figure.savefig(image, format="png", dpi=150, facecolor="white")
    write_bytes(path, image.getvalue())
