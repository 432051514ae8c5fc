"""Weighted graph colouring: neighbours of the same colour pay the weight of their edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.errors import check_count, check_number, check_seed
from beacon.model.factors import Factors
from beacon.model.families.settings import check_range, check_size
from beacon.model.graphical_model import GraphicalModel


def weighted_coloring(
    num_vertices: int = 150,
    *,
    density: float = 0.06,
    num_colors: int = 3,
    min_weight: float = 1.0,
    max_weight: float = 10.0,
    seed: int = 0,
) -> GraphicalModel:
    """Random graph whose vertices take a colour; an edge costs its weight if both ends have the same.

    ``density`` is the share of the possible edges; weights are uniform between the two bounds (equal
    bounds make every edge alike, as in the published colouring models).
    """
    check_count("num_vertices", num_vertices, 2, 1_000_000)
    check_number("density", density, 0, 1)
    check_count("num_colors", num_colors, 2, 1000)
    check_number("min_weight", min_weight, 0)
    check_number("max_weight", max_weight, 0)
    check_range("weight", min_weight, max_weight)
    check_seed(seed)
    num_pairs = num_vertices * (num_vertices - 1) // 2
    num_edges = round(density * num_pairs)
    check_size(num_edges, num_edges * num_colors**2)
    rng = np.random.default_rng(seed)
    edges = _pairs_at(np.sort(rng.choice(num_pairs, num_edges, replace=False)))
    weights = rng.uniform(min_weight, max_weight, num_edges)
    tables = -weights[:, None, None] * np.eye(num_colors)
    return GraphicalModel(
        names=tuple(f"vertex_{i}" for i in range(num_vertices)),
        labels=(tuple(f"color_{k}" for k in range(num_colors)),) * num_vertices,
        factors=Factors.of_blocks([num_colors] * num_vertices, (edges, tables)),
    )


def _pairs_at(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs (a, b), a < b, at these positions of the list (0,1), (0,2), (1,2), (0,3), …"""
    b = ((1 + np.sqrt(1 + 8 * positions)) / 2).astype(np.int64)
    b -= b * (b - 1) // 2 > positions  # the square root may be rounded up
    return np.column_stack([positions - b * (b - 1) // 2, b])
