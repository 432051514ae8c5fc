"""Small models of every family, and a search advanced one step at a time."""

from __future__ import annotations

import numpy as np

from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.strategies.strategy import Strategy

ODDITIES = GraphicalModel.from_tables(
    [2, 1, 3, 2, 4, 2],
    [
        ((), [0.5]),  # a constant
        ((1,), [-0.3]),  # a variable with a single value
        ((0, 2), [-np.inf, 0.0, -1.0, -2.0, -np.inf, -0.5]),
        ((0, 2), [-1.0, -2.0, 0.3, 0.0, 0.0, -4.0]),  # two factors over the same pair
        ((2, 4, 0), [-np.inf if k % 5 == 0 else -0.7 * (k % 5) for k in range(24)]),
        ((4,), [0.1, 2.0, -1.0, 0.0]),
        ((1, 4), [0.0, 0.0, -3.0, 1.0]),
        ((5, 0), [-7.0, 0.0, 0.0, -1.0]),  # variable 3 is in no factor
    ],
)


def small_models() -> dict[str, GraphicalModel]:
    """One small model of each family, and one with everything unusual in it."""
    return {
        "grid": families.ising_grid(rows=3, columns=3, wrap=True, seed=1),
        "diagnosis": families.diagnosis(num_diseases=4, num_findings=2, min_causes=2, max_causes=2, seed=1),
        "dbn": families.deep_belief_net(width=2, height=2, hidden=(3, 2), seed=1),
        "coloring": families.weighted_coloring(num_vertices=7, density=0.6, num_colors=3, seed=1),
        "bayes": families.random_bayes_net(num_variables=9, max_domain=3, zero_fraction=0.3, seed=1),
        "pedigree": families.pedigree(num_founders=2, num_children=1, num_loci=1, max_alleles=3, seed=1),
        "oddities": ODDITIES,
    }


def some_evidence(model: GraphicalModel, count: int, seed: int) -> dict[int, int]:
    """Random values for a few random variables."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(model.num_variables, size=min(count, model.num_variables - 1), replace=False)
    return {int(i): int(rng.integers(model.domain_sizes[i])) for i in chosen}


def new_search(model: GraphicalModel, evidence: dict[int, int], strategy: Strategy, seed: int = 0) -> Search:
    """A search at a random start."""
    return Search(compile_model(model), evidence, strategy, seed=seed)
