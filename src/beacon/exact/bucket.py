"""Bucket elimination: variables of some parts eliminated in a given order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.jit import kernel
from beacon.reduce.eliminate import (
    absorb_best,
    append_factor,
    clear_scope,
    gather_scope,
    keep_best,
    put_best,
    sum_factors,
)
from beacon.reduce.tables import MAX_AXES, Scratch, Tables


@kernel
def eliminate_in_order(
    tables: Tables, scratch: Scratch, ranks: NDArray[np.int32], order: NDArray[np.int32]
) -> None:
    """Eliminate the variables of ``order``; the best scores of their parts go to the constant.

    ``ranks`` has the place of each variable in the order. There must be room for all new tables. Cost: for
    each variable, the entries of its sum, once for each of its factors.
    """
    for step in range(len(order)):
        variable = order[step]
        count = gather_scope(tables, scratch, ranks, variable, MAX_AXES)
        outer = 1
        for k in range(count):
            outer *= tables.sizes[scratch.scope[k]]
        sum_factors(tables, scratch, variable, count, outer)
        keep_best(scratch, tables.sizes[variable], outer)
        if count <= 1:
            absorb_best(tables, scratch, count)
        else:
            put_best(tables, scratch, append_factor(tables, scratch.scope, count, outer), outer)
        clear_scope(scratch, count)
