"""Small models, states and references for tests of guides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.guide.fast_guide import FastWeights
from beacon.guided.guide import States
from beacon.learn.trajectories import Trajectories
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, sample_queries
from beacon.runner.stop import MaxSteps
from beacon.solver import solve_many

MIXED = GraphicalModel.from_tables(
    [2, 3, 1, 4, 2],
    [((0, 1), np.arange(6.0)), ((1, 3), -np.arange(12.0) % 5), ((2, 4), [0.5, 0.0]), ((3,), [1.0, 0, 0, 2])],
)
"""Domains of several sizes, one of them a single value."""


def chain(length: int = 30, coupling: float = 2.0) -> GraphicalModel:
    """Binary variables that want to equal their neighbours: a little evidence says nearly all."""
    pair = np.array([[coupling, -coupling], [-coupling, coupling]])
    return GraphicalModel.from_tables([2] * length, [((i, i + 1), pair) for i in range(length - 1)])


def random_states(model: GraphicalModel, count: int = 7, seed: int = 0, share: float = 0.4) -> States:
    """Random assignments, each with some evidence; the first row has none."""
    rng = np.random.default_rng(seed)
    assignments = rng.integers(model.domain_sizes, size=(count, model.num_variables))
    observed = rng.random(assignments.shape) < share
    observed[0] = False
    return States(assignments, observed)


def random_weights(model: GraphicalModel, width: int = 6, seed: int = 0) -> FastWeights:
    """A network that was never trained, with an opinion on everything."""
    rng = np.random.default_rng(seed)
    moves = int(model.domain_sizes.sum())
    shapes = [(moves, width), (width, width), (width,), (width, moves), (moves,)]
    return FastWeights(*(rng.normal(0, 0.5, shape).astype(np.float32) for shape in shapes))


def evidence_of(states: States) -> list[dict[int, int]]:
    """Each row's evidence."""
    rows = zip(states.assignments, states.observed, strict=True)
    return [{int(i): int(row[i]) for i in np.flatnonzero(mask)} for row, mask in rows]


def trajectories_of(model: GraphicalModel, queries: QuerySet, references: NDArray[np.int64]) -> Trajectories:
    """Trajectories with references and no states."""
    count, n = queries.samples.shape
    return Trajectories(
        fingerprint=model.fingerprint,
        references=references.astype(np.uint8),
        reference_scores=model.log_scores(references),
        reference_zeros=np.zeros(count, dtype=np.int64),
        sources=("gls+",) * count,
        starts=np.zeros((count, 0, n), dtype=np.uint8),
        flip_variables=np.zeros((count, 0, 0), dtype=np.int32),
        flip_values=np.zeros((count, 0, 0), dtype=np.uint8),
        settings={},
    )


def solved_queries(model: GraphicalModel, count: int, seed: int = 0) -> tuple[QuerySet, Trajectories]:
    """Sampled queries and what a short search finds for them."""
    queries = sample_queries(model, count, seed, splits=(0.7, 0.2, 0.1))
    evidences = [queries.evidence(k) for k in range(count)]
    results = solve_many(model, evidences, strategy="gls+", stop=MaxSteps(2000), threads=1)
    return queries, trajectories_of(model, queries, np.array([result.assignment for result in results]))
