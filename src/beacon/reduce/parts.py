"""The independent parts of a query: free variables that the factors, all else fixed, do not join.

Each part has a best assignment of its own, and the best of all parts together is the best of the query;
a search that waited for all parts to be at their best at once would rarely see it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel


@inlined
def _reach(
    variable: int,
    part: int,
    is_free: NDArray[np.bool_],
    part_of: NDArray[np.int32],
    queue: NDArray[np.int32],
    tail: int,
) -> int:
    """Put a variable into a part if it is free and in none yet; return the queue's new end."""
    if is_free[variable] and part_of[variable] < 0:
        part_of[variable] = part
        queue[tail] = variable
        tail += 1
    return tail


@kernel
def label_parts(
    model: FlatModel,
    is_free: NDArray[np.bool_],
    part_of: NDArray[np.int32],
    queue: NDArray[np.int32],
    firsts: NDArray[np.int32],
) -> int:
    """Write the part of each free variable into ``part_of``, -1 for the others; return the number of parts.

    ``firsts`` gets the number of variables in earlier parts, for each part. Cost: the free variables'
    neighbours.
    """
    num_parts, num_before = 0, 0
    for variable in range(len(part_of)):
        part_of[variable] = -1
    for seed in range(len(is_free)):
        head, tail = 0, _reach(seed, num_parts, is_free, part_of, queue, 0)
        while head < tail:
            variable = queue[head]
            head += 1
            for k in range(model.neighbour_starts[variable], model.neighbour_starts[variable + 1]):
                tail = _reach(model.neighbours[k], num_parts, is_free, part_of, queue, tail)
        if tail > 0:
            firsts[num_parts] = num_before
            num_before += tail
            num_parts += 1
    return num_parts
