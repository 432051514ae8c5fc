"""Drift towards the best known assignment: α, and the theorem's bound beside what was seen."""

from __future__ import annotations

import numpy as np

from beacon.evaluation.bootstrap import Interval, bootstrap_interval
from beacon.evaluation.drift import alpha, expected_hitting_bound
from beacon.evaluation.results import Results
from beacon.report.naming import main_methods, short_name
from beacon.report.tables import Cell, Table, label, number, written


def followed_methods(results: Results) -> list[str]:
    """The methods whose drift was measured."""
    known = {row["method"] for row in results.drift}
    return [method for method in main_methods(results) if method in known]


def shares(results: Results, network: str, method: str) -> list[float]:
    """α of every search that was followed and made a move."""
    rows = [row for row in results.drift if (row["network"], row["method"]) == (network, method)]
    return [alpha(row["moves"], row["closer"]) for row in rows if row["moves"]]


def drift_table(results: Results) -> Table:
    """One row for every network and method that was followed."""
    rows = [
        _row(results, network, method)
        for network in results.networks
        for method in followed_methods(results)
        if shares(results, network, method)
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


def _row(results: Results, network: str, method: str) -> tuple[Cell, ...]:
    rows = [row for row in results.drift if (row["network"], row["method"]) == (network, method)]
    every = shares(results, network, method)
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
