"""Thousands of small random models of all kinds, and their optima by adding up whole joint tables."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beacon.model.flat import FlatModel, as_fixed, compile_model
from beacon.model.graphical_model import GraphicalModel

KINDS = ("plain", "zeros", "many zeros", "ties", "wide", "pairs", "parts", "deterministic", "large numbers")
MAX_JOINT = 20_000  # assignments that brute force adds up


def joint_table(model: GraphicalModel, evidence: dict[int, int]) -> NDArray[np.float64]:
    """The score of every assignment, one axis per variable, observed variables with one value only."""
    shape = [1 if i in evidence else int(size) for i, size in enumerate(model.domain_sizes)]
    joint = np.zeros(shape)
    for factor in model.factors:
        cut = tuple(
            slice(evidence[i], evidence[i] + 1) if i in evidence else slice(None) for i in factor.scope
        )
        order = np.argsort(factor.scope)
        table = np.transpose(factor.log_table[cut], order)
        axes = [i not in factor.scope for i in range(model.num_variables)]
        joint = joint + np.expand_dims(table, tuple(np.flatnonzero(axes).tolist()))
    return joint


def optimum(model: GraphicalModel, evidence: dict[int, int]) -> float:
    return float(joint_table(model, evidence).max())


def random_model(rng: np.random.Generator, kind: str) -> GraphicalModel:
    """A model of some kind, with single values, constants and unused variables now and then."""
    sizes = _sizes(rng, kind)
    tables = [_factor(rng, kind, sizes) for _ in range(rng.integers(0, 2 * len(sizes) + 2))]
    return GraphicalModel.from_tables(sizes, tables)


def _sizes(rng: np.random.Generator, kind: str) -> list[int]:
    count = int(rng.integers(1, 10))
    sizes = rng.integers(1, 5, count) if kind != "deterministic" else rng.integers(2, 4, count)
    while math.prod(sizes.tolist()) > MAX_JOINT:
        sizes = np.minimum(sizes, rng.integers(1, 4, count))
    return [int(size) for size in sizes]


def _factor(rng: np.random.Generator, kind: str, sizes: list[int]) -> tuple[list[int], NDArray[np.float64]]:
    most = {"wide": 6, "pairs": 2}.get(kind, 3)
    scope = rng.permutation(len(sizes))[: rng.integers(0, min(most, len(sizes)) + 1)]
    if kind == "parts":  # variables of one third only
        scope = scope[scope % 3 == (scope[0] % 3 if len(scope) else 0)]
    shape = [sizes[i] for i in scope]
    return [int(i) for i in scope], _table(rng, kind, shape)


def _table(rng: np.random.Generator, kind: str, shape: list[int]) -> NDArray[np.float64]:
    table = np.asarray(rng.normal(0, 3, shape))
    if kind == "ties":
        return np.asarray(rng.integers(-1, 2, shape).astype(float))
    if kind == "large numbers":
        return np.asarray(table * 10.0 ** rng.integers(-6, 10))
    share = {"zeros": 0.2, "many zeros": 0.5, "deterministic": 0.6}.get(kind, 0.0)
    return np.where(rng.random(shape) < share, -np.inf, table)


def random_evidence(rng: np.random.Generator, model: GraphicalModel) -> dict[int, int]:
    observed = rng.random(model.num_variables) < rng.choice([0.0, 0.2, 0.5, 1.0])
    return {int(i): int(rng.integers(model.domain_sizes[i])) for i in np.flatnonzero(observed)}


def flat_query(model: GraphicalModel, evidence: dict[int, int]) -> tuple[FlatModel, NDArray[np.int32]]:
    return compile_model(model), as_fixed(evidence, model.num_variables)


def small_queries(kind: str, count: int, seed: int = 0) -> Iterator[tuple[GraphicalModel, dict[int, int]]]:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    for _ in range(count):
        model = random_model(rng, kind)
        yield model, random_evidence(rng, model)


def is_close(score: float, expected: float) -> bool:
    return score == expected or math.isclose(score, expected, rel_tol=1e-12, abs_tol=1e-9)
