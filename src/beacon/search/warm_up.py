"""Load or compile the kernels of a strategy before any clock runs."""

from __future__ import annotations

import math
from functools import cache

from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.search.propagate import with_implied
from beacon.search.search import Search
from beacon.search.stop import MaxSteps
from beacon.search.strategy import Auto, Strategy


def warm_up(strategy: Strategy) -> None:
    """Make sure that a strategy's kernels are ready. Takes a moment once, and longer if never compiled."""
    _warm_up(type(strategy))


@cache
def _warm_up(kind: type[Strategy]) -> None:
    frustrated = [((0, 1), [0.0, -1.0, -1.0, 0.0]), ((0, 1), [-1.0, 0.0, 0.0, -1.0])]  # never proved optimal
    wide = ((0, 1, 2), [float(-k) for k in range(7)] + [-math.inf])
    flat = compile_model(GraphicalModel.from_tables([2, 2, 2], [*frustrated, wide]))
    strategy = Auto(first_round=1) if kind is Auto else kind()  # so that the mix comes to every arm
    search = Search(flat, with_implied(flat, {}, None), strategy)
    search.run(MaxSteps(50))
    search.best_assignment  # noqa: B018 - loads its kernel
