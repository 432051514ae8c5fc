"""The tables of the reproduction and of its training, made from results/ alone.

    python benchmarks/reproduce_tables.py

rewrites what stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->`` on PAGES, and draws the
λ curves and heatmaps of wins into research/images. ``results/guided`` holds two files of every job of
``benchmarks/reproduce.py``: JOB.parquet (scores by method, query and steps) and JOB.json (how they were
made); ``results/single_steps.json`` the time of a guided step of one query alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
from clock_tables import clock_table, guided_table, reached_table
from numpy.typing import NDArray
from optima import table as optima_table
from pages import ROOT, markdown, rows_of, updated

from beacon.evaluation.metrics import bootstrap_interval, improvements, win_percentage
from beacon.evaluation.problem import load_suite

PAGES = ("docs/reproduction.md", "research/reproduction.md", "research/training.md")
IMAGES = ROOT / "research" / "images"
STEPS = (500, 1000, 2000, 4000)
STRATEGIES = {"greedy": "Greedy", "gls+": "GLS+"}
KINDS = {"own": "own chains", "shared": "one chain", "exact": "ancestral"}
ANCESTRAL = ("BN_", "Promedas_", "or_chain_")  # Bayesian networks: sampled without chains
TWINS = {"rus_50_100_6_1": "rus_50_100_4_1", "rus_100_200_3_3": "rus_100_200_1_1"}
"""Rows of the paper whose public files are those of another row, byte for byte."""
PANELS_ACROSS = 5


@dataclass(frozen=True, eq=False)
class Result:
    """What one job has left."""

    run: dict[str, Any]
    scores: dict[str, NDArray[np.float64]]
    """[queries, STEPS] of each method."""
    zeros: dict[str, NDArray[np.int64]]
    """[queries, STEPS] zero factors left."""

    @classmethod
    def load(cls, path: Path) -> Result:
        table = pq.read_table(path.with_suffix(".parquet"))
        method, steps = (np.array(table[name].to_pylist()) for name in ("method", "steps"))
        score, zeros = (np.array(table[name].to_pylist()) for name in ("score", "zeros"))
        order = np.argsort(np.array(table["query"].to_pylist()), kind="stable")

        def by_method(values: NDArray[Any]) -> dict[str, NDArray[Any]]:
            places = {
                name: [order[(method[order] == name) & (steps[order] == budget)] for budget in STEPS]
                for name in sorted(set(method.tolist()))
            }
            return {name: np.stack([values[own] for own in columns], 1) for name, columns in places.items()}

        return cls(json.loads(path.read_text()), by_method(score), by_method(zeros))

    @property
    def network(self) -> str:
        name: str = self.run["network"]
        return name

    @property
    def job(self) -> str:
        return f"{self.network}.{self.run['queries']}.{self.run['seed']}"

    @property
    def kind(self) -> str:
        return KINDS["exact" if self.network.startswith(ANCESTRAL) else self.run["queries"]]

    @property
    def own_cells(self) -> list[str]:
        return [label(self.network), self.kind]

    def improvements(self, strategy: str) -> NDArray[np.float64]:
        """[queries, STEPS] of the guided strategy over the strategy by itself, in percent."""
        return improvements(self.scores[f"beacon-{strategy}"], self.scores[strategy])

    def ratios_of_means(self, strategy: str) -> NDArray[np.float64]:
        """[STEPS] improvement of the mean score over all queries, in percent."""
        ours, base = (self.scores[name].mean(axis=0) for name in (f"beacon-{strategy}", strategy))
        ratios: NDArray[np.float64] = 100 * (ours - base) / np.abs(base)
        return ratios


@cache
def suite() -> dict[str, Any]:
    path = ROOT / "benchmarks" / "paper.toml"
    return {network.file.removesuffix(".uai"): network for network in load_suite(path)}


def label(name: str) -> str:
    """The paper's name of a network, with a star if another one stands in for it."""
    network = suite()[name]
    return (network.short_name or network.name) + ("*" if network.stands_in_for else "")


def load_results(results: Path) -> list[Result]:
    """All jobs, in the order of the paper's networks."""
    order = list(suite())
    found = [Result.load(path) for path in sorted((results / "guided").glob("*.json"))]
    return sorted(
        found, key=lambda result: (order.index(result.network), result.run["queries"], result.run["seed"])
    )


def first_seed(found: Sequence[Result]) -> list[Result]:
    """The jobs that all tables but that of the seeds are made of."""
    return [result for result in found if result.run["seed"] == 0]


def improvement_table(found: Sequence[Result], strategy: str) -> str:
    """Mean improvement with its 95 % interval, win percentage, and the paper's improvement."""
    rows = []
    for name, result in with_twins(found):
        published = suite()[name].published["improvement"][f"beacon-{strategy}"]
        each, cells = result.improvements(strategy), []
        for k, theirs in enumerate(published):
            low, high = bootstrap_interval(each[:, k])
            wins = win_percentage(result.scores[f"beacon-{strategy}"][:, k], result.scores[strategy][:, k])
            cells.append(f"{each[:, k].mean():+.1f} [{low:+.1f}, {high:+.1f}] ({wins:.0f}) / {theirs:+.1f}")
        twin = "" if name == result.network else f" (= {label(result.network)})"
        rows.append([label(name) + twin, result.kind, *cells])
    return markdown(["network", "queries", *(f"{steps:,}" for steps in STEPS)], rows)


def with_twins(found: Sequence[Result]) -> list[tuple[str, Result]]:
    """(row of the paper, result): a file that stands in two rows gives both its figures."""
    of_row = [(result.network, result) for result in found]
    of_row += [(name, result) for name, same in TWINS.items() for result in found if result.network == same]
    order = list(suite())
    return sorted(of_row, key=lambda row: order.index(row[0]))


def chains_table(found: Sequence[Result]) -> str:
    """BEACON-Greedy on the networks that were run with both kinds of queries, beside the paper's figures."""
    by_kind = {kind: {r.network: r for r in found if r.run["queries"] == kind} for kind in ("own", "shared")}
    rows = []
    for name, shared in by_kind["shared"].items():
        pair = [by_kind["own"][name], shared]
        means = [_signed(result.improvements("greedy").mean(axis=0)) for result in pair]
        rows.append([label(name), *means, _signed(suite_improvements([name], "greedy")[0])])
    return markdown(["network", "a chain for each query", "one chain for all", "the paper"], rows)


def seeds_table(found: Sequence[Result]) -> str:
    """Mean improvement of networks that were run again with other seeds: queries, starts and training."""
    rows = []
    for name in dict.fromkeys(result.network for result in found if result.run["seed"] > 0):
        seeds = [result for result in found if result.network == name and result.run["queries"] == "own"]
        for strategy, method in STRATEGIES.items():
            means = np.array([result.improvements(strategy).mean(axis=0) for result in seeds])
            cells = [" / ".join(f"{mean:+.1f}" for mean in means[:, k]) for k in range(len(STEPS))]
            rows.append([label(name), f"BEACON-{method}", *cells])
    return markdown(["network", "method", *(f"{steps:,}" for steps in STEPS)], rows)


def counts_table(found: Sequence[Result]) -> str:
    """On how many of the paper's rows the guided search is ahead, one kind of queries a row."""
    rows = []
    own = [(name, result) for name, result in with_twins(found) if result.run["queries"] == "own"]
    for strategy, method in STRATEGIES.items():
        means = np.array([result.improvements(strategy).mean(axis=0) for _, result in own])
        ratios = np.array([result.ratios_of_means(strategy) for _, result in own])
        published = suite_improvements([name for name, _ in own], strategy)
        for said, ahead in {
            "mean improvement above 0": means > 0,
            "ratio of means above 0": ratios > 0,
            "ratio of means below −5 %": ratios < -5,
            "the paper's improvement above 0": published > 0,
        }.items():
            rows.append(
                [f"BEACON-{method}", said, *(f"{count} of {len(own)}" for count in ahead.sum(axis=0))]
            )
    return markdown(["method", "rows with", *(f"{steps:,}" for steps in STEPS)], rows)


def suite_improvements(names: Sequence[str], strategy: str) -> NDArray[np.float64]:
    """[names, STEPS] as published."""
    return np.array([suite()[name].published["improvement"][f"beacon-{strategy}"] for name in names])


def robust_table(found: Sequence[Result], strategy: str) -> str:
    """What does not explode where a best score is near 0."""
    rows = []
    for result in found:
        means = result.ratios_of_means(strategy)
        medians = np.median(result.improvements(strategy), axis=0)
        left = [(result.zeros[name] > 0).sum(axis=0) for name in (f"beacon-{strategy}", strategy)]
        rows.append(
            [*result.own_cells, _signed(means), _signed(medians), _slashed(left[0]), _slashed(left[1])]
        )
    header = ["network", "queries", "ratio of means", "median", "zeros left, guided", "zeros left, unguided"]
    return markdown(header, rows)


def published_gls_table(found: Sequence[Result], path: Path) -> str:
    """Our GLS+ and BEACON-GLS+ over GLS+ as it was published, on the same queries from the same starts."""
    table = pq.read_table(path, filters=[("steps", "in", STEPS)]).to_pydict()
    scores: dict[str, NDArray[np.float64]] = {}
    for name, query, steps, score in zip(
        table["network"], table["query"], table["steps"], table["score"], strict=True
    ):
        of_network = scores.setdefault(name, np.full((100, len(STEPS)), np.nan))
        of_network[query, STEPS.index(steps)] = score
    rows = []
    for result in found:
        if result.network not in scores or result.run["queries"] != "own":
            continue
        base, cells = scores[result.network], []
        for method in ("gls+", "beacon-gls+"):
            ours = result.scores[method]
            means = 100 * (ours.mean(axis=0) - base.mean(axis=0)) / np.abs(base.mean(axis=0))
            wins = [win_percentage(ours[:, k], base[:, k]) for k in range(len(STEPS))]
            cells += [_signed(means), " / ".join(f"{win:.0f}" for win in wins)]
        rows.append([label(result.network), *cells])
    header = ["network", "our GLS+: ratio of means", "wins", "BEACON-GLS+: ratio of means", "wins"]
    return markdown(header, rows)


def _signed(values: NDArray[np.float64]) -> str:
    return " / ".join(f"{value:+.1f}" for value in values)


def _slashed(values: NDArray[np.int64]) -> str:
    return " / ".join(f"{value}" for value in values)


def training_table(found: Sequence[Result]) -> str:
    """How the networks were trained, and how well they predict."""
    rows = []
    for result in found:
        facts = result.run["train"]
        best = facts["history"][facts["best_epoch"] - 1]
        losses = [f"{loss:.3f}" if loss is not None else "–" for loss in best["validation_loss_by_distance"]]
        epochs = f"{facts['best_epoch']} of {len(facts['history'])}"
        speed = [f"{facts['seconds']:.0f} s", f"{facts['tflops_per_second']:.0f}"]
        cells = [f"{best['validation_loss']:.3f}", " / ".join(losses), f"{best['top_move_accuracy']:.3f}"]
        rows.append([*result.own_cells, *cells, epochs, *speed])
    header = ["validation loss", "by distance", "best move right", "best epoch", "training", "TFLOP/s"]
    return markdown(["network", "queries", *header], rows)


class Drift(NamedTuple):
    """How the searches of a guided strategy moved towards the reference."""

    alpha: float
    """The share of moves that came closer to it."""
    start: float
    """Mean distance of the starts."""
    bound: float
    """The theorem's bound on the expected hitting time; infinite where α is not above ½."""
    waited: float
    """Mean step at which the reference was reached; where it was not, all steps count: a lower bound."""
    hits: NDArray[np.int64]
    """When it was reached, of the searches that did."""

    @classmethod
    def of(cls, result: Result, strategy: str) -> Drift:
        found = {fact: np.array(values) for fact, values in result.run["test"]["drift"][strategy].items()}
        alpha, start = found["closer"].sum() / found["moves"].sum(), found["start_distance"].mean()
        bound = start / (2 * alpha - 1) if alpha > 0.5 else np.inf
        reached = found["hitting_step"] >= 0
        waited = np.where(reached, found["hitting_step"], int(result.run["settings"]["steps"])).mean()
        return cls(alpha, start, bound, waited, found["hitting_step"][reached])


def steps_table(found: Sequence[Result], single: Mapping[str, Mapping[str, float]]) -> str:
    """λ, time per step, α, and how often and how late the reference was reached."""
    rows = []
    for result in found:
        for strategy, name in STRATEGIES.items():
            use, test = result.run["tune"]["chosen"][strategy], result.run["test"]
            drift = Drift.of(result, strategy)
            bound = f"{drift.bound:.0f}" if np.isfinite(drift.bound) else "–"
            reached = f"{len(drift.hits)} of {len(test['drift'][strategy]['moves'])}"
            reached += f", median {np.median(drift.hits):.0f}" if len(drift.hits) else ""
            own = f"{1e6 * test['unguided_seconds_per_step'][strategy]:.1f} µs"
            guided = f"{1e6 * test['seconds_per_step']:.0f} µs"
            alone = single.get(result.job, {}).get(strategy)
            times = [own, guided, f"{1e3 * alone:.1f} ms" if alone else "–"]
            chosen = f"{use['weight']:g}, {use['candidates']}"
            theorem = [f"{drift.alpha:.3f}", f"{drift.start:.0f}", bound, f"{drift.waited:.0f}", reached]
            rows.append([*result.own_cells, name, chosen, *times, *theorem])
    header = [
        "baseline",
        "λ, candidates",
        "its step",
        "guided step",
        "alone",
        "α",
        "h₀",
        "h₀/(2α−1)",
        "mean steps to x̂, at least",
        "x̂ reached",
    ]
    return markdown(["network", "queries", *header], rows)


def theorem_table(found: Sequence[Result]) -> str:
    """On how many runs the searches needed longer than the theorem's bound."""
    rows = []
    for strategy, name in STRATEGIES.items():
        drifts = [Drift.of(result, strategy) for result in found]
        bounded = [drift for drift in drifts if np.isfinite(drift.bound)]
        longer = sum(drift.waited > drift.bound for drift in bounded)
        rows.append([f"BEACON-{name}", str(len(drifts)), str(len(bounded)), str(longer)])
    return markdown(
        ["method", "networks and kinds of queries", "α above ½", "of these, bound exceeded"], rows
    )


def tables(results: Path) -> dict[str, Callable[[], str]]:
    """Every table by its name on the pages."""
    jobs = load_results(results)
    found = first_seed(jobs)
    made: dict[str, Callable[[], str]] = {
        "training": lambda: training_table(found),
        "steps": lambda: steps_table(found, json.loads((results / "single_steps.json").read_text())),
        "theorem": lambda: theorem_table(found),
        "counts": lambda: counts_table(found),
        "chains": lambda: chains_table(found),
        "seeds": lambda: seeds_table(jobs),
        "published gls+": lambda: published_gls_table(found, results / "published_gls.parquet"),
        "optima": optima_table,
    }
    for name, table in {"": clock_table, " reached": reached_table, " guided": guided_table}.items():
        made[f"clock{name}"] = lambda table=table: table(rows_of(results / "clock.csv"), suite())  # type: ignore[misc]
    for strategy in STRATEGIES:
        made[f"improvement {strategy}"] = lambda s=strategy: improvement_table(found, s)  # type: ignore[misc]
        made[f"robust {strategy}"] = lambda s=strategy: robust_table(found, s)  # type: ignore[misc]
    return made


def draw_weights(found: Sequence[Result], folder: Path) -> None:
    """How far below the best the mean score of every λ is on the validation queries, over steps."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

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
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.suptitle(f"BEACON-{name}: below the best mean score", fontsize=10)
        figure.legend(handles, labels, loc="lower center", ncol=9, fontsize=7, frameon=False)
        figure.tight_layout(rect=(0, 0.03, 1, 0.98))
        figure.savefig(folder / f"lambda-{strategy.replace('+', '')}.png", dpi=130)
        plt.close(figure)


def draw_wins(found: Sequence[Result], folder: Path) -> None:
    """Win percentages of both guided methods over their baselines: networks down, budgets across."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

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
    figure.savefig(folder / "wins.png", dpi=130)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    args = parser.parse_args()
    made = tables(args.results)
    for page in PAGES:
        path = ROOT / page
        path.write_text(updated(path.read_text(encoding="utf-8"), made), encoding="utf-8")
    found = first_seed(load_results(args.results))
    draw_weights(found, IMAGES)
    draw_wins(found, IMAGES)


if __name__ == "__main__":
    main()
