"""The independent parts of what is left: variables that no chain of living factors joins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.jit import kernel
from beacon.reduce.tables import ALIVE, FACTOR, NEXT, VARIABLE, Tables

OUT, UNSEEN = -1, -2  # in ``part_of``


@kernel
def find_parts(
    tables: Tables,
    steps: NDArray[np.int32],
    part_of: NDArray[np.int32],
    members: NDArray[np.int32],
    part_starts: NDArray[np.int32],
) -> int:
    """Cut all variables but those of ``steps``, which are eliminated, into parts; return their number.

    ``members`` gets the variables part by part, ``part_starts`` where each part begins in it, ``part_of`` the
    part of each variable. Cost: the scopes of the living factors, once for each of their variables.
    """
    num_parts, tail, count = 0, 0, len(tables.sizes)
    part_starts[0] = 0
    for variable in range(count):
        part_of[variable] = UNSEEN
    for k in range(len(steps)):
        part_of[steps[k]] = OUT
    for seed in range(count):
        if part_of[seed] != UNSEEN:
            continue
        head = tail
        part_of[seed] = num_parts
        members[tail] = seed
        tail += 1
        while head < tail:
            place = tables.first_places[members[head]]
            head += 1
            while place >= 0:
                factor = tables.places[place, FACTOR]
                if tables.consumers[factor] == ALIVE:
                    for other in range(tables.scope_starts[factor], tables.scope_starts[factor + 1]):
                        variable = tables.places[other, VARIABLE]
                        if part_of[variable] == UNSEEN:
                            part_of[variable] = num_parts
                            members[tail] = variable
                            tail += 1
                place = tables.places[place, NEXT]
        num_parts += 1
        part_starts[num_parts] = tail
    return num_parts
