"""Cost tables of a CFN file, and what their costs mean under the problem's bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beacon.formats.cfn_tokens import CfnTokens
from beacon.formats.cfn_variables import Variables
from beacon.formats.lexer import unquoted_all
from beacon.formats.tokens import TableBudget, shortened


@dataclass(frozen=True, slots=True)
class Objective:
    """The direction of a problem and its bound; inside, all costs are to be minimised."""

    maximises: bool
    bound: float  # costs from here on are forbidden

    def costs(self, tokens: CfnTokens, words: list[str], places: Sequence[int]) -> NDArray[np.float64]:
        """Words of the file as costs to be minimised, inf where forbidden."""
        values = tokens.numbers(words, places, "a cost")
        if self.maximises:
            return np.where(np.isinf(values), np.inf, -values)
        if (values == -np.inf).any():
            tokens.fail("a problem that minimises cannot have the cost -inf", places[int(values.argmin())])
        return values

    def log_tables(self, tables: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Log-potentials of functions, in the same order; functions may share one table.

        A cost is forbidden if it reaches the bound even with the help of all negative costs elsewhere.
        """
        helps = [min(0.0, float(table.min())) for table in tables]
        total = sum(helps)
        made: dict[int, NDArray[np.float64]] = {}
        for table, own in zip(tables, helps, strict=True):
            if id(table) not in made:
                made[id(table)] = np.where(table >= self.bound - (total - own), -np.inf, 0.0 - table)
        return [made[id(table)] for table in tables]


class TableReader:
    """Turns the words of a cost table into costs; the words, and the bracket behind them, are just read."""

    def __init__(self, tokens: CfnTokens, objective: Objective, variables: Variables) -> None:
        self._tokens = tokens
        self._objective = objective
        self._variables = variables
        self._budget = TableBudget()

    def dense(self, words: list[str], scope: Sequence[int]) -> NDArray[np.float64]:
        """All costs in lexicographic order, the last variable fastest."""
        tokens, shape = self._tokens, self._variables.shape(scope)
        if len(words) != math.prod(shape):
            tokens.fail(f"expected {math.prod(shape)} costs, one per tuple of values, found {len(words)}")
        self.check_size(scope, len(words))
        start = tokens.position - 1 - len(words)
        return self._objective.costs(tokens, words, range(start, start + len(words))).reshape(shape)

    def sparse(self, words: list[str], scope: Sequence[int], default: float) -> NDArray[np.float64]:
        """Tuples of values, each followed by its cost; all other tuples have the default cost."""
        tokens, width = self._tokens, len(scope) + 1
        if len(words) % width:
            tokens.fail(f"expected tuples of {len(scope)} values and a cost, found {len(words)} words")
        self.check_size(scope, len(words) // width)
        plain, end = unquoted_all(words), tokens.position - 1
        columns = [(plain[k::width], range(end - len(words) + k, end, width)) for k in range(width)]
        places = np.zeros(len(words) // width, dtype=np.int64)
        for i, column in zip(scope, columns[:-1], strict=True):
            places = places * len(self._variables.labels[i]) + self._values(i, *column)
        shape = self._variables.shape(scope)
        table = np.full(math.prod(shape), default)
        self._fill(table, places, *columns[-1])
        return table.reshape(shape)

    def check_size(self, scope: Sequence[int], num_listed: int) -> None:
        """Fail where a table asks for too many entries."""
        if problem := self._budget.problem_with(self._variables.shape(scope), num_listed):
            self._tokens.fail(problem)

    def _values(self, variable: int, words: list[str], places: Sequence[int]) -> NDArray[np.int64]:
        value_of = self._variables.value_of(variable)
        values = [value_of.get(word, -1) for word in words]
        if -1 in values:
            bad = values.index(-1)
            problem = f"variable {self._variables.names[variable]!r} has no value {shortened(words[bad])!r}"
            self._tokens.fail(problem, places[bad])
        return np.array(values, dtype=np.int64)

    def _fill(
        self, table: NDArray[np.float64], places: NDArray[np.int64], words: list[str], tokens: Sequence[int]
    ) -> None:
        """Put costs into their places; a tuple that comes twice must have the same cost twice."""
        costs = self._objective.costs(self._tokens, words, tokens)
        table[places] = costs
        is_overwritten = table[places] != costs
        if is_overwritten.any():
            self._tokens.fail(
                "a tuple has two different costs, this is the first of them",
                tokens[int(is_overwritten.argmax())],
            )
