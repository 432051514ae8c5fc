"""The pictures of the reproduction: λ curves and heatmaps of wins."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from pages import ROOT
from reproduce_results import STEPS, STRATEGIES, Result, label

from beacon.evaluation.metrics import win_percentage

IMAGES = ROOT / "research" / "images"
PANELS_ACROSS = 5


def draw_weights(found: Sequence[Result]) -> None:
    """How far below the best the mean score of every λ is on the validation queries, over steps."""
    shades = {0.0: "#8a8f98", 0.2: "#9ecae1", 0.5: "#4292c6", 0.7: "#2171b5", 1.0: "#08306b"}
    for strategy, name in STRATEGIES.items():
        down = -(-len(found) // PANELS_ACROSS)
        figure, panels = plt.subplots(down, PANELS_ACROSS, figsize=(2.3 * PANELS_ACROSS, 2.1 * down))
        for panel in panels.flat[len(found) :]:
            panel.set_axis_off()
        for panel, result in zip(panels.flat, found, strict=False):
            tuning = result.run["tune"]
            curves = [row for row in tuning["table"] if row["strategy"] == strategy]
            best = max(max(row["mean"]) for row in curves)
            for row in curves:
                said = f"λ {row['weight']:g}, {row['candidates']}" if row["weight"] else "unguided"
                style = ":" if row["candidates"] == "all" else "-"
                shade = shades[row["weight"]]
                panel.plot(
                    tuning["budgets"], best - np.array(row["mean"]), style, color=shade, label=said, lw=1.3
                )
            panel.set_yscale("symlog", linthresh=1e-4 * max(1.0, abs(best)))
            panel.set_title(f"{label(result.network)}, {result.kind}", fontsize=8)
            panel.tick_params(labelsize=7)
        pairs = (zip(*panel.get_legend_handles_labels(), strict=True) for panel in panels.flat)
        lines = {said: line for own in pairs for line, said in own}
        figure.suptitle(f"BEACON-{name}: below the best mean score", fontsize=10)
        figure.legend(
            list(lines.values()), list(lines), loc="lower center", ncol=9, fontsize=7, frameon=False
        )
        figure.tight_layout(rect=(0, 0.03, 1, 0.98))
        figure.savefig(IMAGES / f"lambda-{strategy.replace('+', '')}.png", dpi=130)
        plt.close(figure)


def draw_wins(found: Sequence[Result]) -> None:
    """Win percentages of both guided methods over their baselines: networks down, budgets across."""
    figure, panels = plt.subplots(1, 2, figsize=(7.5, 0.28 * len(found) + 1.2), layout="constrained")
    for panel, (strategy, name) in zip(panels, STRATEGIES.items(), strict=True):
        pairs = [(result.scores[f"beacon-{strategy}"], result.scores[strategy]) for result in found]
        wins = [[win_percentage(a[:, k], b[:, k]) for k in range(len(STEPS))] for a, b in pairs]
        panel.imshow(wins, cmap="RdYlGn", vmin=0, vmax=100, aspect="auto")
        for y, row in enumerate(wins):
            for x, win in enumerate(row):
                panel.text(x, y, f"{win:.0f}", ha="center", va="center", fontsize=7)
        panel.set_xticks(range(len(STEPS)), [f"{steps:,}" for steps in STEPS], fontsize=7)
        panel.set_yticks(range(len(found)), [", ".join(result.own_cells) for result in found], fontsize=7)
        panel.set_title(f"BEACON-{name} over {name}", fontsize=9)
    panels[1].set_yticklabels([])
    figure.savefig(IMAGES / "wins.png", dpi=130)
    plt.close(figure)
