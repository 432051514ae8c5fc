"""The protocol: every method on the same queries from the same starts, with nothing done twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from beacon.errors import UsageError
from beacon.evaluation.method import Budget, Method, Network, Query
from beacon.evaluation.records import make_record
from beacon.io.row_store import RowStore
from beacon.query.query_set import QuerySet
from beacon.runner.stop import random_start

OnRun = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What is to be measured on every network."""

    budget: Budget
    seeds: tuple[int, ...] = (0,)
    threads: int = 1

    def __post_init__(self) -> None:
        """Refuse a plan without seeds."""
        if not self.seeds or min(self.seeds) < 0:
            raise UsageError(f"seeds must be 0 or more, at least one; found {self.seeds}")


def queries_of(network: Network, queries: QuerySet, seed: int) -> list[Query]:
    """The queries with the starts that belong to a seed."""
    evidences = [queries.evidence(index) for index in range(len(queries))]
    return [
        Query(index, evidence, random_start(network.model, evidence, seed))
        for index, evidence in enumerate(evidences)
    ]


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
