"""Drift towards the best known assignment: α, and the theorem's bound beside what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from drift import alpha, expected_hitting_bound

from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.metrics import Interval, bootstrap_interval
from beacon.report.drawings import Plot
from beacon.report.plots import INK, drawing_style, new_axes
from beacon.report.tables import Cell, Table, colour_of, label, main_methods, number, short_name, written

Rows = Sequence[Mapping[str, Any]]


def followed_methods(results: Evaluation, drift: Rows) -> list[str]:
    """The methods whose drift was measured."""
    known = {row["method"] for row in drift}
    return [method for method in main_methods(results) if method in known]


def shares(drift: Rows, network: str, method: str) -> list[float]:
    """α of every search that was followed and made a move."""
    rows = [row for row in drift if (row["network"], row["method"]) == (network, method)]
    return [alpha(row["moves"], row["closer"]) for row in rows if row["moves"]]


def drift_table(results: Evaluation, drift: Rows) -> Table:
    """One row for every network and method that was followed."""
    rows = [
        _row(results, drift, network, method)
        for network in results.networks
        for method in followed_methods(results, drift)
        if shares(drift, network, method)
    ]
    return Table(
        "drift",
        "Drift towards the best known assignment",
        ("network", "method", "α", "h₀", "reached, %", "steps to reach it", "bound h₀/(2α−1)"),
        tuple(rows),
        "α is the share of moves, made at a distance above 0, that come closer (restarts are no moves). The "
        "bound is on the expected number of moves until the first arrival, were α the same at every state; "
        "“steps to reach it” is the mean over the searches that arrived.",
        num_labels=2,
    )


def _row(results: Evaluation, drift: Rows, network: str, method: str) -> tuple[Cell, ...]:
    rows = [row for row in drift if (row["network"], row["method"]) == (network, method)]
    every = shares(drift, network, method)
    interval: Interval = bootstrap_interval(every)
    mean = float(np.mean(every))
    hits = [row for row in rows if row["hitting_step"] is not None]
    steps = float(np.mean([row["hitting_step"] for row in hits])) if hits else np.nan
    distance = float(np.mean([row["start_distance"] for row in rows]))
    return (
        label(short_name(results, network)),
        label(method),
        Cell(written(mean, 3), mean, detail=f"[{written(interval.low, 3)}, {written(interval.high, 3)}]"),
        number(distance, 1),
        number(100 * len(hits) / len(rows), 0),
        number(steps, 0),
        number(expected_hitting_bound(distance, mean), 0),
    )


def share_plot(results: Evaluation, drift: Rows) -> Plot:
    """α of all methods on all networks."""
    methods = followed_methods(results, drift)
    every = {
        method: [_mean(shares(drift, network, method)) for network in results.networks] for method in methods
    }
    names = [short_name(results, network) for network in results.networks]
    colours = {method: colour_of(results, method) for method in methods}
    caption = "α, the share of moves that come closer to the best known assignment."
    return Plot("alpha", caption, partial(plot_shares, names, every, colours))


def plot_shares(
    networks: Sequence[str], every: Mapping[str, Sequence[float]], colours: Mapping[str, str], ax: Any = None
) -> Any:
    """α of each method on each network, with the line of one half above which the theorem speaks."""
    with drawing_style():
        ax = ax if ax is not None else new_axes(4.4, 0.9 + 0.32 * len(networks))
        ax.axvline(0.5, color=INK, linewidth=0.8, linestyle="--")
        for method, values in every.items():
            ax.plot(values, range(len(networks)), "o", color=colours[method], label=method, markersize=5)
        ax.set_yticks(range(len(networks)), networks)
        ax.invert_yaxis()
        ax.set_xlabel("α: share of moves towards the best known")
        if every:
            ax.legend(labelcolor=INK)
    return ax


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else np.nan
