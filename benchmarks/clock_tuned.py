"""The tuned default for ``clock.py``: what `beacon train --preset solved` and `beacon tune` leave.

    python benchmarks/clock_tuned.py --data DATA --run RUN --models NAME ...

makes a guide for each network from the training and validation queries that ``reproduce.py`` has left in RUN.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from common import ALL_MODELS, load_model, options
from reproduce_stages import Job

import beacon
from beacon.guide.checkpoint import read_facts, update_tuned
from beacon.guide.solved import SolvedGuide
from beacon.guided.guidance import GuideUse
from beacon.runner.stop import processor_time

ANSWERS, SECONDS = 200, 0.05  # training queries, and how long each is searched


class Tuned(NamedTuple):
    """A guide and how it is heeded."""

    folder: Path
    use: GuideUse


@cache
def tuned(run: Path, network: str) -> Tuned:
    """The guide of a network."""
    folder = run / Job(network, "own", 0).name / "tuned"
    return Tuned(folder, GuideUse.from_dict(read_facts(folder)["tuned"]["use"]))


def asks_guide(run: Path, network: str, seconds: float) -> bool:
    """Is the guide asked with this time limit? Else the tuned default is `auto` itself."""
    use = tuned(run, network).use.within(seconds)
    return use is not None and use.asks_guide


def make(run: Path, network: str, model: beacon.GraphicalModel) -> None:
    """Solve training queries, and tune what they make on validation queries."""
    folder = run / Job(network, "own", 0).name
    queries = beacon.QuerySet.load(folder / "queries.parquet", model)
    train = queries.split("train")
    stop = beacon.MaxRuntime(SECONDS)
    beacon.solve(model, train.evidence(0), strategy="auto", stop=stop)  # compiles what is compiled once
    with processor_time():
        solved = [beacon.solve(model, train.evidence(k), strategy="auto", stop=stop) for k in range(ANSWERS)]
    guide = SolvedGuide(model, np.array([result.assignment for result in solved]))
    guide.save(folder / "tuned")
    tuning = beacon.tune(model, queries, guide)
    update_tuned(folder / "tuned", tuning.to_dict())
    print(f"{network}: {tuning.best}", flush=True)


def main() -> None:
    parser: argparse.ArgumentParser = options(__doc__, ALL_MODELS)
    parser.add_argument("--run", type=Path, required=True, help="folder of reproduce.py, with the queries")
    args = parser.parse_args()
    for network in args.models:
        began = perf_counter()
        make(args.run, network, load_model(args.data, network))
        print(f"{network}: {perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
