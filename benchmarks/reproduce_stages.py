"""The stages of one network of ``reproduce.py``: queries, references, training, choice of λ, test runs."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.evaluation.evaluate import queries_of
from beacon.evaluation.problem import load_suite
from beacon.strategies.strategy import Strategy

SUITE = Path(__file__).with_name("paper.toml")
BUDGETS = (500, 1000, 1500, 2000, 2500, 3000, 3500, 4000)
STRATEGIES = ("greedy", "gls+")
TEACHER_SECONDS = 300.0  # the paper's, at the paper's time per step
KINDS = {"own": None, "shared": 1}


@dataclass(frozen=True)
class Job:
    """One network, one kind of queries, one seed."""

    network: str
    kind: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.network}.{self.kind}.{self.seed}"

    @classmethod
    def parse(cls, name: str) -> Job:
        """The job of that name: ``BN_30.own.0``."""
        network, kind, seed = name.rsplit(".", 2)
        if network not in suite() or kind not in KINDS:
            raise ValueError(name)
        return cls(network, kind, int(seed))

    def is_done(self, results: Path) -> bool:
        return (results / f"{self.name}.json").exists()


class Shop:
    """A job's folder in RUN, with what its stages have left there."""

    def __init__(self, job: Job, args: argparse.Namespace) -> None:
        from beacon.formats import read_model  # noqa: PLC0415

        self.job, self.args = job, args
        self.folder: Path = args.run / job.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.model = read_model(args.data / f"{job.network}.uai.xz")

    def file(self, name: str) -> Path:
        return self.folder / name

    @cached_property
    def queries(self) -> Any:
        from beacon.query.query_set import QuerySet  # noqa: PLC0415

        return QuerySet.load(self.file("queries.parquet"), self.model)

    @cached_property
    def trajectories(self) -> Any:
        from beacon.learn.trajectories import Trajectories  # noqa: PLC0415

        return Trajectories.load(self.file("trajectories.parquet"), self.model, self.queries)

    @cached_property
    def flat(self) -> Any:
        from beacon.model.flat import compile_model  # noqa: PLC0415

        return compile_model(self.model)

    @cached_property
    def guide(self) -> Any:
        from beacon.guide.checkpoint import load_guide  # noqa: PLC0415

        return load_guide(self.file("guide"), self.model, self.args.device)

    def split(self, name: str) -> tuple[list[dict[int, int]], list[NDArray[np.int64]], NDArray[Any]]:
        """Evidence, starts and references of a split's queries."""
        from beacon.evaluation.method import Network  # noqa: PLC0415

        network = Network(self.job.network, self.model, self.flat)
        queries = queries_of(network, self.queries.split(name), self.job.seed)
        places = self.queries.split_of_queries == ("train", "validation", "test").index(name)
        references = self.trajectories.references[places]
        return [query.evidence for query in queries], [query.start for query in queries], references

    def facts(self, name: str) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.file(f"{name}.json").read_text())
        return facts

    def note(self, name: str, facts: dict[str, Any]) -> None:
        temporary = self.file(f".{name}.tmp")
        temporary.write_text(json.dumps(facts))
        temporary.rename(self.file(f"{name}.json"))


def prepare(shop: Shop) -> None:
    """Queries, references by GLS+ with the paper's number of steps, and walks."""
    from beacon.learn.collect import CollectSettings, collect  # noqa: PLC0415
    from beacon.learn.teacher import TeacherSettings  # noqa: PLC0415
    from beacon.query.query_set import sample_queries  # noqa: PLC0415
    from beacon.query.sampling import GibbsSettings  # noqa: PLC0415

    args, began = shop.args, perf_counter()
    if not shop.file("queries.parquet").exists():
        gibbs = GibbsSettings(chains=KINDS[shop.job.kind])
        sample_queries(shop.model, args.queries, shop.job.seed, gibbs=gibbs).save(
            shop.file("queries.parquet")
        )
    sampled = perf_counter()
    steps = args.reference_steps or reference_steps(shop.job.network)
    settings = CollectSettings(TeacherSettings("gls+", steps=steps), steps=args.walk_steps)
    path = shop.file("trajectories.parquet")
    if not path.exists():
        collect(shop.model, shop.queries, settings, seed=shop.job.seed, path=path, jobs=args.prepare_cores)
    seconds = {"sampling": sampled - began, "collecting": perf_counter() - sampled}
    shop.note("prepare", {"reference_steps": steps, "seconds": seconds, "cores": args.prepare_cores})


def reference_steps(network: str) -> int:
    """Steps that the paper's GLS+ makes in the time that it was given for a reference."""
    return round(TEACHER_SECONDS / suite()[network].published["seconds_per_step"]["gls+"][0])


def train(shop: Shop, deadline: float) -> bool:
    """Train to early stopping; False if time was up before."""
    import torch  # noqa: PLC0415
    from training import training_flops  # noqa: PLC0415

    from beacon.learn.attention import PRESETS  # noqa: PLC0415

    preset = PRESETS[shop.args.preset]
    began = perf_counter()

    def hear(epoch: dict[str, Any]) -> None:
        print(f"{shop.job.name}: {epoch}", flush=True)
        if monotonic() > deadline:
            raise KeyboardInterrupt  # ends training; the state file goes on

    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    guide = preset.train(
        shop.model,
        shop.queries,
        shop.trajectories,
        seed=shop.job.seed,
        device=shop.args.device,
        state_file=shop.file("guide.unfinished"),
        on_epoch=hear,
    )
    if not guide.facts["is_complete"]:
        return False
    guide.save(shop.file("guide"))
    later = [epoch["seconds"] for epoch in guide.history[1:]] or [guide.history[0]["seconds"]]
    flops = training_flops(preset, shop.model, shop.queries, shop.trajectories)
    facts = {
        "seconds": sum(epoch["seconds"] for epoch in guide.history),
        "seconds_of_last_call": perf_counter() - began,
        "tflops_per_second": flops / float(np.mean(later)) / 1e12,
        "peak_memory_gib": torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else None,
        "best_epoch": guide.facts["best_epoch"],
        "history": guide.history,
        "settings": {"network": asdict(preset.network), "training": asdict(preset.training)},
    }
    shop.note("train", facts)
    return True


def unguided(
    shop: Shop,
    strategy: str | Strategy,
    evidences: Sequence[Any],
    starts: Sequence[Any],
    marks: Sequence[int],
) -> tuple[NDArray[np.float64], NDArray[np.int64], float]:
    """[queries, marks] best scores and zero factors of a strategy by itself; seconds of one step."""
    from beacon.reduce.propagate import fixed_values  # noqa: PLC0415
    from beacon.runner.search import Search  # noqa: PLC0415
    from beacon.runner.stop import MaxSteps  # noqa: PLC0415
    from beacon.strategies.strategy import make_strategy  # noqa: PLC0415

    plan = make_strategy(strategy).fitted(shop.flat)

    def run(query: int) -> tuple[Any, Any, float]:
        fixed = fixed_values(shop.flat, evidences[query], None, False)
        search = Search(shop.flat, fixed, plan, starts[query], shop.job.seed)
        search.run(MaxSteps(marks[-1]))
        places = np.searchsorted(search.trace.steps, marks, side="right") - 1
        zeros = search.trace.zero_factors[places]
        return search.trace.best_at(marks), zeros, search.seconds / max(1, search.steps)

    run(0)  # loads the kernel
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        scores, zeros, seconds = zip(*pool.map(run, range(len(evidences))), strict=True)
    return np.array(scores), np.array(zeros), float(np.mean(seconds))


def without_planning() -> None:
    """Do without cuDNN's attention: it plans anew for every shape, and shapes vary with the step."""
    import torch  # noqa: PLC0415

    torch.backends.cuda.enable_cudnn_sdp(False)


def guided(
    shop: Shop, uses: dict[str, list[Any]], split: str, chosen: slice, marks: Sequence[int]
) -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.int64]], dict[str, Any]]:
    """[uses, queries, marks] best scores and zero factors of every strategy, every step scored."""
    from lockstep import Lockstep, run_together  # noqa: PLC0415

    from beacon.guide.device import autocast  # noqa: PLC0415
    from beacon.strategies.strategy import make_strategy  # noqa: PLC0415

    evidences, starts, references = (rows[chosen] for rows in shop.split(split))
    groups = [
        Lockstep(shop.flat, make_strategy(strategy), evidences, starts, uses[strategy], shop.job.seed)
        for strategy in uses
    ]
    drifts = [
        Drift(group.assignments, np.concatenate([references] * len(uses[s])))
        for group, s in zip(groups, uses, strict=True)
    ]

    def watch(step: int) -> None:
        for drift, group in zip(drifts, groups, strict=True):
            drift.note(group.assignments, step)

    without_planning()
    began = perf_counter()
    with autocast(shop.guide.device):  # once, so that weights are cast once
        found = run_together(groups, shop.guide.score_moves, marks, watch if split == "test" else None)
    seconds = perf_counter() - began
    searches = sum(len(group.assignments) for group in groups)
    shape = (-1, len(evidences), len(marks))
    scores = {s: own[0].reshape(shape) for s, own in zip(uses, found, strict=True)}
    zeros = {s: own[1].reshape(shape) for s, own in zip(uses, found, strict=True)}
    facts = {
        "seconds": seconds,
        "searches": searches,
        "seconds_per_step": seconds / marks[-1] / searches,
        "drift": {s: drift.facts() for s, drift in zip(uses, drifts, strict=True)} if split == "test" else {},
    }
    return scores, zeros, facts


def _without_folders(words: Sequence[str]) -> list[str]:
    """Where things lie on one machine says nothing to others: of an absolute path the last name is enough."""
    return [Path(word).name if Path(word).is_absolute() else word for word in words]


def test(shop: Shop) -> None:
    """All four methods on the test queries; then the two files of the results."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    from beacon.guided.guidance import GuideUse  # noqa: PLC0415

    marks = [budget for budget in BUDGETS if budget <= shop.args.steps]
    uses = {s: [GuideUse.from_dict(use)] for s, use in shop.facts("tune")["chosen"].items()}
    scores, zeros, facts = guided(shop, uses, "test", slice(None), marks)
    evidences, starts, _ = shop.split("test")
    rows, step_seconds = [], {}
    for strategy in STRATEGIES:
        base, base_zeros, step_seconds[strategy] = unguided(shop, strategy, evidences, starts, marks)
        rows += _rows(strategy, base, base_zeros, marks)
        rows += _rows(f"beacon-{strategy}", scores[strategy][0], zeros[strategy][0], marks)
    columns = dict(zip(("method", "query", "steps", "score", "zeros"), zip(*rows, strict=True), strict=True))
    args = shop.args
    args.results.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), args.results / f"{shop.job.name}.parquet", compression="zstd")
    run = {
        "network": shop.job.network,
        "queries": shop.job.kind,
        "seed": shop.job.seed,
        "commit": args.commit,
        "command": " ".join(["python", "benchmarks/reproduce.py", *_without_folders(sys.argv[1:])]),
        "machine": machine(),
        "log_zero": shop.flat.log_zero,
        "settings": {name: str(getattr(args, name)) for name in ("queries", "walk_steps", "preset", "steps")},
        **{stage: shop.facts(stage) for stage in ("prepare", "train", "tune")},
        "test": {**facts, "unguided_seconds_per_step": step_seconds},
    }
    (args.results / f"{shop.job.name}.json").write_text(json.dumps(run, indent=1) + "\n")


def _rows(method: str, scores: Any, zeros: Any, marks: Sequence[int]) -> list[tuple[Any, ...]]:
    return [
        (method, query, mark, float(scores[query, k]), int(zeros[query, k]))
        for query in range(len(scores))
        for k, mark in enumerate(marks)
    ]


class Drift:
    """Of each search: moves at a distance above 0 from its reference, and how many came closer."""

    def __init__(self, states: NDArray[np.int32], references: NDArray[Any]) -> None:
        self.references, self.states = references, states.copy()
        self.distances = np.count_nonzero(states != references, axis=1)
        self.first = self.distances.copy()
        self.moves, self.closer = np.zeros_like(self.first), np.zeros_like(self.first)
        self.hits = np.where(self.first == 0, 0, -1)

    def note(self, states: NDArray[np.int32], step: int) -> None:
        flips = np.count_nonzero(states != self.states, axis=1)
        distances = np.count_nonzero(states != self.references, axis=1)
        counts = (flips == 1) & (self.distances > 0) & (self.hits < 0)
        self.moves += counts
        self.closer += counts & (distances < self.distances)
        self.hits[(distances == 0) & (self.hits < 0)] = step
        self.states, self.distances = states.copy(), distances

    def facts(self) -> dict[str, list[int]]:
        """``hitting_step`` is -1 where the reference was not reached: the run was too short to say when."""
        arrays = {"start_distance": self.first, "moves": self.moves, "closer": self.closer}
        return {name: array.tolist() for name, array in {**arrays, "hitting_step": self.hits}.items()}


def machine() -> dict[str, Any]:
    """Hardware and versions."""
    import torch  # noqa: PLC0415

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    versions = {name: version(name) for name in ("numba", "numpy", "torch")}
    return {"gpu": gpu, "cores": os.cpu_count(), "python": platform.python_version(), **versions}


def suite() -> dict[str, Any]:
    """The paper's networks by the names of their files."""
    return {network.file.removesuffix(".uai"): network for network in load_suite(SUITE)}
