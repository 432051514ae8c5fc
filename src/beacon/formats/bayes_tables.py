"""What the formats of Bayesian networks share: sums of rows, cycles of parents, and rows to be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.errors import ModelError
from beacon.formats.uai import potentials
from beacon.model.bayes import child_of_factors
from beacon.model.factors import Factor
from beacon.model.graphical_model import GraphicalModel

SUM_TOLERANCE = 1e-2  # published tables are rounded; a row that is off by more is a mistake
_MOST_NAMED = 8  # variables of a cycle that an error lists


def row_that_is_off(rows: NDArray[np.float64]) -> int | None:
    """The first row whose numbers do not sum to 1, if there is one."""
    off = ~(np.abs(rows.sum(axis=1) - 1.0) <= SUM_TOLERANCE)
    return int(off.argmax()) if off.any() else None


def problem_with_parents(parents: Mapping[str, Sequence[str]]) -> str | None:
    """What is wrong with the parents of variables, if anything."""
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        cycle = " -> ".join(map(repr, error.args[1][:_MOST_NAMED]))
        return f"expected parents without a cycle, found {cycle}"
    return None


class Distribution(NamedTuple):
    """A variable's distribution, as files list it."""

    child: int
    parents: list[int]
    rows: list[list[float]]
    """The child's probabilities for each configuration of the parents, the last parent fastest."""


def distributions(model: GraphicalModel, format_name: str) -> list[Distribution]:
    """All distributions of a Bayesian network in full precision; other models are refused."""
    children = child_of_factors(model)
    if children is None:
        raise ModelError(
            f"only Bayesian networks can be written as {format_name}: each variable needs one factor that is "
            f"its distribution given earlier ones (found {model.num_variables} variables, "
            f"{model.num_factors} factors); .uai, .lg and .wcsp files can hold this model"
        )
    pairs = zip(model.factors, children, strict=True)
    return [_distribution(model, factor, child) for factor, child in pairs if child >= 0]


def _distribution(model: GraphicalModel, factor: Factor, child: int) -> Distribution:
    parents = [i for i in factor.scope if i != child]
    axes = [factor.scope.index(i) for i in (*parents, child)]
    table = _probabilities(factor.log_table.transpose(axes))
    return Distribution(child, parents, table.reshape(-1, len(model.labels[child])).tolist())


def _probabilities(log_table: NDArray[np.float64]) -> NDArray[np.float64]:
    numbers = potentials(log_table)
    with np.errstate(divide="ignore"):
        is_lost = (numbers < np.finfo(np.float64).tiny) & (np.log(numbers) != log_table)
    if is_lost.any():
        raise ModelError(
            f"the probability exp({log_table[is_lost][0]:.6g}) is too small for a BIF file; "
            "write an .lg file (natural logs)"
        )
    return numbers
