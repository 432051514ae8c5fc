"""The protocol: every method on the same queries from the same starts, with nothing done twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from beacon.errors import UsageError
from beacon.evaluation.drift_records import DriftTask, drift_row
from beacon.evaluation.method import Budget, Method, Network, Query, uniform_start
from beacon.evaluation.records import make_record
from beacon.io.row_store import Key, RowStore
from beacon.query.query_set import QuerySet

OnRun = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What is to be measured on every network."""

    budget: Budget
    seeds: tuple[int, ...] = (0,)
    threads: int = 1
    drift_steps: int = 0
    """Steps of each search that are followed for drift; 0: none."""

    def __post_init__(self) -> None:
        """Refuse a plan without seeds."""
        if not self.seeds or min(self.seeds) < 0:
            raise UsageError(f"seeds must be 0 or more, at least one; found {self.seeds}")


def queries_digest(queries: QuerySet) -> str:
    """A short name for exactly these queries in this order."""
    content = hashlib.sha256(np.ascontiguousarray(queries.samples, dtype=np.int64).tobytes())
    content.update(np.packbits(queries.observed).tobytes())
    return content.hexdigest()[:16]


def queries_of(network: Network, queries: QuerySet, seed: int) -> list[Query]:
    """The queries with the starts that belong to a seed."""
    evidences = [queries.evidence(index) for index in range(len(queries))]
    return [
        Query(index, evidence, uniform_start(network.model, evidence, index, seed))
        for index, evidence in enumerate(evidences)
    ]


def remaining(network: str, methods: Sequence[Method], plan: Plan, num_queries: int, done: set[Key]) -> int:
    """How many runs are still to be made."""
    keys = product([network], [method.name for method in methods], plan.seeds, range(num_queries))
    return sum(key not in done for key in keys)


def evaluate_network(
    network: Network, queries: QuerySet, methods: Sequence[Method], plan: Plan, store: RowStore, on_run: OnRun
) -> None:
    """Run every method on every query and seed that the store does not hold yet."""
    done = store.keys()
    for seed in plan.seeds:
        every = queries_of(network, queries, seed)
        for method in methods:
            todo = [query for query in every if (network.name, method.name, seed, query.index) not in done]
            if todo:
                method.prepare(network)
            for query, run in method.run(network, todo, plan.budget, seed, plan.threads) if todo else ():
                if run.stop != "interrupted":
                    store.add(make_record(network, method, seed, query, run, plan.budget))
                on_run(f"{network.name}, {method.name}")


def follow_network(
    network: Network, queries: QuerySet, methods: Sequence[Method], plan: Plan, task: DriftTask, on_run: OnRun
) -> None:
    """Measure the drift of every method that flips one variable at a time, towards the best known answers."""
    done = task.store.keys()
    for seed in plan.seeds:
        every = queries_of(network, queries, seed)
        for method in methods:
            if not method.walks:
                continue
            method.prepare(network)
            for query in every:
                reference = task.references.get(query.index)
                if reference is None or (network.name, method.name, seed, query.index) in done:
                    continue
                task.store.add(drift_row(network, method, query, seed, plan.drift_steps, reference))
                on_run(f"{network.name}, drift of {method.name}")
