"""Plots of what ``benchmarks/reproduce.py`` left in RUN: who wins, and what λ does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from reproduce_results import PAPER_STEPS, STEPS, Results, common, label

from beacon.evaluation.metrics import win_percentage
from beacon.report.plots import plot_win_heatmap

COLUMNS = 5  # λ curves beside each other


def draw(networks: Sequence[Results], out: Path) -> None:
    """Two heatmaps and two sheets of curves, as SVG."""
    out.mkdir(parents=True, exist_ok=True)
    for strategy in ("greedy", "gls+"):
        name = strategy.replace("+", "")
        guided = common(networks, strategy, f"beacon-{strategy}")
        wins = np.array([_wins(network, strategy) for network in guided])
        rows = [label(network.name) for network in guided]
        title = f"BEACON-{'Greedy' if strategy == 'greedy' else 'GLS+'}: wins, %"
        axes = plot_win_heatmap(wins, rows, [f"{steps:,}" for steps in PAPER_STEPS], title=title)
        _save(axes.figure, out / f"wins-{name}.svg")
        curves = [n for n in guided if "curves" in n.facts(f"tune-{strategy}")]
        if curves:
            _save(weights_sheet(curves, strategy), out / f"weights-{name}.svg")


def _wins(network: Results, strategy: str) -> list[float]:
    base, ours = network.at(strategy, "step"), network.at(f"beacon-{strategy}", "step")
    places = [STEPS.index(steps) for steps in PAPER_STEPS]
    return [win_percentage(ours[:, k], base[:, k]) for k in places]


def weights_sheet(networks: Sequence[Results], strategy: str) -> Any:
    """How far the mean score of every λ and kind of candidates is below the best of them, over steps."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    lines = -(-len(networks) // COLUMNS)
    figure, panels = plt.subplots(lines, COLUMNS, figsize=(3 * COLUMNS, 2.3 * lines), squeeze=False)
    for panel in panels.flat[len(networks) :]:
        panel.set_visible(False)
    for panel, network in zip(panels.flat, networks, strict=False):
        facts = network.facts(f"tune-{strategy}")
        best = max(max(curve["mean"]) for curve in facts["curves"])
        for curve in facts["curves"]:
            panel.plot(facts["steps"], best - np.array(curve["mean"]), **_style(curve))
        panel.set_yscale("symlog", linthresh=1e-4 * max(1.0, abs(best)))
        panel.set_ylim(bottom=0)
        panel.set_title(label(network.name), loc="left", fontsize=9)
        panel.tick_params(labelsize=7)
    handles, names = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="lower center", ncol=5, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    return figure


def _style(curve: dict[str, Any]) -> dict[str, Any]:
    if not curve["weight"]:
        return {"color": "#8a8f98", "label": "unguided", "linewidth": 2}
    dashes = "-" if curve["candidates"] == "improving" else ":"
    shade = {0.2: "#9ecae1", 0.5: "#4292c6", 0.7: "#2171b5", 1.0: "#08306b"}[curve["weight"]]
    name = f"λ {curve['weight']:g}, {curve['candidates']}"
    return {"color": shade, "linestyle": dashes, "label": name, "linewidth": 1.2}


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
