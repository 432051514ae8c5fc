"""Random Bayesian networks, with zeros in their tables on request."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError, check_count, check_number, check_seed
from beacon.model.families.settings import check_amount, check_size
from beacon.model.graphical_model import GraphicalModel


def random_bayes_net(
    num_variables: int = 200,
    *,
    max_parents: int = 3,
    max_domain: int = 3,
    zero_fraction: float = 0.3,
    seed: int = 0,
) -> GraphicalModel:
    """Bayesian network whose variables have up to ``max_parents`` random earlier variables as parents.

    Domains have 2 to ``max_domain`` values. Each table entry is zero with probability ``zero_fraction``;
    one entry of every distribution always stays.
    """
    check_amount("num_variables", num_variables, 1)
    check_count("max_parents", max_parents, 0, 20)
    check_count("max_domain", max_domain, 2, 1000)
    check_number("zero_fraction", zero_fraction, 0, 1)
    check_seed(seed)
    check_size(num_variables, num_variables * max_domain)
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, max_domain + 1, num_variables)
    scopes = [_random_scope(child, max_parents, rng) for child in range(num_variables)]
    _check_entries(scopes, sizes.tolist())
    tables = [_random_distribution(sizes[scope], zero_fraction, rng) for scope in scopes]
    return GraphicalModel.from_tables(sizes.tolist(), zip(scopes, tables, strict=True))


def _random_scope(child: int, max_parents: int, rng: np.random.Generator) -> list[int]:
    """A few earlier variables, then the child."""
    count = int(rng.integers(0, max_parents + 1))
    parents = rng.choice(child, min(count, child), replace=False) if child else np.empty(0, dtype=np.int64)
    return [*sorted(parents.tolist()), child]


def _check_entries(scopes: list[list[int]], sizes: list[int]) -> None:
    entries = [math.prod(sizes[i] for i in scope) for scope in scopes]
    try:
        check_size(len(scopes), sum(entries))
    except UsageError as error:
        raise UsageError(f"{error}; lower max_parents or max_domain") from None


def _random_distribution(
    shape: NDArray[np.int64], zero_fraction: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Log table whose last axis sums to 1."""
    weights = rng.exponential(size=tuple(shape))
    weights[(rng.random(weights.shape) < zero_fraction) & (weights < weights.max(axis=-1, keepdims=True))] = 0
    with np.errstate(divide="ignore"):
        log_table: NDArray[np.float64] = np.log(weights / weights.sum(axis=-1, keepdims=True))
    return log_table
