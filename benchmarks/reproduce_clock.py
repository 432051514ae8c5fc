"""Guided searches by the clock, on the networks that ``reproduce.py`` has trained and tuned."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from lockstep import Lockstep, Scorer, advance_all
from numpy.typing import NDArray
from reproduce_stages import Job, Shop, guided, without_planning

from beacon.guided.guidance import GuideUse
from beacon.runner.stop import random_start
from beacon.strategies.strategy import make_strategy

NAMES = {"greedy": "BEACON-Greedy", "gls+": "BEACON-GLS+"}
MARKS = (0.1, 1.0, 10.0, 60.0)
ZERO = -100.0
KNOWN = tuple(f"at {mark:g}" for mark in MARKS[:-1])
FIELDS = ("network", "query", "method", "limit", *KNOWN, "score", "seconds", "steps")


class Raced(NamedTuple):
    """What searches by the clock came to."""

    scores: list[NDArray[np.float64]]
    """[marks][queries] best scores."""
    seconds: NDArray[np.float64]
    """[queries] when the last of them was found."""
    steps: int
    """Steps that each search made."""


def tuned_shops(jobs: Sequence[Job], args: argparse.Namespace) -> Iterator[tuple[Shop, str, GuideUse]]:
    """Every tuned job with each strategy and how it heeds the guide."""
    for job in jobs:
        if (args.run / job.name / "tune.json").exists():
            shop = Shop(job, args)
            yield from ((shop, strategy, use) for strategy, use in chosen_uses(shop).items())


def chosen_uses(shop: Shop) -> dict[str, GuideUse]:
    """What tuning chose for each strategy, here or in the results of an earlier run."""
    results: Path = shop.args.results / f"{shop.job.name}.json"
    here = shop.file("tune.json").exists()
    tuned = shop.facts("tune") if here else json.loads(results.read_text(encoding="utf-8"))["tune"]
    return {strategy: GuideUse.from_dict(use) for strategy, use in tuned["chosen"].items()}


def time_single(jobs: Sequence[Job], args: argparse.Namespace) -> None:
    """Seconds of a guided step of one query alone, of every tuned job: RESULTS/single_steps.json."""
    seconds: dict[str, dict[str, float]] = {}
    for shop, strategy, use in tuned_shops(jobs, args):
        guided(shop, {strategy: [use]}, "validation", slice(1), (20,))  # loads what is loaded once
        facts = guided(shop, {strategy: [use]}, "validation", slice(1), (150,))[2]
        seconds.setdefault(shop.job.name, {})[strategy] = facts["seconds_per_step"]
        (args.results / "single_steps.json").write_text(json.dumps(seconds, indent=1) + "\n")


def race_file(job: Job, args: argparse.Namespace) -> Path:
    """The rows of a job's guided searches by the clock."""
    path: Path = args.race / f"{job.name}.csv"
    return path


def race(shop: Shop) -> None:
    """Guided searches of a job's first test queries, by the clock: RACE/JOB.csv.

    The queries are searched together, every step of every search scored in one call, and each is charged the
    whole time. Evidence is propagated, and building the searches counts.
    """
    evidences = shop.split("test")[0][: shop.args.race_queries]
    rows = []
    for strategy, use in chosen_uses(shop).items():
        race_by_clock(shop, strategy, use, evidences, (0.5,))  # loads what is loaded once
        raced = race_by_clock(shop, strategy, use, evidences, MARKS)
        for query in range(len(evidences)):
            scores = [f"{own[query]:.10g}" for own in raced.scores]
            ends = (f"{raced.seconds[query]:.4g}", raced.steps)
            rows.append([shop.job.network, query, NAMES[strategy], MARKS[-1], *scores, *ends])
        print(f"{shop.job.name} {strategy}: {raced.steps} steps", flush=True)
    path = race_file(shop.job, shop.args)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".tmp").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows])
    path.with_suffix(".tmp").rename(path)


def race_by_clock(
    shop: Shop, strategy: str, use: GuideUse, evidences: list[dict[int, int]], marks: Sequence[float]
) -> Raced:
    """Search some queries together up to the last of the marks."""
    from beacon.guide.device import autocast  # noqa: PLC0415

    shop.guide, shop.flat  # noqa: B018 - loaded before the clock starts, as models are for all methods
    starts = [random_start(shop.model, evidence, shop.job.seed) for evidence in evidences]
    without_planning()
    began = perf_counter()
    group = Lockstep(shop.flat, make_strategy(strategy), evidences, starts, [use], shop.job.seed, True)
    with autocast(shop.guide.device):
        return follow(group, shop.guide.score_moves, marks, lambda: perf_counter() - began)


def follow(group: Lockstep, score: Scorer, marks: Sequence[float], clock: Callable[[], float]) -> Raced:
    """Steps until the clock is at the last mark; what was best when a mark had come counts for it."""
    scores: list[NDArray[np.float64]] = []
    best = _best_of(group)
    seconds, steps = np.zeros(len(best)), 0
    for mark in marks:
        while (now := clock()) < mark:
            known = _best_of(group)
            seconds[known > best] = now
            best, steps = known, steps + 1
            advance_all([group], score, steps)
        scores.append(best)
    return Raced(scores, seconds, steps)


def _best_of(group: Lockstep) -> NDArray[np.float64]:
    best, zeros = group.best
    floored: NDArray[np.float64] = best + zeros * (ZERO - group.flat.log_zero)
    return floored
