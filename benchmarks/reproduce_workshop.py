"""A network's folder in the RUN of ``benchmarks/reproduce.py``, and how a search is watched there."""

from __future__ import annotations

import argparse
import json
import os
import platform
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.evaluation.method import Budget, Method, Network
from beacon.evaluation.protocol import Plan, evaluate_network
from beacon.evaluation.records import record_store
from beacon.formats import read_model
from beacon.guide.checkpoint import load_guide
from beacon.learn.trajectories import Trajectories
from beacon.model.flat import compile_model
from beacon.query.query_set import QuerySet

STEPS = (100, 200, 500, 1000, 2000, 4000)
LONG_QUERIES = 40  # test queries that are searched for a whole second
EXACT_QUERIES = 1  # test queries that an exact solver gets a minute for


class Workshop:
    """A network's folder, with what earlier stages have left in it."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.folder: Path = args.run / args.network
        self.folder.mkdir(parents=True, exist_ok=True)
        self.model = read_model(args.data / "paper" / f"{args.network}.uai.xz")

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(steps for steps in STEPS if steps <= self.args.max_steps)

    @property
    def queries(self) -> QuerySet:
        return QuerySet.load(self.folder / "queries.parquet", self.model)

    @property
    def trajectories(self) -> Trajectories:
        return Trajectories.load(self.folder / "trajectories.parquet", self.model, self.queries)

    @property
    def network(self) -> Network:
        return Network(self.args.network, self.model, compile_model(self.model))

    def guide(self, kind: str) -> Any:
        return load_guide(self.folder / f"{kind}.guide", self.model)

    def note(self, name: str, facts: Any) -> None:
        (self.folder / f"{name}.json").write_text(json.dumps(facts, indent=1))

    def measure(self, group: str, methods: list[Method], budget: Budget, count: int | None = None) -> None:
        """Run methods on the test queries, or on the first of them, one core."""
        place = self.folder / ("results" if count is None else f"first-{count}") / group
        place.mkdir(parents=True, exist_ok=True)
        test = self.queries.split("test")
        some = {name: getattr(test, name)[:count] for name in ("samples", "observed", "split_of_queries")}
        with record_store(place) as store:
            plan = Plan(budget, (self.args.seed,))
            evaluate_network(self.network, replace(test, **some), methods, plan, store, print)

    def note_run(self, stage: str, seconds: float) -> None:
        """All that is needed to understand a stage's numbers and to make them again."""
        settings = {
            name: str(value) for name, value in vars(self.args).items() if name not in ("run", "data")
        }
        facts = {"settings": settings, "seconds": seconds, **machine_facts()}
        self.note(f"run-{stage}-{self.args.shard}", facts)


def machine_facts() -> dict[str, Any]:
    """Hardware and versions."""
    import torch  # noqa: PLC0415

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    versions = {name: version(name) for name in ("numba", "numpy", "torch")}
    return {"gpu": gpu, "cores": os.cpu_count(), "python": platform.python_version(), **versions}


class Drift:
    """Of each search: moves at a distance above 0 from its reference, and how many came closer."""

    def __init__(self, states: NDArray[np.int64], references: NDArray[Any]) -> None:
        self.references, self.states = references, states
        self.distances = np.count_nonzero(states != references, axis=1)
        self.first = self.distances.copy()
        self.moves, self.closer = np.zeros_like(self.first), np.zeros_like(self.first)
        self.hits = np.where(self.first == 0, 0, -1)

    def note(self, states: NDArray[np.int64], step: int) -> None:
        flips = np.count_nonzero(states != self.states, axis=1)
        distances = np.count_nonzero(states != self.references, axis=1)
        counts = (flips == 1) & (self.distances > 0) & (self.hits < 0)
        self.moves += counts
        self.closer += counts & (distances < self.distances)
        self.hits[(distances == 0) & (self.hits < 0)] = step
        self.states, self.distances = states, distances

    def facts(self) -> dict[str, list[int]]:
        names = {
            "start_distance": self.first,
            "moves": self.moves,
            "closer": self.closer,
            "hitting_step": self.hits,
        }
        return {name: array.tolist() for name, array in names.items()}
