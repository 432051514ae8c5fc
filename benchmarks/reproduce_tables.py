"""Tables of what ``benchmarks/reproduce.py`` left in RUN: Markdown on stdout, the numbers as CSV in --out.

python benchmarks/reproduce_tables.py --run RUN --out results --plots docs/images
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from reproduce_files import write_csv, write_run, write_scores, write_weights
from reproduce_plots import draw
from reproduce_results import PAPER_STEPS, STEPS, Results, Row, common, label, load_networks, suite
from reproduce_workshop import EXACT_QUERIES, LONG_QUERIES

from beacon.evaluation.metrics import improvements as improvement_of_each
from beacon.evaluation.metrics import win_percentage

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
EXACT = ("gls+ propagating", "auto", "tuned", "toulbar2")
SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)


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
        for method, words in GUIDED:
            if network.has(method):
                scores = network.at(method, "step")
                wins = [win_percentage(scores[:, k], base[:, k]) for k in range(len(STEPS))]
                cells = [f"{score} ({win:.0f})" for score, win in zip(_scores(scores), wins, strict=True)]
                rows.append(["", words, *cells])
    return table(["network", "method", *(f"{steps:,}" for steps in STEPS)], rows)


def by_seconds(networks: Sequence[Results]) -> str:
    rows = []
    for network in networks:
        for k, method in enumerate(method for method in TIMED if network.has(method)):
            scores = _scores(network.after(method))
            rows.append([f"**{network.name}**" if k == 0 else "", method, *scores, *[""] * (6 - len(scores))])
    return table(["network", "method", *(f"{1000 * mark:g} ms" for mark in SECONDS)], rows)


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
    rows, numbers = [], []
    for network in networks:
        if not network.has(strategy, f"beacon-{strategy}"):
            continue
        base, ours = network.at(strategy, "step"), network.at(f"beacon-{strategy}", "step")
        entry = suite()[network.name]
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
        rows.append([label(network.name), *cells])
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


def beyond(networks: Sequence[Results]) -> str:
    """Win % of the tuned default and of `auto` against GLS+, and of the first against BEACON-GLS+."""
    pairs = (("tuned", "gls+"), ("tuned", "beacon-gls+"), ("auto", "gls+"))
    rows = []
    for network in common(networks, "tuned", "auto", "gls+", "beacon-gls+"):
        cells = [_wins(network.at(ours, "step"), network.at(base, "step")) for ours, base in pairs]
        rows.append([label(network.name), *cells])
    return table(["network", *(f"{ours} against {base}" for ours, base in pairs)], rows)


def _wins(ours: np.ndarray, base: np.ndarray) -> str:
    return " / ".join(f"{win_percentage(ours[:, k], base[:, k]):.0f}" for k in range(ours.shape[1]))


def by_time_wins(networks: Sequence[Results], long: Sequence[Results]) -> str:
    """Win % of the tuned default against GLS+ with propagation at 10 ms, 100 ms and 1 s."""
    seconds = {network.name: network for network in common(long, "tuned", "gls+ propagating")}
    rows = []
    for network in common(networks, "tuned", "gls+ propagating"):
        cells = [_win_after(network, mark) for mark in (0.01, 0.1)]
        second = seconds.get(network.name)
        rows.append([label(network.name), *cells, _win_after(second, 1.0) if second else "–"])
    return table(["network", "10 ms", "100 ms", "1 s"], rows)


def _win_after(network: Results, mark: float) -> str:
    ours, base = (network.after(method) for method in ("tuned", "gls+ propagating"))
    place = network.budgets("tuned", "second").index(mark)
    return f"{win_percentage(ours[:, place], base[:, place]):.0f}"


def exact_solver(networks: Sequence[Results]) -> str:
    """Gap to Greedy in percent: searches after 10 s, toulbar2 after at most 60 s."""
    rows = []
    for network in common(networks, "greedy", *EXACT):
        greedy = network.at("greedy", "second")[:, -1]
        cells = [
            _gap(network, method, greedy) for method in ("gls+ propagating", "auto", "tuned", "toulbar2")
        ]
        proofs = sum(row["proved"] for row in network.rows["toulbar2"])
        seconds = np.mean([row["seconds"] for row in network.rows["toulbar2"]])
        published = suite()[network.name].published.get("gap_to_greedy_60s", {})
        theirs = [f"{published[name][0]:+.2f}" if name in published else "–" for name in ("gls+", "toulbar2")]
        row = [label(network.name), *cells, f"{proofs} of {len(greedy)}", f"{seconds:.1f} s", *theirs]
        rows.append(row)
    header = [
        "network",
        "GLS+",
        "auto",
        "tuned",
        "toulbar2",
        "proved",
        "after",
        "GLS+, paper",
        "toulbar2, paper",
    ]
    return table(header, rows)


def _gap(network: Results, method: str, greedy: np.ndarray) -> str:
    scores = network.at(method, "second")[:, -1]
    if not np.isfinite(scores).all():
        return "–"
    return f"{np.mean(improvement_of_each(scores, greedy)):+.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder for CSV files and run.json")
    parser.add_argument("--plots", type=Path, help="folder for plots; default: that of --out")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    networks = common(load_networks(args.run), "gls+", "greedy")
    trained = [
        network
        for network in networks
        if all((network.folder / f"{name}.json").exists() for name in ("attention", "fast", "tuned"))
    ]
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
        "Beyond the paper, by steps": beyond(networks),
        "Beyond the paper, by time": by_time_wins(networks, load_networks(args.run, f"first-{LONG_QUERIES}")),
        "An exact solver": exact_solver(load_networks(args.run, f"first-{EXACT_QUERIES}")),
    }
    write_scores(networks, args.out)
    write_weights(networks, args.out)
    write_run(networks, args.out)
    draw(networks, args.plots or args.out)
    for title, text in sections.items():
        print(f"## {title}\n\n{text}\n")


if __name__ == "__main__":
    main()
