"""Every query by itself: tables that open, and the data behind the curves that a click draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.metrics import gaps
from beacon.evaluation.records import Record
from beacon.report.naming import colour_of, main_methods, short_name
from beacon.report.tables import Cell, Table, label, number, written

MAX_POINTS = 24  # of each curve
MAX_CURVES = 3000  # of a page; the queries beyond have a row and no curve
DIGITS = 7


def query_table(results: Evaluation, network: str) -> Table:
    """One row a query and seed: the best known score, and every method's gap to it at the end."""
    methods = [method for method in main_methods(results) if results.runs(network, method)]
    best = dict(zip(results.queries(network), results.best(network).tolist(), strict=True))
    rows = []
    for query in results.queries(network):
        for seed in results.seeds:
            runs = [results.record(network, method, seed, query) for method in methods]
            known = [run for run in runs if run is not None]
            if known:
                cells = [_gap_cell(run, best[query]) for run in runs]
                free = number(known[0].num_free, 0)
                rows.append((label(str(query)), label(str(seed)), free, number(best[query], 4), *cells))
    return Table(
        f"queries-{network}",
        short_name(results, network),
        ("query", "seed", "free variables", "best known score", *methods),
        tuple(rows),
        "Gaps at the end of each run, %. A click on a row draws its curves; “*” marks a proved optimum.",
        num_labels=2,
    )


def _gap_cell(run: Record | None, best: float) -> Cell:
    if run is None:
        return number(np.nan)
    gap = float(gaps([run.score], [best])[0])
    proved, zeros = "*" if run.proved else "", f"({run.zeros} zeros)" if run.zeros else ""
    shade = None if not np.isfinite(gap) else (0.6 if gap < 1e-9 else -min(1.0, gap / 10))
    value = gap if np.isfinite(gap) else str(gap)
    return Cell(written(gap, 3 if gap < 100 else 0) + proved, value, shade=shade, detail=zeros)


def curve_data(results: Evaluation) -> dict[str, Any]:
    """What the page's script draws: per network, query and seed the improvements of every method."""
    methods = main_methods(results)
    room = MAX_CURVES // max(1, len(methods) * len(results.seeds) * len(results.networks))
    networks = {}
    for network in results.networks:
        shown = results.queries(network)[:room]
        networks[network] = {
            f"{query}/{seed}": [_curve(results.record(network, method, seed, query)) for method in methods]
            for query in shown
            for seed in results.seeds
        }
    return {
        "methods": methods,
        "colours": [colour_of(results, method) for method in methods],
        "networks": networks,
    }


def _curve(run: Record | None) -> dict[str, Any] | None:
    """Steps, seconds and scores of a run's improvements, thinned; null without any."""
    if run is None or not run.trace_scores:
        return None
    places = np.unique(np.linspace(0, len(run.trace_scores) - 1, MAX_POINTS).round().astype(int))
    return {
        "steps": [run.trace_steps[k] for k in places],
        "seconds": [_short(run.trace_seconds[k], 4) for k in places],
        "scores": [_short(run.trace_scores[k], DIGITS) for k in places],
        "end": [run.steps, _short(run.setup_seconds + run.seconds, 4)],
    }


def _short(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
