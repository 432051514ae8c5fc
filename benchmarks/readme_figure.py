"""The README's picture and table: guided against unguided search on three published networks.

From the figures of a reproduction (benchmarks/reproduce.py, reproduce_tables.py):

    python benchmarks/readme_figure.py --scores results/scores.csv --out docs/images/guided.svg
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NETWORKS = {"BN_30": "BN_30", "rus_20_40_9_3": "rus_20_40_9_3", "le450_5a_3": "le450_5a_3.wcsp"}
METHODS = {"unguided": "gls+ propagating", "guided": "tuned"}
COLOURS = {"unguided": "#8a8f98", "guided": "#1a9850"}
SHOWN = (100, 500, 1000, 4000)

Scores = Mapping[tuple[str, str], Mapping[int, float]]
Rows = list[dict[str, str]]


def read_rows(path: Path) -> Rows:
    """The rows of a table of scores."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def scores_by_steps(rows: Rows) -> Scores:
    """(network, method) -> steps -> mean best score."""
    scores: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        if row["budget_in"] == "step":
            of_method = scores.setdefault((row["network"], row["method"]), {})
            of_method[int(float(row["budget"]))] = float(row["mean"])
    return scores


def best_means(rows: Rows) -> dict[str, float]:
    """network -> the best mean of all methods and budgets, in steps and in seconds."""
    best: dict[str, float] = {}
    for row in rows:
        best[row["network"]] = max(best.get(row["network"], -math.inf), float(row["mean"]))
    return best


def table(scores: Scores) -> str:
    """The README's table, the better of the two in bold where they differ as they are printed."""
    lines = [f"| network | | {SHOWN[0]} steps | " + " | ".join(f"{steps:,}" for steps in SHOWN[1:]) + " |"]
    lines.append("|---" * (2 + len(SHOWN)) + "|")
    for name, network in NETWORKS.items():
        cells = {label: [_cell(scores[network, m][s]) for s in SHOWN] for label, m in METHODS.items()}
        for k in range(len(SHOWN)):
            unguided, guided = (cells[label][k] for label in METHODS)
            if unguided != guided:
                better = max(METHODS, key=lambda label: float(cells[label][k].replace(",", "")))
                cells[better][k] = f"**{cells[better][k]}**"
        for label, row in cells.items():
            lines.append(f"| {name if label == 'unguided' else ''} | {label} | {' | '.join(row)} |")
    return "\n".join(lines)


def _cell(score: float) -> str:
    return f"{score:.0f}" if abs(score) >= 100 else f"{score:.1f}"


def draw(scores: Scores, best: Mapping[str, float], out: Path) -> None:
    """A panel a network: how far below the best of all methods and budgets, over steps."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(9.6, 2.7), layout="constrained")
    for ax, (name, network) in zip(figure.subplots(1, len(NETWORKS)), NETWORKS.items(), strict=True):
        for label, method in METHODS.items():
            _draw_curve(ax, scores[network, method], best[network], label)
        ax.set(title=name, xlabel="steps", xscale="log")
        ax.set_yscale("symlog", linthresh=1)
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.2)
    figure.axes[0].set_ylabel("log score below the best known")
    figure.axes[0].legend(frameon=False)
    figure.savefig(out, facecolor="white", metadata={"Date": None})


def _draw_curve(ax: Any, curve: Mapping[int, float], best: float, label: str) -> None:
    steps = sorted(curve)
    ax.plot(
        steps, [best - curve[s] for s in steps], color=COLOURS[label], marker="o", markersize=4, label=label
    )


def main() -> None:
    """Print the table and write the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scores", type=Path, default=Path("results/scores.csv"))
    parser.add_argument("--out", type=Path, default=Path("docs/images/guided.svg"))
    arguments = parser.parse_args()
    rows = read_rows(arguments.scores)
    scores = scores_by_steps(rows)
    print(table(scores))
    draw(scores, best_means(rows), arguments.out)


if __name__ == "__main__":
    main()
