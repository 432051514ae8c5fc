"""Recognise a Bayesian network among factors, whatever the file's header says."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import numpy as np

from beacon.errors import ModelError
from beacon.model.factors import Factor
from beacon.model.graphical_model import GraphicalModel

# Published tables are rounded: sums are off by up to 1e-6, and a table of four digits may be off by more.
SUM_TOLERANCE = 1e-3


def child_of_factors(model: GraphicalModel) -> list[int] | None:
    """The variable each factor is a conditional distribution of, or None if this is no Bayesian network.

    Every factor must be normalised over one of its variables, each variable must be the child of exactly
    one factor, and parents must come before children; constants count as such (child -1) if they are 1.

    Some variable without children lies in its own factor alone, so that factor is its distribution in
    every reading of the model: taking such pairs away one by one finds the reading if there is one, even
    where a table is normalised over several variables.
    """
    if not _factors_could_match(model):
        return None
    factors_of = _factors_of_variables(model)
    children = [-1] * model.num_factors
    ready = [i for i, factors in enumerate(factors_of) if len(factors) == 1]
    for i in ready:
        if len(factors_of[i]) != 1:
            return None  # its only factor already belongs to another variable
        (k,) = factors_of[i]
        if not _is_normalised_over(model.factors[k], i):
            return None
        children[k] = i
        for j in model.factors.scope(k):
            factors_of[j].discard(k)
            if len(factors_of[j]) == 1:
                ready.append(j)
    return children if len(ready) == model.num_variables else None


def ancestral_order(model: GraphicalModel, children: list[int]) -> list[int]:
    """All variables, parents before children; ``children`` comes from :func:`child_of_factors`."""
    parents = {
        child: [i for i in factor.scope if i != child]
        for child, factor in zip(children, model.factors, strict=True)
        if child >= 0
    }
    try:
        return list(TopologicalSorter(parents).static_order())
    except CycleError as error:
        names = ", ".join(model.names[i] for i in error.args[1])
        raise ModelError(
            f"a Bayesian network needs parents before children; found a cycle: {names}"
        ) from None


def _factors_could_match(model: GraphicalModel) -> bool:
    """One factor per variable, and constants that change nothing."""
    is_constant = model.factors.arities == 0
    constants = model.factors.log_table[model.factors.bases[is_constant]]
    return model.num_factors - len(constants) == model.num_variables and not constants.any()


def _factors_of_variables(model: GraphicalModel) -> list[set[int]]:
    factors_of: list[set[int]] = [set() for _ in model.names]
    for k, factor in enumerate(model.factors):
        for i in factor.scope:
            factors_of[i].add(k)
    return factors_of


def _is_normalised_over(factor: Factor, variable: int) -> bool:
    with np.errstate(over="ignore"):
        sums = np.exp(factor.log_table).sum(axis=factor.scope.index(variable))
    return bool(np.abs(sums - 1.0).max() <= SUM_TOLERANCE)
