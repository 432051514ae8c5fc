"""A trial of learned fixing on large models: fix what near answers agree on, search, release, go on.

    python benchmarks/learned_fixing.py --data DATA --cache CACHE --output ROWS.jsonl --models NAME ...

A third of the time is searched with these variables fixed. The rest goes on from there with all free. Rows
are those of starts.py; ``fixed`` and ``right`` are the share of the free variables that were fixed, and how
many of these have the value of the best assignment found.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np
from common import options
from starts import LARGE, Begin, Case, count_time, load_case

import beacon
from beacon.runner.runner import Query

AGREE, NEAR = 14, 15
FIRST_SHARE = 1 / 3
LIMITS = (0.3, 1.0)


def fixed_first(case: Case, k: int, seconds: float) -> tuple[float | None, np.ndarray, np.ndarray]:
    """The score at the time limit, the assignment, and which variables were fixed at first."""
    began, fixed = thread_time(), case.fixed[k]
    seen, observed = np.maximum(fixed, 0).astype(np.int64), fixed >= 0
    near = case.solved_guide().opinions(seen, observed, NEAR)
    votes = np.sort(near, axis=0)
    middle = votes[NEAR // 2]
    sure = ((near == middle).sum(axis=0) >= AGREE) & ~observed
    evidence = case.evidence(k)
    more = {**evidence, **{int(i): int(middle[i]) for i in np.flatnonzero(sure)}}
    first = case.runner.outcome(
        Query(dict(sorted(more.items())), seed=k), [beacon.MaxRuntime(FIRST_SHARE * seconds)]
    )
    spent = thread_time() - began
    rest = case.runner.outcome(
        Query(evidence, first.assignment, yields=True, seed=k),
        [beacon.MaxRuntime(seconds)],
        spent_seconds=spent,
    )
    (score,) = case.known(rest.trace.not_before(rest.setup_seconds), np.array([seconds]))
    return score, rest.assignment, sure


def rows(case: Case, k: int) -> list[dict[str, Any]]:
    """A row for the constructed start and one for fixing."""
    base, ours, facts = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    for limit in LIMITS:
        trace = case.search(k, Begin(), limit)
        (base[f"{limit:g}"],) = case.known(trace, np.array([limit]))
        ours[f"{limit:g}"], best, sure = fixed_first(case, k, limit)
        free = int((case.fixed[k] < 0).sum())
        middle = np.sort(
            case.solved_guide().opinions(np.maximum(case.fixed[k], 0), case.fixed[k] >= 0, NEAR), axis=0
        )[NEAR // 2]
        facts = {"fixed": round(float(sure.sum() / free), 4)}
        facts["right"] = round(float((best == middle)[sure].mean()), 4) if sure.any() else None
    shared = {"network": case.name, "query": k, "way": []}
    return [
        {**shared, "method": "constructed", "scores": base},
        {**shared, "method": "fixed first", "scores": ours, **facts},
    ]


def main() -> None:
    parser: argparse.ArgumentParser = options(__doc__, tuple(LARGE))
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--train", type=int, default=40)
    parser.add_argument("--only", type=int, default=4)
    arguments = parser.parse_args()
    for name in arguments.models:
        case, began = load_case(name, arguments), process_time()
        count_time(perf_counter)
        case.search(0, Begin(), 0.1)
        _ = case.solved_guide()
        count_time(thread_time)
        with arguments.output.open("a", encoding="utf-8") as file:
            for k in range(arguments.only):
                file.writelines(json.dumps(row) + "\n" for row in rows(case, k))
        print(f"{name}: {process_time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
