"""The README's picture and tables: what is proved, and what a guide adds by steps.

    python benchmarks/readme_figure.py

reads ``results/exact.csv``, ``results/bounds.csv``, ``results/guided`` and ``results/published_gls.parquet``,
rewrites the tables of README.md between their marks, and draws docs/images/guided.svg.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pages import MARKS, ROOT, markdown, rows_of
from reproduce_stages import BUDGETS

PROVED = {
    "alarm": "a patient's monitors",
    "Promedas_60": "medical diagnosis",
    "BN_30": "a Bayesian network of 1,156 variables",
    "pedigree18": "genetic linkage",
}
GRIDS = {"grid40x40.f10": "a grid of 1,600 spins", "grid80x80.f10": "a grid of 6,400 spins"}
NETWORKS = {"BN_32": "BN_32", "pedigree18": "pedigree18", "rus_20_40_9_3": "rus_20_40_9_3"}
METHODS = {"GLS+ as published": "published", "Beacon": "gls+", "Beacon, guided": "beacon-gls+"}
COLOURS = {"GLS+ as published": "#8a8f98", "Beacon": "#4292c6", "Beacon, guided": "#1a9850"}


def proofs_table(results: Path) -> str:
    """Networks of all kinds: how many answers are proved, and after what time."""
    exact, bounds = (
        {row["network"]: row for row in rows_of(results / name)} for name in ("exact.csv", "bounds.csv")
    )
    rows = []
    for name, kind in PROVED.items():
        row = exact[name]
        rows.append([name, kind, f"{row['proved']} of {row['queries']}", f"{float(row['solve_ms']):.2f} ms"])
    for name, kind in GRIDS.items():
        row = bounds[name]
        proved = f"{row['proved']} of {row['queries']}"
        rows.append([name, kind, proved, f"{float(row['median_seconds_to_proof']):.2f} s"])
    return markdown(["model", "", "proved optimal", "median time to the proof"], rows)


def mean_scores(results: Path, network: str, method: str) -> NDArray[np.float64]:
    """[BUDGETS] mean best score of the test queries."""
    if method == "published":
        table = pq.read_table(results / "published_gls.parquet", filters=[("network", "=", network)])
    else:
        path = results / "guided" / f"{network}.own.0.parquet"
        table = pq.read_table(path, filters=[("method", "=", method)])
    steps, scores = (np.array(table[name].to_pylist()) for name in ("steps", "score"))
    return np.array([scores[steps == budget].mean() for budget in BUDGETS])


def draw(results: Path, out: Path) -> None:
    """A panel a network: how far below the best mean of the three, over steps."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(9.6, 2.7), layout="constrained")
    for ax, (name, network) in zip(figure.subplots(1, len(NETWORKS)), NETWORKS.items(), strict=True):
        curves = {label: mean_scores(results, network, method) for label, method in METHODS.items()}
        best = max(curve.max() for curve in curves.values())
        for label, curve in curves.items():
            ax.plot(BUDGETS, best - curve, color=COLOURS[label], marker="o", markersize=4, label=label)
        ax.set(title=name, xlabel="steps")
        ax.set_yscale("symlog", linthresh=1)
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.2)
    figure.axes[0].set_ylabel("mean log score below the best")
    figure.axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(out, facecolor="white", metadata={"Date": None})


def updated(readme: str, results: Path) -> str:
    """The README with its table made anew."""
    return MARKS.sub(lambda mark: f"{mark[1]}\n{proofs_table(results)}\n\n{mark[3]}", readme)


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrite the table and the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    results = parser.parse_args(arguments).results
    readme = ROOT / "README.md"
    readme.write_text(updated(readme.read_text(encoding="utf-8"), results), encoding="utf-8")
    draw(results, ROOT / "docs" / "images" / "guided.svg")


if __name__ == "__main__":
    main()
