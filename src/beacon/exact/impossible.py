"""Values that no possible assignment has, found by joining factors: more than each factor tells by itself."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from beacon.exact.clusters import mini_buckets
from beacon.exact.level import Level
from beacon.exact.plan import MAX_WORK, plan
from beacon.exact.solve import unsolved
from beacon.reduce.query import ReducedQuery

MAX_TABLE = 64  # entries of a cluster
NUM_PASSES = 4  # twice forward and back; the second time adds little


def impossible_moves(
    reduced: ReducedQuery, seed: int = 0, max_order_work: float = MAX_WORK
) -> NDArray[np.bool_]:
    """[model's moves] those of values that are found to be impossible; none where no order is found.

    Zeros are passed on between clusters of a few factors each, along an elimination order. Reducing the query
    again without these moves keeps every possible assignment.
    """
    prospect = plan(reduced, seed, math.inf, max_order_work, max_tries=1)
    if not np.isfinite(prospect.work).all():
        return np.zeros(reduced.model.num_moves, dtype=np.bool_)
    level = Level(unsolved(reduced, seed), mini_buckets(reduced.tables, prospect.order, MAX_TABLE))
    level.run(NUM_PASSES)
    return reduced.moves_of(~level.living())
