"""Guided searches by the clock, on the networks that ``reproduce.py`` has trained and tuned."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter

from lockstep import Lockstep, Scorer, advance_all
from reproduce_stages import Job, Shop, guided, without_planning

from beacon.guided.guidance import GuideUse
from beacon.runner.stop import random_start
from beacon.strategies.strategy import make_strategy

NAMES = {"greedy": "BEACON-Greedy", "gls+": "BEACON-GLS+"}
MARKS = (0.1, 1.0, 10.0)
ZERO = -100.0
FIELDS = ("network", "query", "method", "limit", "mark", "score", "steps")


def tuned_shops(jobs: Sequence[Job], args: argparse.Namespace) -> Iterator[tuple[Shop, str, GuideUse]]:
    """Every tuned job with each strategy and how it heeds the guide."""
    for job in jobs:
        if (args.run / job.name / "tune.json").exists():
            shop = Shop(job, args)
            for strategy, use in shop.facts("tune")["chosen"].items():
                yield shop, strategy, GuideUse.from_dict(use)


def time_single(jobs: Sequence[Job], args: argparse.Namespace) -> None:
    """Seconds of a guided step of one query alone, of every tuned job: RESULTS/single_steps.json."""
    seconds: dict[str, dict[str, float]] = {}
    for shop, strategy, use in tuned_shops(jobs, args):
        guided(shop, {strategy: [use]}, "validation", slice(1), (20,))  # loads what is loaded once
        facts = guided(shop, {strategy: [use]}, "validation", slice(1), (150,))[2]
        seconds.setdefault(shop.job.name, {})[strategy] = facts["seconds_per_step"]
        (args.results / "single_steps.json").write_text(json.dumps(seconds, indent=1) + "\n")


def race(jobs: Sequence[Job], args: argparse.Namespace) -> None:
    """Scores of guided searches at times of the clock, for queries of ``arms_table.py``: RESULTS/race.csv.

    The queries of a network are searched together, every step of every search scored in one call, and each is
    charged the whole time. Evidence is propagated, and building the searches counts.
    """
    queries = json.loads(args.race.read_text(encoding="utf-8"))
    args.results.mkdir(parents=True, exist_ok=True)
    with (args.results / "race.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for shop, strategy, use in tuned_shops(jobs, args):
            names = list(queries.get(shop.job.network, {}))[: args.race_queries]
            given = [queries[shop.job.network][name] for name in names]
            evidences = [{int(variable): value for variable, value in query.items()} for query in given]
            if not names:
                continue
            score_by_clock(shop, strategy, use, evidences, (0.5,))  # loads what is loaded once
            found = score_by_clock(shop, strategy, use, evidences, MARKS)
            for name, scores in zip(names, found[0], strict=True):
                for mark, score, steps in zip(MARKS, scores, found[1], strict=True):
                    row = (shop.job.network, name, NAMES[strategy], MARKS[-1], mark, score, steps)
                    writer.writerow(dict(zip(FIELDS, row, strict=True)))
            file.flush()
            print(f"{shop.job.name} {strategy}: {found[1][-1]} steps", flush=True)


def score_by_clock(
    shop: Shop, strategy: str, use: GuideUse, evidences: list[dict[int, int]], marks: Sequence[float]
) -> tuple[list[list[float]], list[int]]:
    """[queries][marks] best scores by the clock, and the steps that each search had made."""
    from beacon.guide.device import autocast  # noqa: PLC0415

    shop.guide, shop.flat  # noqa: B018 - loaded before the clock starts, as models are for all methods
    starts = [random_start(shop.model, evidence, shop.job.seed) for evidence in evidences]
    without_planning()
    began = perf_counter()
    group = Lockstep(shop.flat, make_strategy(strategy), evidences, starts, [use], shop.job.seed, True)
    with autocast(shop.guide.device):
        return follow(group, shop.guide.score_moves, marks, lambda: perf_counter() - began)


def follow(
    group: Lockstep, score: Scorer, marks: Sequence[float], clock: Callable[[], float]
) -> tuple[list[list[float]], list[int]]:
    """Steps until the clock is at the last mark; what was best when a mark had come counts for it."""
    found: list[list[float]] = [[] for _ in group.assignments]
    step, steps = 0, []
    for mark in marks:
        best, zeros = group.best
        while clock() < mark:
            best, zeros = group.best
            step += 1
            advance_all([group], score, step)
        for own, value, zero in zip(found, best, zeros, strict=True):
            own.append(float(value + zero * (ZERO - group.flat.log_zero)))
        steps.append(step)
    return found, steps
