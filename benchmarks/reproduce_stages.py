"""The stages of ``benchmarks/reproduce.py``: each reads and writes files in RUN/NETWORK."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from benchmarks.reproduce_workshop import EXACT_QUERIES, LONG_QUERIES, STEPS, Drift, Workshop

from beacon.evaluation.engine_method import EngineMethod, GuidedMethod
from beacon.evaluation.method import Budget, Method
from beacon.evaluation.peer_method import PeerMethod
from beacon.evaluation.protocol import queries_of
from beacon.evaluation.records import make_record, record_store
from beacon.guide.checkpoint import load_guide
from beacon.guided.use import GuideUse
from beacon.learn.tune import Trial, mean_ranks, paper_trials, tune
from beacon.peers.peer import find_peer
from beacon.query.query_set import SPLITS, sample_queries
from beacon.runner.stop import MaxSteps
from beacon.solver import default_strategy, tuned_use
from beacon.strategies.strategy import make_strategy

SHARDS = 4
SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
CURVE_STEPS = (500, 1000, 2000, 4000)
CURVE_QUERIES = 24  # validation queries that λ is chosen on
CURVE_REFRESH = 20


def prepare(shop: Workshop) -> None:
    """Queries and references, as in the paper: GLS+ with restarts."""
    from beacon.learn.collect import CollectSettings, collect  # noqa: PLC0415
    from beacon.learn.teacher import TeacherSettings  # noqa: PLC0415

    began = perf_counter()
    if not (shop.folder / "queries.parquet").exists():
        sample_queries(shop.model, shop.args.queries, shop.args.seed).save(shop.folder / "queries.parquet")
    sampled = perf_counter()
    settings = CollectSettings(teacher=TeacherSettings(method="gls+", steps=shop.args.reference_steps))
    path = shop.folder / "trajectories.parquet"
    collect(shop.model, shop.queries, settings, seed=shop.args.seed, path=path, jobs=shop.args.jobs)
    facts = {"reference_steps": shop.args.reference_steps, "jobs": shop.args.jobs}
    seconds = {"sampling": sampled - began, "collecting": perf_counter() - sampled}
    shop.note("prepared", {**facts, **seconds})


def train(shop: Workshop) -> None:
    """The attention network, for a limited time; then how well it predicts."""
    from beacon.learn.attention_training import train_attention  # noqa: PLC0415
    from beacon.learn.presets import PRESETS  # noqa: PLC0415
    from benchmarks.training import Task, quality, validation_states  # noqa: PLC0415

    preset = PRESETS[shop.args.preset]
    training = replace(preset.training, epochs=shop.args.epochs, states_per_query=shop.args.states_per_query)
    preset = preset._replace(training=training)
    began = perf_counter()

    def enough(epoch: Any) -> None:
        print(epoch, flush=True)
        if perf_counter() - began > shop.args.train_seconds:
            raise KeyboardInterrupt  # ends training and keeps the best epoch

    task = Task(shop.args.network, shop.model, shop.queries, shop.trajectories)
    guide = train_attention(
        shop.model, task.queries, task.trajectories, preset, seed=shop.args.seed, on_epoch=enough
    )
    guide.save(shop.folder / "attention.guide")
    seconds = perf_counter() - began
    facts = {
        "seconds": seconds,
        "history": guide.history,
        **quality(task, guide, *validation_states(task, 10, 0)),
    }
    shop.note("attention", facts)


def fast(shop: Workshop) -> None:
    """The fast guide and its tuning, and plain frequencies; no GPU."""
    from beacon.learn.fast_training import train_fast  # noqa: PLC0415
    from benchmarks.training import Task, quality, validation_states  # noqa: PLC0415

    from beacon.guide.checkpoint import update_tuned  # noqa: PLC0415
    from beacon.guide.trivial import FrequencyGuide  # noqa: PLC0415

    task = Task(shop.args.network, shop.model, shop.queries, shop.trajectories)
    path, began = shop.folder / "fast.guide", perf_counter()
    train_fast(shop.model, task.queries, task.trajectories, seed=shop.args.seed).save(path)
    seconds = perf_counter() - began
    is_training = task.queries.split_of_queries == SPLITS.index("train")
    frequency = FrequencyGuide.from_references(
        shop.model, task.trajectories.references[is_training], task.queries.observed[is_training]
    )
    states = validation_states(task, 10, 0)
    shop.note("fast", {"seconds": seconds, **quality(task, load_guide(path, shop.model), *states)})
    shop.note("frequency", quality(task, frequency, *states))
    frequency.save(shop.folder / "frequency.guide")
    tuning = tune(shop.model, task.queries, load_guide(path, shop.model), seed=shop.args.seed)
    update_tuned(path, tuning.to_dict())
    shop.note("tuned", tuning.to_dict())


def plain(shop: Workshop) -> None:
    """Unguided search and the fast guide on the test queries; no GPU."""
    guide, gls = shop.guide("fast"), make_strategy("gls+")
    unguided: list[Method] = [EngineMethod.named("gls+"), *timed_methods(shop)]
    starts: list[Method] = [
        EngineMethod.named("greedy"),
        GuidedMethod("frequency start", shop.guide("frequency"), gls, "gls+"),
        GuidedMethod("fast start", guide, gls, "gls+"),
        GuidedMethod("fast start propagating", guide, gls, "gls+ propagating", propagate=True),
    ]
    shop.measure("timed", unguided, Budget(shop.steps, SECONDS))
    shop.measure("starts", starts, Budget(shop.steps, SECONDS[:-1]))


def timed_methods(shop: Workshop) -> list[Method]:
    """What a user would run: GLS+, the automatic mix, and the guide as it was tuned."""
    guide = shop.guide("fast")
    use = tuned_use(guide)
    strategy = default_strategy(guide, use)
    baseline = "gls+ propagating" if strategy == "gls+" else strategy
    return [
        EngineMethod("gls+ propagating", make_strategy("gls+"), propagate=True),
        EngineMethod("auto", make_strategy("auto"), propagate=True),
        GuidedMethod("tuned", guide, make_strategy(strategy), baseline, use, propagate=True),
    ]


def long(shop: Workshop) -> None:
    """A whole second for some of the test queries."""
    shop.measure("timed", timed_methods(shop), Budget((), (*SECONDS, 1.0)), LONG_QUERIES)


def exact(shop: Workshop) -> None:
    """An exact solver for a minute, and searches for ten seconds."""
    toulbar2 = PeerMethod("toulbar2", find_peer("toulbar2"))
    methods: list[Method] = [EngineMethod.named("greedy"), *timed_methods(shop)]
    shop.measure("searches", methods, Budget((), (1.0, 10.0)), EXACT_QUERIES)
    shop.measure("solvers", [toulbar2], Budget((), (60.0,)), EXACT_QUERIES)


def tune_weight(shop: Workshop, strategy: str) -> None:
    """λ and the candidates of the paper's rule, on a few validation queries; all curves are kept."""
    trials = [Trial(strategy, GuideUse(start="random"))]
    for candidates in ("improving", "all"):
        rules = paper_trials(strategy, CURVE_REFRESH, candidates)
        trials += [replace(rule, use=replace(rule.use, fallback=False)) for rule in rules]  # as published
    steps = [steps for steps in CURVE_STEPS if steps <= shop.args.max_steps]
    queries = queries_of(shop.network, shop.queries.split("validation"), shop.args.seed)[:CURVE_QUERIES]
    guide, scores = shop.guide("attention"), []
    for trial in trials:
        method = GuidedMethod("trial", guide, make_strategy(strategy), strategy, trial.use)
        guided = method.begin(shop.network, queries, shop.args.seed, 1)
        guided.run_until(MaxSteps(steps[-1]))
        scores.append([trace.best_at(steps) for trace in guided.traces])
    ranks = mean_ranks(np.array(scores)[1:])
    curves = [
        {
            "weight": trial.use.weight,
            "candidates": trial.use.candidates if trial.use.weight else None,
            "mean": np.mean(own, axis=0).tolist(),
            "std": np.std(own, axis=0).tolist(),
        }
        for trial, own in zip(trials, scores, strict=True)
    ]
    best = trials[1 + int(np.argmin(ranks))]
    facts = {"use": best.use.to_dict(), "ranks": ranks.tolist(), "steps": steps, "curves": curves}
    shop.note(f"tune-{strategy}", facts)


def follow(shop: Workshop, strategy: str) -> None:
    """The paper's rule, every step scored, on a share of the test queries; α is measured on the way."""
    use = GuideUse.from_dict(json.loads((shop.folder / f"tune-{strategy}.json").read_text())["use"])
    use = replace(use, refresh=shop.args.refresh)
    method = GuidedMethod(
        f"beacon-{strategy}", shop.guide("attention"), make_strategy(strategy), strategy, use
    )
    network, test = shop.network, np.flatnonzero(shop.queries.split_of_queries == SPLITS.index("test"))
    queries = queries_of(network, shop.queries.split("test"), shop.args.seed)[shop.args.shard :: SHARDS]
    references = shop.trajectories.references[test][shop.args.shard :: SHARDS]
    began = perf_counter()
    method.prepare(network)
    guided = method.begin(network, queries, shop.args.seed, 1)
    drift = Drift(guided.batch.assignments, references)
    for step in range(1, shop.steps[-1] + 1):
        guided.run_until(MaxSteps(step))
        drift.note(guided.batch.assignments, step)
    place = shop.folder / "results" / f"{strategy}-{shop.args.shard}"
    place.mkdir(parents=True, exist_ok=True)
    with record_store(place) as store:
        for query, run in zip(queries, method.runs(guided), strict=True):
            store.add(make_record(network, method, shop.args.seed, query, run, Budget(shop.steps)))
    facts = {**drift.facts(), "refresh": shop.args.refresh, "seconds": perf_counter() - began}
    shop.note(f"drift-{strategy}-{shop.args.shard}", facts)


def sparse(shop: Workshop) -> None:
    """The attention guide asked seldom: every 50 steps, once, or for the start alone."""
    use = GuideUse.from_dict(json.loads((shop.folder / "tune-gls+.json").read_text())["use"])
    guide, gls = shop.guide("attention"), make_strategy("gls+")
    methods: list[Method] = [
        GuidedMethod("refresh 50", guide, gls, "gls+", replace(use, refresh=50)),
        GuidedMethod("refresh 0", guide, gls, "gls+", replace(use, refresh=0)),
        GuidedMethod("attention start", guide, gls, "gls+", GuideUse()),
        GuidedMethod(
            "attention start, refresh 0", guide, gls, "gls+", replace(use, start="guide", refresh=0)
        ),
    ]
    shop.measure("sparse", methods, Budget(shop.steps, SECONDS))


STAGES: dict[str, Callable[[Workshop], None]] = {
    "prepare": prepare,
    "train": train,
    "fast": fast,
    "plain": plain,
    "long": long,
    "exact": exact,
    "tune-greedy": lambda shop: tune_weight(shop, "greedy"),
    "tune-gls+": lambda shop: tune_weight(shop, "gls+"),
    "follow-greedy": lambda shop: follow(shop, "greedy"),
    "follow-gls+": lambda shop: follow(shop, "gls+"),
    "sparse": sparse,
}


def is_done(run: Path, network: str, stage: str, shard: int) -> bool:
    return (run / network / f".{stage}-{shard}.done").exists()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument("--network", required=True)
    parser.add_argument("--shard", type=int, default=0)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--reference-steps", type=int, default=100_000)
    parser.add_argument("--preset", default="paper")
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--train-seconds", type=float, default=60.0)
    parser.add_argument("--states-per-query", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-steps", type=int, default=STEPS[-1])
    parser.add_argument("--refresh", type=int, default=1)
    args = parser.parse_args()
    shop, began = Workshop(args), perf_counter()
    STAGES[args.stage](shop)
    shop.note_run(args.stage, perf_counter() - began)
    (shop.folder / f".{args.stage}-{args.shard}.done").touch()


if __name__ == "__main__":
    main()
