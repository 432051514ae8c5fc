"""When the GLS+ arms of the mix should restart: the time to the best known score, and scores after a while.

    python benchmarks/restarts.py run --data DATA --output restarts.csv --models ProteinFolding_23 --until 1.5
    python benchmarks/restarts.py table

``run`` appends a row a search, in processor time. A search ends when it has the best score that any row has
for its query; the first on a query looks for one until the limit, and says nothing of times. With
``--through`` no search ends early, and scores on the way are kept. ``table`` makes the tables of
research/arms.md from results/restarts.csv.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np
from arms_table import ZERO, count_time, model_path
from pages import ROOT, markdown, rows_of, updated

import beacon
from beacon.runner.runner import Query, Runner
from beacon.strategies.auto import OtherWeight

PAGE, RESULTS = ROOT / "research" / "arms.md", ROOT / "results" / "restarts.csv"
MARKS = (0.03, 0.1, 0.3, 1.0)
FIELDS = ("network", "query", "seed", "method", "limit", "seconds", "score", *map(str, MARKS))
QUERIES_SEED = 77
FIRST = "first look"
LEVEL = 1e-6  # of a score


def mix(first: float, second: float, doubling: Sequence[bool]) -> beacon.Auto:
    """The mix with arms that restart after so many steps per variable, or by doubling from there."""
    gls = beacon.GlsPlus(restart_idle=first, restart_doubling=doubling[0])
    other = OtherWeight(restart_idle=second, restart_doubling=doubling[1])
    return beacon.Auto(arms=(gls, beacon.Tree(), other))


BOTH = {f"both {idle}": mix(idle, idle, (False, False)) for idle in (200, 100, 50, 25, 12)}
DOUBLING = {f"both {idle}, doubling": mix(idle, idle, (True, True)) for idle in (25, 12, 6)}
SECOND = {f"second {idle}, doubling": mix(200, idle, (False, True)) for idle in (25, 12, 6, 3)}
METHODS: dict[str, Any] = {
    **BOTH,
    **DOUBLING,
    **SECOND,
    "gls+": beacon.GlsPlus(),
    "gls+ landscape": beacon.GlsPlus(by_landscape=True),
    **{f"gls+ landscape {idle}": beacon.GlsPlus(by_landscape=True, restart_idle=idle) for idle in (100, 50)},
    "tree": beacon.Tree(),
    "tree 5": beacon.Tree(restart_idle=5),
    "tree 20": beacon.Tree(restart_idle=20),
}
BEGINNINGS: dict[str, Any] = {
    "random start": replace(BOTH["both 200"], start="random"),
    "two arms": replace(BOTH["both 200"], arms=BOTH["both 200"].arms[:2]),
    "two arms, random start": replace(BOTH["both 200"], arms=BOTH["both 200"].arms[:2], start="random"),
    "first round 60,000": replace(BOTH["both 200"], first_round=60_000),
    "first round 30,000": replace(BOTH["both 200"], first_round=30_000),
}
METHODS |= BEGINNINGS


def run(arguments: argparse.Namespace) -> None:
    """Make the searches that no row is about yet."""
    if not arguments.output.exists():
        arguments.output.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    for network in arguments.models:
        model = beacon.read_model(model_path(arguments.data, network))
        queries = beacon.sample_queries(model, arguments.queries, QUERIES_SEED)
        runners = {name: Runner(model, METHODS[name], threads=1) for name in arguments.methods}
        for runner in runners.values():
            runner.outcome(Query({}), [beacon.MaxRuntime(0.05)])  # what is found out once a model
        count_time(thread_time)
        runners = {FIRST: next(iter(runners.values())), **runners}
        for seed in range(arguments.seeds):
            for k in range(arguments.queries):
                for name in runners:
                    _search(arguments, (network, str(k), str(seed), name), runners[name], queries.evidence(k))


def _search(
    arguments: argparse.Namespace, about: tuple[str, str, str, str], runner: Any, evidence: Any
) -> None:
    rows = rows_of(arguments.output)
    if about in {(row["network"], row["query"], row["seed"], row["method"]) for row in rows}:
        return
    known = [float(row["score"]) for row in rows if (row["network"], row["query"]) == about[:2]]
    if about[3] == FIRST and (known or arguments.through):
        return
    stop = beacon.MaxRuntime(arguments.until)
    if known and not arguments.through:
        stop = stop | beacon.TargetScore(max(known) - LEVEL * abs(max(known)))
    found = runner.outcome(Query(dict(evidence), seed=1 + int(about[2])), [stop])
    trace = found.trace
    scores = trace.scores + trace.zero_factors * (ZERO - runner.flat.log_zero)
    on_the_way = [scores[max(int((trace.seconds <= mark).sum()) - 1, 0)] for mark in MARKS]
    kept = [arguments.through and mark <= arguments.until for mark in MARKS]
    cells = [f"{score:.10g}" if is_kept else "" for score, is_kept in zip(on_the_way, kept, strict=True)]
    with arguments.output.open("a", newline="", encoding="utf-8") as file:
        ended = [f"{arguments.until:g}", f"{found.seconds:.4f}", f"{scores[-1]:.10g}"]
        csv.writer(file, lineterminator="\n").writerow([*about, *ended, *cells])


def best_scores(rows: Sequence[dict[str, str]]) -> dict[tuple[str, str], float]:
    """The best score of each query."""
    best: dict[tuple[str, str], float] = {}
    for row in rows:
        key = row["network"], row["query"]
        best[key] = max(best.get(key, -np.inf), float(row["score"]))
    return best


def gap(row: dict[str, str], best: dict[tuple[str, str], float], column: str = "score") -> float:
    """How far a score is below the best, in percent."""
    top = best[row["network"], row["query"]]
    return 100 * (top - float(row[column])) / abs(top)


def times_table(rows: Sequence[dict[str, str]]) -> str:
    """Mean time to the best known score, a search that ends without it counting what it took."""
    best, timed = best_scores(rows), [row for row in rows if not row["0.03"] and row["method"] != FIRST]
    networks = dict.fromkeys(row["network"] for row in timed)
    lines = []
    for method in METHODS:
        cells = []
        for network in networks:
            some = [row for row in timed if (row["network"], row["method"]) == (network, method)]
            seconds = np.array([float(row["seconds"]) for row in some])
            hits = sum(gap(row, best) < 2 * 100 * LEVEL for row in some)
            error = seconds.std(ddof=1) / np.sqrt(len(some)) if some else 0.0
            cells.append(f"{seconds.mean():.3f} ± {error:.3f} ({hits} of {len(some)})" if some else "")
        if any(cells):
            lines.append([method, *cells])
    return markdown(["restarts", *networks], lines)


def scores_table(rows: Sequence[dict[str, str]], until: float) -> str:
    """Mean gaps to the best score of the trial on the way, and the searches that had it at the end."""
    through = [row for row in rows if row["0.03"] and float(row["limit"]) == until]
    best, marks = best_scores(rows), [mark for mark in MARKS if mark <= until]
    lines = []
    for network in dict.fromkeys(row["network"] for row in through):
        for method in METHODS:
            some = [row for row in through if (row["network"], row["method"]) == (network, method)]
            cells = []
            for mark in map(str, marks):
                gaps = np.array([gap(row, best, mark) for row in some])
                cells.append(
                    f"{gaps.mean():.4f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.4f}" if some else ""
                )
            if some:
                hits = sum(gap(row, best) < 100 * LEVEL for row in some)
                lines.append([network, method, *cells, f"{hits} of {len(some)}"])
    return markdown(["network", "restarts", *(f"{mark:g} s" for mark in marks), "best at the end"], lines)


def page() -> str:
    """The page with its tables made anew."""
    rows = rows_of(RESULTS)
    made = {
        "restarts times": lambda: times_table(rows),
        "restarts scores": lambda: scores_table(rows, 1.0),
        "restarts beginnings": lambda: scores_table(rows, 0.03),
    }
    return updated(PAGE.read_text(encoding="utf-8"), made)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=("run", "table"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--models", nargs="+", default=["ProteinFolding_23"])
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--queries", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--until", type=float, default=1.5, help="seconds")
    parser.add_argument("--through", action="store_true", help="search until the limit")
    arguments = parser.parse_args()
    if arguments.task == "run":
        run(arguments)
    else:
        PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
