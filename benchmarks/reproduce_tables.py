"""Tables of what ``benchmarks/reproduce.py`` left in RUN: Markdown on stdout, the numbers as CSV in --out.

python benchmarks/reproduce_tables.py --run RUN --out results
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from beacon.evaluate.metrics import improvements as improvement_of_each
from beacon.evaluate.metrics import win_percentage
from beacon.evaluate.suite import load_suite

SUITE = Path(__file__).with_name("paper.toml")
STEPS = (100, 200, 500, 1000, 2000, 4000)
PAPER_STEPS = (500, 1000, 2000, 4000)
GUIDED = (
    ("beacon-gls+", "every step"),
    ("refresh 50", "every 50 steps"),
    ("refresh 0", "once"),
    ("attention start", "attention start"),
    ("fast start", "fast start"),
    ("tuned", "tuned default"),
)
TIMED = (
    "gls+",
    "gls+ propagating",
    "auto",
    "attention start",
    "fast start",
    "fast start propagating",
    "tuned",
)
WITHIN = 1e-3  # of the best known score

Row = dict[str, Any]


class Results:
    """The runs of one network on its test queries, by method and query."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        rows: dict[tuple[str, int], Row] = {}
        for path in sorted(folder.glob("results/**/*.parquet")):
            for row in pq.read_table(path).to_pylist():
                rows[row["method"], row["query"]] = row
        self.queries = sorted({query for _, query in rows})
        methods = sorted({method for method, _ in rows})
        self.rows = {
            method: [rows[method, query] for query in self.queries]
            for method in methods
            if all((method, query) in rows for query in self.queries)
        }

    def has(self, *methods: str) -> bool:
        return all(method in self.rows for method in methods)

    def at(self, method: str, kind: str) -> np.ndarray:
        """[queries, budgets] the best scores; kind is step or second."""
        return np.array([row[f"{kind}_scores"] for row in self.rows[method]])

    def after(self, method: str) -> np.ndarray:
        """[queries, budgets] the best score known after so many seconds, set-up and scoring included.

        Before that nothing better is known than the random start, at time 0.
        """
        rows = []
        for row, plain in zip(self.rows[method], self.rows["gls+"], strict=True):
            places = np.searchsorted(row["trace_seconds"], row["second_budgets"], side="right") - 1
            known = np.array(row["trace_scores"])[np.maximum(places, 0)]
            rows.append(np.where(places < 0, plain["trace_scores"][0], known))
        return np.array(rows)

    def budgets(self, method: str, kind: str) -> list[float]:
        return list(self.rows[method][0][f"{kind}_budgets"])

    def facts(self, name: str) -> Row:
        facts: Row = json.loads((self.folder / f"{name}.json").read_text())
        return facts

    def best_known(self) -> np.ndarray:
        """[queries] the best score of all methods, a zero factor counting as in the runs."""
        return np.max([[row["score"] for row in rows] for rows in self.rows.values()], axis=0)

    def seconds_to_target(self, method: str) -> np.ndarray:
        """[queries] time until the score was within 0.1 % of the best known; infinite if never."""
        times = []
        for row, best in zip(self.rows[method], self.best_known(), strict=True):
            scores = np.array(row["trace_scores"])
            seconds = row["trace_seconds"]
            reached = np.flatnonzero(scores >= best - WITHIN * max(1.0, abs(best)))
            times.append(seconds[reached[0]] if len(reached) else np.inf)
        return np.array(times)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def training(networks: Sequence[Results]) -> str:
    rows = []
    for network in networks:
        attention, fast, frequency = (network.facts(name) for name in ("attention", "fast", "frequency"))
        guides = [
            f"{facts['validation_loss']:.4f} / {facts['alpha']:.3f}" for facts in (attention, fast, frequency)
        ]
        epochs = f"{len(attention['history'])}, {attention['seconds']:.0f} s"
        rows.append([network.name, *guides, epochs, f"{fast['seconds']:.1f} s"])
    header = ("network", "attention: loss / α", "fast: loss / α", "frequency: loss / α")
    return table([*header, "attention: epochs, time", "fast: time"], rows)


def _scores(values: np.ndarray) -> list[str]:
    return [f"{value:.1f}" for value in values.mean(axis=0)]


def by_steps(networks: Sequence[Results]) -> str:
    rows = []
    for network in networks:
        base = network.at("gls+", "step")
        rows.append([f"**{network.name}**", "gls+", *_scores(base)])
        for method, label in GUIDED:
            if network.has(method):
                scores = network.at(method, "step")
                wins = [win_percentage(scores[:, k], base[:, k]) for k in range(len(STEPS))]
                cells = [f"{score} ({win:.0f})" for score, win in zip(_scores(scores), wins, strict=True)]
                rows.append(["", label, *cells])
    return table(["network", "method", *(f"{steps:,}" for steps in STEPS)], rows)


def by_seconds(networks: Sequence[Results]) -> str:
    rows = []
    for network in networks:
        for k, method in enumerate(method for method in TIMED if network.has(method)):
            rows.append([f"**{network.name}**" if k == 0 else "", method, *_scores(network.after(method))])
    marks = [f"{1000 * mark:g} ms" for mark in networks[0].budgets("gls+", "second")]
    return table(["network", "method", *marks], rows)


def time_to_target(networks: Sequence[Results]) -> str:
    rows = []
    for network in networks:
        strategy = network.facts("tuned")["strategy"]
        baseline = "gls+ propagating" if strategy == "gls+" else strategy
        if not network.has("tuned", baseline):
            continue
        plain, tuned = network.seconds_to_target(baseline), network.seconds_to_target("tuned")
        ratio = np.median(tuned) / np.median(plain)
        cells = [f"{1000 * np.median(times):.2f} ms" for times in (plain, tuned)]
        shares = [f"{np.isfinite(times).mean():.0%}" for times in (plain, tuned)]
        rows.append([network.name, strategy, cells[0], shares[0], cells[1], shares[1], f"{ratio:.2f}"])
    header = [
        "network",
        "strategy",
        "unguided, median",
        "reached",
        "tuned default, median",
        "reached",
        "ratio",
    ]
    return table(header, rows)


def improvements(networks: Sequence[Results], strategy: str, out: Path) -> str:
    """Improvement over the baseline beside the published figure."""
    suite = {network.file.removesuffix(".uai"): network for network in load_suite(SUITE).networks}
    rows, numbers = [], []
    for network in networks:
        if not network.has(strategy, f"beacon-{strategy}"):
            continue
        base, ours = network.at(strategy, "step"), network.at(f"beacon-{strategy}", "step")
        entry = suite[network.name]
        figures = entry.published["improvement"][f"beacon-{strategy}"]
        published = dict(zip(entry.published["steps"], figures, strict=True))
        cells = []
        for steps in PAPER_STEPS:
            k = STEPS.index(steps)
            mine = float(np.mean(improvement_of_each(ours[:, k], base[:, k])))
            win = win_percentage(ours[:, k], base[:, k])
            theirs = published.get(steps)
            cells.append(f"{mine:+.1f} ({win:.0f}) / {'–' if theirs is None else f'{theirs:+.1f}'}")
            numbers.append([network.name, entry.short_name, strategy, steps, mine, win, theirs])
        rows.append([entry.short_name or entry.name, *cells])
    header = ["network", "paper_name", "strategy", "steps", "improvement_pct", "win_pct", "published_pct"]
    write_csv(out / f"improvement-{strategy.replace('+', '')}.csv", header, numbers)
    return table(["network", *(f"{steps:,}" for steps in PAPER_STEPS)], rows)


def steps_and_drift(networks: Sequence[Results]) -> str:
    """Time per step, α, and the bound of the convergence theorem."""
    rows = []
    for network in networks:
        for strategy in ("greedy", "gls+"):
            if not network.has(strategy, f"beacon-{strategy}"):
                continue
            shards = [network.facts(f"drift-{strategy}-{shard}") for shard in range(4)]
            moves, closer, first, hits = (
                np.concatenate([shard[name] for shard in shards])
                for name in ("moves", "closer", "start_distance", "hitting_step")
            )
            alpha = closer.sum() / max(1, moves.sum())
            bound = f"{first.mean() / (2 * alpha - 1):.0f}" if alpha > 0.5 else "–"
            reached = hits >= 0
            hitting = f"{hits[reached].mean():.0f} ({reached.mean():.0%})" if reached.any() else "–"
            times = [_per_step(network.rows[method]) for method in (strategy, f"beacon-{strategy}")]
            rows.append(
                [network.name, strategy, *times, f"{alpha:.3f}", f"{first.mean():.0f}", bound, hitting]
            )
    header = ["network", "baseline", "its step", "guided step", "α", "h₀", "h₀/(2α−1)", "reached x̂ at step"]
    return table(header, rows)


def _per_step(rows: Sequence[Row]) -> str:
    times = np.array([row["seconds"] / row["steps"] for row in rows if row["steps"]])
    unit, name = (1e3, "ms") if times.mean() > 1e-3 else (1e6, "µs")
    return f"{unit * times.mean():.2f} ± {unit * times.std():.2f} {name}"


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder for CSV files")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    networks = [
        Results(folder) for folder in sorted(args.run.iterdir()) if (folder / "attention.json").exists()
    ]
    networks = [network for network in networks if network.has("gls+", "greedy")]
    trained = [network for network in networks if (network.folder / "fast.json").exists()]
    sections = {
        "Training": training(trained),
        "Mean best score by steps (win % against gls+)": by_steps(networks),
        "Mean best score by time": by_seconds(networks),
        "Time to 0.1 % of the best known": time_to_target(trained),
        "BEACON-Greedy over Greedy: improvement % (win %) / published": improvements(
            networks, "greedy", args.out
        ),
        "BEACON-GLS+ over GLS+: improvement % (win %) / published": improvements(networks, "gls+", args.out),
        "Steps and drift": steps_and_drift(networks),
    }
    write_scores(networks, args.out)
    for title, text in sections.items():
        print(f"## {title}\n\n{text}\n")


if __name__ == "__main__":
    main()
