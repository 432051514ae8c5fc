"""Where the moves of a model lie in a row of scores, and what is done with each variable's share of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from beacon.model.graphical_model import GraphicalModel

if TYPE_CHECKING:
    from beacon.guided.guide import StateBatch

Number = TypeVar("Number", bound=np.generic)
Real = TypeVar("Real", np.float32, np.float64)


@dataclass(frozen=True, eq=False)
class Moves:
    """The (variable, value) pairs of a model, in the order of a guide's scores: variable by variable."""

    domain_sizes: NDArray[np.int64]
    """[variables] number of values."""
    starts: NDArray[np.int64]
    """[variables] first move."""
    variable_of: NDArray[np.int64]
    """[moves] the variable."""
    value_of: NDArray[np.int64]
    """[moves] the value."""

    @classmethod
    def of(cls, model: GraphicalModel) -> Moves:
        """The moves of a model."""
        sizes = model.domain_sizes
        starts = np.cumsum(sizes) - sizes
        variable_of = np.repeat(np.arange(len(sizes)), sizes)
        return cls(sizes, starts, variable_of, np.arange(len(variable_of)) - starts[variable_of])

    def __len__(self) -> int:
        return len(self.variable_of)

    def of_assignments(self, assignments: NDArray[np.integer]) -> NDArray[np.int64]:
        """[states, variables] the move of each variable's value."""
        return self.starts + assignments

    def per_move(self, of_variables: NDArray[Number]) -> NDArray[Number]:
        """[states, moves] what holds for a variable, repeated for each of its values."""
        return np.take(of_variables, self.variable_of, axis=1)

    def largest(self, scores: NDArray[Number]) -> NDArray[Number]:
        """[states, variables] the largest score of each variable."""
        return self._reduced(np.maximum, scores)

    def total(self, scores: NDArray[Number]) -> NDArray[Number]:
        """[states, variables] the sum of each variable's scores."""
        return self._reduced(np.add, scores)

    def best_values(self, scores: NDArray[Number]) -> NDArray[np.int64]:
        """[states, variables] the value with the largest score; the first of equals."""
        is_best = scores == self.per_move(self.largest(scores))
        values = np.where(is_best, self.value_of, len(self))
        return self._reduced(np.minimum, values)

    def softmax(self, logits: NDArray[Real], out: NDArray[Real] | None = None) -> NDArray[Real]:
        """[states, moves] probabilities that sum to one over each variable's values."""
        shares = np.subtract(logits, self.per_move(self.largest(logits)), out=out)
        np.exp(shares, out=shares)
        shares /= self.per_move(self.total(shares))
        return shares

    @cached_property
    def _later_values(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """For each value but the first: the variables that have it, and their moves to it."""
        having = [
            np.flatnonzero(self.domain_sizes > value) for value in range(1, max(self.domain_sizes, default=0))
        ]
        return [(variables, self.starts[variables] + value) for value, variables in enumerate(having, 1)]

    def _reduced(self, combine: np.ufunc, scores: NDArray[Number]) -> NDArray[Number]:
        """[states, variables] all values of a variable combined, in their order.

        Value by value: with few values a variable this is several times quicker than ``reduceat``.
        """
        result = np.take(scores, self.starts, axis=1)
        for variables, places in self._later_values:
            column = np.take(scores, places, axis=1)
            if len(variables) == result.shape[1]:
                combine(result, column, out=result)
            else:
                result[:, variables] = combine(result[:, variables], column)
        return result


def real_moves(moves: Moves, states: StateBatch) -> NDArray[np.bool_]:
    """[states, moves] does the move give an unobserved variable another value than it has?"""
    free: NDArray[np.bool_] = moves.per_move(~states.observed)
    free &= moves.per_move(states.assignments) != moves.value_of
    return free
