"""Assignments without zero factors, where Gibbs chains may begin: random ones, or found by GLS+."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from beacon.engine.floored import floored_scores
from beacon.errors import ModelError
from beacon.model.evidence import impossible_factor
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.propagate import fixed_values
from beacon.runner.pool import Cancelled, Pool
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps, TargetScore
from beacon.strategies.gls import GlsPlus

MIN_STEPS, STEPS_PER_VARIABLE = 100_000, 1000


def feasible_assignments(model: GraphicalModel, seeds: list[int]) -> NDArray[np.int64]:
    """One assignment of non-zero probability per seed and row; a ModelError if none was found."""
    never = impossible_factor(model, {})
    if never is not None:
        raise ModelError(f"no assignment has a non-zero probability: factor {never} is zero everywhere")
    flat = compile_model(model)
    fixed, strategy = fixed_values(flat, {}, None), GlsPlus().fitted(flat)
    found = np.array([np.random.default_rng(seed).integers(0, model.domain_sizes) for seed in seeds])
    found = np.where(fixed >= 0, fixed, found)
    _, zeros = floored_scores(flat, found)

    missing = np.flatnonzero(zeros).tolist()

    def search(k: int) -> None:
        found[missing[k]] = _find_feasible(Search(flat, fixed, strategy, seed=seeds[missing[k]]))

    Pool(None).each(search, len(missing), Cancelled())
    return found


def _find_feasible(search: Search) -> NDArray[np.int64]:
    max_steps = MIN_STEPS + STEPS_PER_VARIABLE * search.model.num_variables
    search.run(MaxSteps(max_steps) | TargetScore(-math.inf))
    if search.best_zeros:
        raise ModelError(
            f"no assignment of non-zero probability was found in {search.steps:,} steps; "
            f"at best {search.best_zeros} of {search.model.num_factors} factors stayed zero"
        )
    return search.best_assignment
