"""Files of what ``benchmarks/reproduce.py`` left in RUN: numbers as CSV, and how they were made."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reproduce_results import Results


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(
            [f"{value:.6g}" if isinstance(value, float) else value for value in row] for row in rows
        )


def write_scores(networks: Sequence[Results], out: Path) -> None:
    """Mean and standard deviation of the best scores of every method at every budget."""
    rows = []
    for network in networks:
        for method in network.rows:
            for kind in ("step", "second"):
                scores = network.at(method, kind) if kind == "step" else network.after(method)
                for k, budget in enumerate(network.budgets(method, kind)):
                    column = scores[:, k]
                    rows.append(
                        [network.name, method, kind, budget, column.mean(), column.std(), len(column)]
                    )
    write_csv(
        out / "scores.csv", ["network", "method", "budget_in", "budget", "mean", "std", "queries"], rows
    )


def write_weights(networks: Sequence[Results], out: Path) -> None:
    """Mean and standard deviation over validation queries for every λ and kind of candidates."""
    rows = []
    for network in networks:
        for strategy in ("greedy", "gls+"):
            path = network.folder / f"tune-{strategy}.json"
            facts = json.loads(path.read_text()) if path.exists() else {}
            for curve in facts.get("curves", ()):
                own = [network.name, strategy, curve["weight"], curve["candidates"] or ""]
                for steps, mean, std in zip(facts["steps"], curve["mean"], curve["std"], strict=True):
                    rows.append([*own, steps, mean, std])
    header = ["network", "strategy", "weight", "candidates", "steps", "mean", "std"]
    write_csv(out / "weights.csv", header, rows)


def write_run(networks: Sequence[Results], out: Path) -> None:
    """How every stage of every network was run: settings, seconds, hardware, versions."""
    facts = {}
    for network in networks:
        stages = {path.stem.removeprefix("run-"): path for path in sorted(network.folder.glob("run-*.json"))}
        facts[network.name] = {stage: json.loads(path.read_text()) for stage, path in stages.items()}
        facts[network.name]["prepared"] = network.facts("prepared")
    (out / "run.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
