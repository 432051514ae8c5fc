"""What the mix gains by beginning with messages where they pay: win % and gap against a constructed start.

    python benchmarks/first_messages.py run --data DATA --cache CACHE --output ROWS.csv [--models NAME ...]
    python benchmarks/first_messages.py table [ROWS.csv]

``run`` makes a search anew for every method and time limit, in turns on every query, in processor time, and
appends a row for each; rows that are there are not made again. ``table`` puts rows into
results/first_messages.csv, if a file is named, and makes the tables of research/messages.md.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter, thread_time

import numpy as np
from arms_table import SEARCHED
from common import options
from numpy.typing import NDArray
from pages import ROOT, markdown, rows_of, updated
from starts import LARGE, ZERO, Case, count_time, load_case

import beacon
from beacon.engine.construct import construct_assignment
from beacon.query.query_set import sample_queries
from beacon.runner.runner import Query

PAGE, RESULTS = ROOT / "research" / "messages.md", ROOT / "results" / "first_messages.csv"
BEGINS = {"constructed": construct_assignment, "messages": None}
BASE, NEW = BEGINS
LIMITS = (0.01, 0.03, 0.1, 0.3, 1.0)
LARGE_LIMITS = (0.03, 0.1, 0.3, 1.0, 3.0)
WARM_UP = 0.02  # seconds: the first search after a while is slow, since its memory is cold
LONG = 1.0  # such searches are made on the first half of the queries
FIELDS = ("study", "network", "query", "limit", "method", "score")
TIE = 1e-6  # of a score
NO_SCORE = -math.inf
Row = dict[str, str]


def evidence_of(case: Case, count: int, seed: int) -> NDArray[np.int16]:
    """[queries, variables] what is observed, -1 where nothing is."""

    def make() -> NDArray[np.int16]:
        queries = sample_queries(case.model, count, seed)
        observed = queries.observed
        if case.name.startswith("diagnosis"):  # a patient's findings, and nothing else
            observed = np.broadcast_to(case_findings(case), observed.shape)
        return np.where(observed, queries.samples.astype(np.int16), np.int16(-1))

    return case.kept(f"asked {seed} {count}", make)


def case_findings(case: Case) -> NDArray[np.bool_]:
    """[variables] is it a finding?"""
    from beacon.model.families.diagnosis import findings_of  # noqa: PLC0415

    is_finding = np.zeros(case.model.num_variables, dtype=np.bool_)
    is_finding[findings_of(case.model)] = True
    return is_finding


def search(case: Case, evidence: dict[int, int], method: str, limit: float, seed: int) -> float:
    """The best score that a search knows at its limit; a zero factor counts -100."""
    query = Query(evidence, seed=seed, begin=BEGINS[method])
    outcome = case.runner.outcome(query, [beacon.MaxRuntime(limit)])
    trace = outcome.trace.not_before(outcome.setup_seconds)
    scores = trace.scores + trace.zero_factors * (ZERO - case.runner.flat.log_zero)
    known = int((trace.seconds <= limit).sum())
    return float(scores[known - 1]) if known else NO_SCORE


def run(arguments: argparse.Namespace) -> None:
    """Make the searches that no row is about yet."""
    arguments.cache.mkdir(exist_ok=True)
    if not arguments.output.exists():
        arguments.output.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    done = {tuple(row[name] for name in FIELDS[:5]) for row in rows_of(arguments.output)}
    for network in arguments.models:
        case, began = load_case(network, arguments), perf_counter()
        limits = _that_differ(case)
        if not limits:
            continue
        asked = evidence_of(case, arguments.queries, arguments.seed)
        count_time(perf_counter)
        for method in BEGINS:  # what is found out once for a model
            search(case, case.evidence_of(asked[0]), method, 0.1, 0)
        count_time(thread_time)
        for k in range(arguments.queries):
            search(case, case.evidence_of(asked[k]), BASE, WARM_UP, k)
            for limit, method in _in_turns(case, limits, k, 2 * k < arguments.queries):
                about = (arguments.study, network, str(k), f"{limit:g}", method)
                if about not in done:
                    score = search(case, case.evidence_of(asked[k]), method, limit, k)
                    with arguments.output.open("a", newline="", encoding="utf-8") as file:
                        csv.writer(file, lineterminator="\n").writerow([*about, f"{score:.10g}"])
        print(f"{network}: {perf_counter() - began:.0f} s", flush=True)


def _that_differ(case: Case) -> list[float]:
    """The time limits with which the mix does not begin at a constructed assignment by itself."""
    searched, strategy = case.runner.searched, case.runner.strategy
    limits = LARGE_LIMITS if case.is_large else LIMITS
    return [s for s in limits if strategy.beginning(searched, s, perf_counter) is not construct_assignment]


def _in_turns(case: Case, limits: Sequence[float], k: int, is_long: bool) -> Iterator[tuple[float, str]]:
    rng = np.random.default_rng(k)
    for limit in limits:
        if is_long or limit < LONG:
            for method in rng.permutation(list(BEGINS)).tolist():
                yield limit, method


def compared(
    rows: Sequence[Row], network: str, limit: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[queries] 100, 50 or 0 for won, level or lost; [methods, queries] gaps in percent, at most 100."""
    of_network = [row for row in rows if row["network"] == network]
    best = {k: max(float(r["score"]) for r in of_network if r["query"] == k) for k in queries_of(of_network)}
    found = {
        (row["query"], row["method"]): float(row["score"]) for row in of_network if row["limit"] == limit
    }
    asked = [k for k in best if all((k, method) in found for method in BEGINS)]
    base, new = (np.array([found[k, method] for k in asked]) for method in BEGINS)
    tops = np.array([best[k] for k in asked])
    is_level = (base == new) | (np.abs(new - base) <= TIE * np.abs(tops))
    wins = np.where(is_level, 50.0, np.where(new > base, 100.0, 0.0))
    return wins, np.minimum(100 * (tops - np.stack([base, new])) / np.maximum(np.abs(tops), 1e-9), 100.0)


def queries_of(rows: Sequence[Row]) -> list[str]:
    """The queries that rows are about."""
    return list(dict.fromkeys(row["query"] for row in rows))


def table(rows: Sequence[Row], study: str) -> str:
    """By network and limit: queries won in percent, then the mean gap and that of the constructed start.

    Empty where the mix begins at a constructed assignment by itself.
    """
    some = [row for row in rows if row["study"] == study]
    limits = sorted({row["limit"] for row in some}, key=float)
    lines = []
    for network in dict.fromkeys(row["network"] for row in some):
        wins_and_gaps = [compared(some, network, limit) for limit in limits]
        count = max(len(wins) for wins, _ in wins_and_gaps)
        lines.append([network, str(count), *(_cell(*pair) for pair in wins_and_gaps)])
    return markdown(["network", "queries", *(f"{limit} s" for limit in limits)], lines)


def _cell(wins: NDArray[np.float64], gaps: NDArray[np.float64]) -> str:
    if not len(wins):
        return ""
    error = wins.std(ddof=1) / math.sqrt(len(wins)) if len(wins) > 1 else 0.0
    base, new = gaps.mean(axis=1)
    return f"{wins.mean():.0f} ± {error:.0f}, {new:.3g} ({base:.3g})"


def page() -> str:
    """The page with its tables made anew."""
    rows = rows_of(RESULTS)
    made = {f"messages {study}": lambda s=study: table(rows, s) for study in {row["study"] for row in rows}}
    return updated(PAGE.read_text(encoding="utf-8"), made)


def main() -> None:
    parser = options(__doc__, (*SEARCHED, *LARGE))
    parser.add_argument("action", choices=["run", "table"])
    parser.add_argument("rows", nargs="*", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--study", default="trial")
    parser.add_argument("--train", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.action == "run":
        run(arguments)
        return
    for path in arguments.rows:
        rows = rows_of(path)
        studies = {row["study"] for row in rows}
        kept = [row for row in rows_of(RESULTS) if row["study"] not in studies] if RESULTS.exists() else []
        with RESULTS.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows([*kept, *rows])
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
