"""The tables of the reproduction and of its training, made from results/ alone.

    python benchmarks/reproduce_tables.py

rewrites what stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->`` on PAGES, and draws the
λ curves and heatmaps of wins into research/images. ``results/single_steps.json`` holds the time of a guided
step of one query alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from clock_tables import clock_table, guided_table, reached_table
from numpy.typing import NDArray
from optima import table as optima_table
from pages import ROOT, markdown, rows_of, updated
from reproduce_pictures import draw_weights, draw_wins
from reproduce_results import (
    STEPS,
    STRATEGIES,
    Result,
    first_seed,
    label,
    load_results,
    published_improvements,
    row_cells,
    scores_by,
    suite,
    with_twins,
)

from beacon.evaluation.metrics import bootstrap_interval, win_percentage

CONTROLS = {"constant": "all the same", "random": "random", "frequencies": "frequencies"}
PAGES = ("docs/reproduction.md", "research/reproduction.md", "research/training.md")


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
        rows.append([*row_cells(name, result), *cells])
    return markdown(["network", "queries", *(f"{steps:,}" for steps in STEPS)], rows)


def chains_table(found: Sequence[Result], strategy: str) -> str:
    """A guided strategy on networks that were run with both kinds of queries, beside the paper's figures."""
    by_kind = {kind: {r.network: r for r in found if r.run["queries"] == kind} for kind in ("own", "shared")}
    rows = []
    for name, shared in by_kind["shared"].items():
        pair = [by_kind["own"][name], shared]
        means = [_signed(result.improvements(strategy).mean(axis=0)) for result in pair]
        rows.append([label(name), *means, _signed(published_improvements([name], strategy)[0])])
    return markdown(["network", "a chain for each query", "one chain for all", "the paper"], rows)


def agreement_table(path: Path) -> str:
    """How much test samples agree with training samples, in percent: all of them, and the nearest."""
    shares: dict[str, list[str]] = {}
    for row in rows_of(path):
        shares.setdefault(row["network"], []).extend(
            f"{100 * float(row[of]):.0f}" for of in ("mean", "nearest")
        )
    own = ["a chain for each query", "its nearest", "one chain for all", "its nearest"]
    return markdown(["network", *own], [[label(name), *cells] for name, cells in shares.items()])


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
        published = published_improvements([name for name, _ in own], strategy)
        for said, ahead in {
            "mean improvement above 0": means > 0,
            "ratio of means above 0": ratios > 0,
            "ratio of means below −5 %": ratios < -5,
            "the paper's improvement above 0": published > 0,
        }.items():
            rows.append([f"BEACON-{method}", said, *map(str, ahead.sum(axis=0))])
    return markdown(["method", f"of {len(own)} rows with", *(f"{steps:,}" for steps in STEPS)], rows)


def robust_table(found: Sequence[Result], strategy: str) -> str:
    """What does not explode where a best score is near 0."""
    rows = []
    for name, result in with_twins(found):
        means = result.ratios_of_means(strategy)
        medians = np.median(result.improvements(strategy), axis=0)
        left = [(result.zeros[method] > 0).sum(axis=0) for method in (f"beacon-{strategy}", strategy)]
        cells = [_signed(means), _signed(medians), _slashed(left[0]), _slashed(left[1])]
        rows.append([*row_cells(name, result), *cells])
    header = ["network", "queries", "ratio of means", "median", "zeros left, guided", "zeros left, unguided"]
    return markdown(header, rows)


def published_gls_table(found: Sequence[Result], path: Path) -> str:
    """Our GLS+ and BEACON-GLS+ over GLS+ as it was published, on the same queries from the same starts."""
    published = scores_by(path, "network", "queries")
    rows = []
    for result in found:
        base = published.get((result.network, result.run["queries"]))
        if base is None:
            continue
        cells = []
        for method in ("gls+", "beacon-gls+"):
            ours = result.scores[method]
            means = 100 * (ours.mean(axis=0) - base.mean(axis=0)) / np.abs(base.mean(axis=0))
            wins = [win_percentage(ours[:, k], base[:, k]) for k in range(len(STEPS))]
            cells += [_signed(means), " / ".join(f"{win:.0f}" for win in wins)]
        theirs = _signed(published_improvements([result.network], "gls+")[0])
        rows.append([*result.own_cells, *cells, theirs])
    header = ["our GLS+: ratio of means", "wins", "BEACON-GLS+: ratio of means", "wins", "the paper"]
    return markdown(["network", "queries", *header], rows)


def controls_table(found: Sequence[Result], path: Path, strategy: str) -> str:
    """The guided search beside searches by the same rule with scores that know nothing, or little."""
    known = scores_by(path, "network", "method", "control")
    rows = []
    for result in found:
        base = result.scores[strategy].mean(axis=0)
        cells = []
        for control in CONTROLS:
            if (key := (result.network, strategy, control)) in known and result.run["queries"] == "own":
                mean = known[key].mean(axis=0)
                cells.append(_signed(100 * (mean - base) / np.abs(base)))
        if cells:
            rows.append([label(result.network), *cells, _signed(result.ratios_of_means(strategy))])
    return markdown(["network", *CONTROLS.values(), "guided"], rows)


def candidates_table(found: Sequence[Result]) -> str:
    """The best λ with either kind of candidates, on the validation queries that all rules were tried on."""
    rows = []
    for result in found:
        cells = []
        for strategy in STRATEGIES:
            for kind in ("all", "improving"):
                rules = [
                    row
                    for row in result.run["tune"].get("screened", result.run["tune"]["table"])
                    if (row["strategy"], row["candidates"]) == (strategy, kind)
                ]
                best = max(rules, key=lambda row: np.mean(row["improvement"]))
                cells.append(_signed(best["improvement"]))
        rows.append([*result.own_cells, *cells])
    header = [f"{name}, {kind} moves" for name in STRATEGIES.values() for kind in ("all", "improving")]
    return markdown(["network", "queries", *header], rows)


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


def steps_table(found: Sequence[Result], results: Path) -> str:
    """λ, time per step, α, and how often and how late the reference was reached."""
    single = json.loads((results / "single_steps.json").read_text(encoding="utf-8"))
    unguided = {
        (
            row["network"],
            row["strategy"],
        ): f"{float(row['microseconds']):.1f} ± {float(row['deviation']):.1f} µs"
        for row in rows_of(results / "unguided_steps.csv")
    }
    rows = []
    for result in found:
        for strategy, name in STRATEGIES.items():
            use, test = result.run["tune"]["chosen"][strategy], result.run["test"]
            drift = Drift.of(result, strategy)
            bound = f"{drift.bound:.0f}" if np.isfinite(drift.bound) else "–"
            reached = f"{len(drift.hits)} of {len(test['drift'][strategy]['moves'])}"
            reached += f", median {np.median(drift.hits):.0f}" if len(drift.hits) else ""
            own = unguided[result.network, strategy]
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
    """On how many runs the searches needed longer than the theorem's bound, where they were long enough."""
    rows = []
    for strategy, name in STRATEGIES.items():
        drifts = [Drift.of(result, strategy) for result in found]
        steps = [int(result.run["settings"]["steps"]) for result in found]
        bounded = [drift for drift in drifts if np.isfinite(drift.bound)]
        within = [drift for drift, most in zip(drifts, steps, strict=True) if drift.bound < most]
        longer = sum(drift.waited > drift.bound for drift in within)
        counts = [len(drifts), len(bounded), len(within), longer]
        rows.append([f"BEACON-{name}", *map(str, counts)])
    header = ["networks and kinds of queries", "α above ½", "bound within the steps made", "exceeded"]
    return markdown(["method", *header], rows)


def tables(results: Path) -> dict[str, Callable[[], str]]:
    """Every table by its name on the pages."""
    jobs = load_results(results)
    found = first_seed(jobs)
    made: dict[str, Callable[[], str]] = {
        "training": lambda: training_table(found),
        "steps": lambda: steps_table(found, results),
        "theorem": lambda: theorem_table(found),
        "counts": lambda: counts_table(found),
        "agreement": lambda: agreement_table(results / "agreement.csv"),
        "candidates": lambda: candidates_table(found),
        "seeds": lambda: seeds_table(jobs),
        "published gls+": lambda: published_gls_table(found, results / "published_gls.parquet"),
        "optima": optima_table,
    }
    for name, table in {"": clock_table, " reached": reached_table, " guided": guided_table}.items():
        made[f"clock{name}"] = lambda table=table: table(rows_of(results / "clock.csv"), suite())  # type: ignore[misc]
    for strategy in STRATEGIES:
        made[f"improvement {strategy}"] = lambda s=strategy: improvement_table(found, s)  # type: ignore[misc]
        made[f"chains {strategy}"] = lambda s=strategy: chains_table(found, s)  # type: ignore[misc]
        made[f"controls {strategy}"] = lambda s=strategy: controls_table(  # type: ignore[misc]
            found, results / "controls.parquet", s
        )
        made[f"robust {strategy}"] = lambda s=strategy: robust_table(found, s)  # type: ignore[misc]
    return made


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
    draw_weights(found)
    draw_wins(found)


if __name__ == "__main__":
    main()
