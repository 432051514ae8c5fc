"""Ising grids: frustrated pairwise models of binary variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError, check_number, check_seed
from beacon.model.factors import Factors
from beacon.model.families.settings import check_amount, check_size
from beacon.model.graphical_model import GraphicalModel


def ising_grid(
    rows: int = 20,
    columns: int = 20,
    *,
    coupling: float = 5.0,
    field: float = 1.0,
    wrap: bool = False,
    seed: int = 0,
) -> GraphicalModel:
    """Grid of binary variables with random couplings between neighbours and a random field on each.

    Couplings are uniform in [-coupling, coupling] and fields in [-field, field]; neighbours with a
    positive coupling want to be equal. ``wrap`` closes the grid to a torus.
    """
    check_amount("rows", rows, 1)
    check_amount("columns", columns, 1)
    check_number("coupling", coupling, 0)
    check_number("field", field, 0)
    check_seed(seed)
    check_size(3 * rows * columns, 10 * rows * columns)
    if wrap and min(rows, columns) < 3:
        raise UsageError(f"wrap needs at least 3 rows and 3 columns; found {rows} and {columns}")
    rng = np.random.default_rng(seed)
    pairs = _neighbours(np.arange(rows * columns).reshape(rows, columns), wrap)
    fields = rng.uniform(-field, field, rows * columns)
    singles = np.arange(rows * columns)[:, None]
    couplings = rng.uniform(-coupling, coupling, len(pairs))
    return GraphicalModel(
        names=tuple(f"x_{r}_{c}" for r in range(rows) for c in range(columns)),
        labels=(("0", "1"),) * (rows * columns),
        factors=ising_factors(rows * columns, singles, fields, pairs, couplings),
    )


def ising_factors(
    num_variables: int,
    singles: NDArray[np.int64],
    fields: NDArray[np.float64],
    pairs: NDArray[np.int64],
    couplings: NDArray[np.float64],
) -> Factors:
    """A factor [f, -f] for each field, and [[c, -c], [-c, c]] for each coupling."""
    field_tables = fields[:, None] * np.array([1.0, -1.0])
    coupling_tables = couplings[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return Factors.of_blocks([2] * num_variables, (singles, field_tables), (pairs, coupling_tables))


def _neighbours(grid: NDArray[np.int64], wrap: bool) -> NDArray[np.int64]:
    """Pairs of variables side by side, then pairs one above the other."""
    right = np.stack([grid, np.roll(grid, -1, axis=1)], axis=-1)
    below = np.stack([grid, np.roll(grid, -1, axis=0)], axis=-1)
    if not wrap:
        right, below = right[:, :-1], below[:-1]
    return np.concatenate([right.reshape(-1, 2), below.reshape(-1, 2)])
