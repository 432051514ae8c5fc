"""Seeded generators of well-known families of models, and the bundled demo model."""

from __future__ import annotations

from collections.abc import Callable

from beacon.model.families.coloring import weighted_coloring
from beacon.model.families.deep_belief import deep_belief_net
from beacon.model.families.diagnosis import diagnosis
from beacon.model.families.ising import ising_grid
from beacon.model.families.pedigree import pedigree
from beacon.model.families.random_bayes import random_bayes_net
from beacon.model.graphical_model import GraphicalModel

__all__ = [
    "FAMILIES",
    "deep_belief_net",
    "demo_model",
    "diagnosis",
    "ising_grid",
    "pedigree",
    "random_bayes_net",
    "weighted_coloring",
]

FAMILIES: dict[str, Callable[..., GraphicalModel]] = {
    "grid": ising_grid,
    "diagnosis": diagnosis,
    "dbn": deep_belief_net,
    "coloring": weighted_coloring,
    "bayes": random_bayes_net,
    "pedigree": pedigree,
}
"""Every setting of every family is a keyword with a default; ``seed`` makes the model reproducible."""


def demo_model() -> GraphicalModel:
    """The bundled demo: a diagnosis network of several hundred variables with names a person can read.

    Diseases are common enough that the best explanation of a patient is seldom "healthy".
    """
    return diagnosis(
        num_diseases=60, num_findings=80, min_causes=3, max_causes=8, min_prior=0.05, max_prior=0.3, seed=1
    )
