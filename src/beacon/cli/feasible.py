"""Assignments without zero factors, found by GLS+: where Gibbs chains may begin."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.sampling import FeasibleStart
from beacon.search.search import Search
from beacon.search.stop import MaxSteps, TargetScore
from beacon.search.strategy import GlsPlus

MAX_FEASIBLE_STEPS = 5_000_000


def feasible_finder(model: GraphicalModel) -> FeasibleStart:
    """A search on this model that stops at the first assignment of non-zero probability."""
    flat = compile_model(model)

    def find(_: GraphicalModel, seed: int) -> NDArray[np.int64]:
        search = Search(flat, {}, GlsPlus(), seed=seed)
        search.run(MaxSteps(MAX_FEASIBLE_STEPS) | TargetScore(-math.inf))
        return search.best_assignment

    return find
