"""Load or compile the kernels of a strategy before any clock runs."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from beacon.guided.guidance import Guidance
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.propagate import fixed_values
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.strategy import STRATEGIES, Auto, GlsPlus, Strategy


def warm_up(strategy: Strategy) -> None:
    """Make sure that a strategy's kernels are ready. Takes a moment once, and longer if never compiled."""
    if type(strategy) in STRATEGIES.values():
        _warm_up(type(strategy))
    elif type(strategy) not in _READY:  # of another package: perhaps it cannot be made without settings
        _run_small(strategy)
        _READY.add(type(strategy))


_READY: set[type[Strategy]] = set()


def compile_all() -> None:
    """Make sure that the kernels of every strategy and of guided search are compiled and on disk."""
    for kind in STRATEGIES.values():
        warm_up(kind())
    warm_up_guided()


@cache
def warm_up_guided() -> None:
    """The same for guided search, whose kernels are one for all strategies that can be guided."""
    search = _small_search(GlsPlus(restart_interval=20))
    scores = np.full(search.model.num_moves, 0.5, dtype=np.float32)
    search.run(MaxSteps(50), scores=scores, guidance=Guidance())


@cache
def _warm_up(kind: type[Strategy]) -> None:
    _run_small(Auto(first_round=1) if kind is Auto else kind())  # the mix comes to every arm


def _run_small(strategy: Strategy) -> None:
    search = _small_search(strategy)
    search.run(MaxSteps(50))
    search.best_assignment  # noqa: B018 - loads its kernel


def _small_search(strategy: Strategy) -> Search:
    frustrated = [((0, 1), [0.0, -1.0, -1.0, 0.0]), ((0, 1), [-1.0, 0.0, 0.0, -1.0])]  # never proved optimal
    wide = ((0, 1, 2), [float(-k) for k in range(7)] + [-math.inf])
    flat = compile_model(GraphicalModel.from_tables([2, 2, 2], [*frustrated, wide]))
    return Search(flat, fixed_values(flat, {}, None), strategy)
