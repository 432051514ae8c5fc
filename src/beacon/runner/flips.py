"""What changing one variable of an assignment costs, for all variables and values at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.model.flat import FlatModel


def flip_losses(model: FlatModel, assignment: NDArray[np.int64]) -> NDArray[np.float64]:
    """[moves] by how much the score falls with another value of one variable; infinite where it is zero then.

    0 for the values that the assignment has. The assignment must have no zero factors itself.
    """
    variables, strides = model.scopes[:, 0], model.scopes[:, 1].astype(np.int64)
    arities = np.diff(model.scope_starts)
    steps = np.concatenate([[0], np.cumsum(assignment[variables] * strides)])
    entries = model.bases + steps[model.scope_starts[1:]] - steps[model.scope_starts[:-1]]
    current = np.repeat(entries, arities)
    sizes = model.domain_sizes[variables].astype(np.int64)
    place = np.repeat(np.arange(len(variables)), sizes)
    value = np.arange(len(place)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    others = model.log_table[(current[place] + (value - assignment[variables[place]]) * strides[place])]
    falls = np.where(others == model.log_zero, np.inf, model.log_table[current[place]] - others)
    moves = model.move_starts[variables[place]] + value
    losses: NDArray[np.float64] = np.zeros(model.num_moves)
    np.add.at(losses, moves, falls)
    return losses
