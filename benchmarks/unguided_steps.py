"""What a step takes without a guide: processor time of one search at a time, 4,000 steps of each query.

    python benchmarks/unguided_steps.py --data DATA --run RUN

The first test queries of the reproduction, from their starts; to results/unguided_steps.csv.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from common import ALL_MODELS
from pages import ROOT
from reproduce_stages import BUDGETS, STRATEGIES, Job
from rerun import without_references

from beacon.reduce.propagate import fixed_values
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps, processor_time
from beacon.strategies.strategy import make_strategy

QUERIES = 20
RESULTS = ROOT / "results" / "unguided_steps.csv"


def microseconds(job: Job, args: argparse.Namespace) -> dict[str, np.ndarray]:
    """[queries] microseconds a step of each strategy."""
    shop = without_references(job, args)
    evidences, starts, _ = shop.split("test")
    found = {}
    for strategy in STRATEGIES:
        plan, times = make_strategy(strategy).fitted(shop.flat), []
        for query in range(-1, QUERIES):  # the first loads the kernel
            fixed = fixed_values(shop.flat, evidences[query], None, False)
            with processor_time():
                search = Search(shop.flat, fixed, plan, starts[query], job.seed)
                search.run(MaxSteps(BUDGETS[-1]))
            times.append(1e6 * search.seconds / max(1, search.steps))
        found[strategy] = np.array(times[1:])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with NAME.uai.xz")
    parser.add_argument("--run", type=Path, required=True, help="folder for what is made on the way")
    args = parser.parse_args()
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["network", "strategy", "queries", "microseconds", "deviation"])
        for name in ALL_MODELS:
            if (ROOT / "results" / "guided" / f"{name}.own.0.json").exists():
                for strategy, times in microseconds(Job(name, "own", 0), args).items():
                    mean, deviation = times.mean(), times.std(ddof=1)
                    writer.writerow([name, strategy, len(times), f"{mean:.3g}", f"{deviation:.2g}"])


if __name__ == "__main__":
    main()
