"""Small trajectories made without the engine: random walks towards the best assignment."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from beacon.learn.trajectories import Trajectories
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet


def walk_trajectories(
    model: GraphicalModel, queries: QuerySet, runs: int = 2, steps: int = 12, seed: int = 0
) -> Trajectories:
    """References by brute force; runs flip a random query variable, every other time to its reference."""
    rng = np.random.default_rng(seed)
    references = np.array([best_assignment(model, queries.evidence(q)) for q in range(len(queries))])
    starts, variables, values = zip(
        *[_runs(model, queries.observed[q], references[q], runs, steps, rng) for q in range(len(queries))],
        strict=True,
    )
    small = np.min_scalar_type(model.max_domain - 1)
    return Trajectories(
        fingerprint=model.fingerprint,
        references=references.astype(small),
        reference_scores=model.log_scores(references),
        reference_zeros=np.zeros(len(queries), dtype=np.int64),
        sources=("brute force",) * len(queries),
        starts=np.array(starts).astype(small),
        flip_variables=np.array(variables, dtype=np.int32),
        flip_values=np.array(values).astype(small),
        settings={},
    )


def best_assignment(model: GraphicalModel, evidence: dict[int, int]) -> NDArray[np.int64]:
    choices = [[evidence[i]] if i in evidence else range(d) for i, d in enumerate(model.domain_sizes)]
    rows = np.array(list(itertools.product(*choices)))
    scores = sum(factor.log_table[tuple(rows[:, i] for i in factor.scope)] for factor in model.factors)
    best: NDArray[np.int64] = rows[np.argmax(scores)]
    return best


def _runs(
    model: GraphicalModel,
    observed: NDArray[np.bool_],
    reference: NDArray[np.int64],
    runs: int,
    steps: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    free = np.flatnonzero(~observed & (model.domain_sizes > 1))
    starts = np.where(observed, reference, rng.integers(model.domain_sizes, size=(runs, len(observed))))
    variables = np.full((runs, steps), -1)
    values = np.zeros((runs, steps), dtype=np.int64)
    for run, step in itertools.product(range(runs), range(steps)):
        if len(free):
            i = int(rng.choice(free))
            variables[run, step] = i
            values[run, step] = reference[i] if step % 2 else rng.integers(model.domain_sizes[i])
    return starts, variables, values
