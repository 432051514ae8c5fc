"""Does it pay to cross the best assignment with solved queries' answers once a search has run for a while?

    python benchmarks/late_crossing.py --data DATA --cache CACHE --output results/late_crossing.csv

After some time of `auto`, the gain of half as much time again against that of crossing with the nearest
answers: how much the score rises, in nats, and how long that takes. Time is processor time.
"""

from __future__ import annotations

import csv
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import numpy as np
from common import options
from starts import Begin, Case, count_time, load_case

import beacon
from beacon.engine.construct import new_room
from beacon.engine.core import new_core
from beacon.engine.cross import CrossRoom, _begin, take_clusters
from beacon.engine.incumbent import floored_best_of
from beacon.runner.runner import Query

TIMES = (0.03, 0.1, 0.3)
COUNTS = (10, 50, 200)
HEAD = ("network", "seconds", "query", "longer", *(f"{what} {n}" for n in COUNTS for what in ("gain", "ms")))


def row(case: Case, k: int, seconds: float) -> list[Any]:
    """What half as much time again gains, and what crossing with more and more answers does."""
    query, flat, fixed = Query(case.evidence(k), yields=True, seed=k), case.runner.searched, case.fixed[k]
    found, longer = (
        case.runner.outcome(query, [beacon.MaxRuntime(time)]) for time in (seconds, 1.5 * seconds)
    )
    core, n = new_core(flat, fixed.astype(np.int64), 0, flips=False), flat.num_variables
    core.assignment[:] = found.assignment
    room = CrossRoom(new_room(flat), np.empty(n, np.int32), np.empty(n, np.bool_))
    answers = case.solved_guide().opinions(np.maximum(fixed, 0), fixed >= 0, COUNTS[-1])
    began = thread_time()
    _begin(flat, core, room)
    before, cells = floored_best_of(core), list[Any]()
    for j, answer in enumerate(answers, 1):
        np.copyto(core.assignment, answer, where=core.is_free, casting="unsafe")
        take_clusters(flat, core, room)
        if j in COUNTS:
            cells += [round(floored_best_of(core) - before, 3), round(1e3 * (thread_time() - began), 1)]
    return [case.name, seconds, k, round(longer.score - found.score, 3), *cells]


def main() -> None:
    parser = options(__doc__, ("grid80x80.f10", "rus_100_200_1_1", "1405.wcsp"))
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--train", type=int, default=200)
    parser.add_argument("--only", type=int, default=4)
    arguments = parser.parse_args()
    with arguments.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        for name in arguments.models:
            case = load_case(name, arguments)
            count_time(perf_counter)
            case.search(0, Begin(opinions=case.library[:1], start=case.library[0].astype(np.int64)), 0.3)
            row(case, 0, TIMES[0])
            count_time(thread_time)
            writer.writerows(row(case, k, seconds) for seconds in TIMES for k in range(arguments.only))


if __name__ == "__main__":
    main()
