"""Small networks and evaluations that several tests use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from beacon.evaluation.evaluate import evaluate_network
from beacon.evaluation.method import Budget, EngineMethod, Method, Network
from beacon.evaluation.records import record_store
from beacon.model.families import ising_grid
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, sample_queries

TIMED = {"setup_seconds", "seconds", "second_scores", "second_zeros", "trace_seconds", "bound_seconds"}


def small_network(seed: int = 1, name: str = "grid") -> Network:
    return network_of(ising_grid(rows=4, columns=4, seed=seed), name)


def network_of(model: GraphicalModel, name: str = "grid") -> Network:
    return Network(name, model, compile_model(model))


def some_queries(network: Network, count: int = 4) -> QuerySet:
    return sample_queries(network.model, count, 5, splits=(0.0, 0.0, 1.0))


def engine_methods(*names: str) -> list[Method]:
    return [EngineMethod.named(name) for name in names]


def evaluated(
    folder: Path,
    network: Network,
    methods: Sequence[Method],
    *,
    seeds: tuple[int, ...] = (0,),
    budget: Budget | None = None,
    queries: QuerySet | None = None,
) -> list[dict[str, Any]]:
    """The records of a small evaluation."""
    budget = budget or Budget(steps=(10, 50))
    with record_store(folder) as store:
        chosen = queries if queries is not None else some_queries(network)
        evaluate_network(network, chosen, methods, budget, store, seeds=seeds)
        store.merge()
        return store.rows()


def repeatable(row: dict[str, Any]) -> dict[str, Any]:
    """The part of a record that does not depend on the clock."""
    return {name: value for name, value in row.items() if name not in TIMED}
