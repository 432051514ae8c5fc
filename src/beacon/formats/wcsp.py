"""Weighted constraint satisfaction problems (.wcsp): integer costs, to be minimised.

A log-potential is minus the cost, in nats; a cost that reaches the file's upper bound is forbidden (-inf).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beacon.errors import ModelError, UsageError
from beacon.formats.tokens import (
    INT64_MAX,
    Tokens,
    problem_with_scope,
    shortened,
)
from beacon.io.files import TextFile
from beacon.model.factors import Factor
from beacon.model.graphical_model import GraphicalModel

_MAX_PRECISION = 15
_FUNCTION_BYTES = 400  # of a function: its factor, scope and arrays
_TOKEN_BYTES = 48  # of a number in a tuple: read part by part, collected, and copies that are checked


def read(source: str | TextFile, path: str) -> GraphicalModel:
    """Read a problem with cost tables; functions given by a keyword (global constraints) are refused."""
    return _Reader(Tokens(source, path, _TOKEN_BYTES)).read()


def write(model: GraphicalModel, precision: int = 6) -> str:
    """The model with costs (largest log-potential of the factor - log-potential) · 10^precision, rounded.

    The score of an assignment is then ``score_offset(model)`` - cost / 10^precision, up to rounding. Names
    have no place in the format. A zero potential costs the upper bound, which no possible assignment reaches.
    """
    if not 0 <= precision <= _MAX_PRECISION:
        raise UsageError(f"precision must be a number of digits in 0..{_MAX_PRECISION}; found {precision}")
    tables = [_costs(factor.log_table, 10.0**precision) for factor in model.factors]
    upper_bound = 1 + sum(int(table.max(where=table < np.inf, initial=0)) for table in tables)
    if upper_bound > INT64_MAX or _is_any_lost(model, tables):
        raise ModelError(
            f"with {precision} digits of precision the costs do not fit into 64 bits; use a lower precision"
        )
    sizes = model.domain_sizes.tolist()
    header = f"beacon {len(sizes)} {model.max_domain} {model.num_factors} {upper_bound}"
    functions = (
        _written_function(factor.scope, table, upper_bound)
        for factor, table in zip(model.factors, tables, strict=True)
    )
    return "\n".join([header, _joined(sizes), *itertools.chain.from_iterable(functions), ""])


def score_offset(model: GraphicalModel) -> float:
    """The score of an assignment of cost 0 in the file that :func:`write` makes."""
    best = (float(factor.log_table.max()) for factor in model.factors)
    return math.fsum(score for score in best if score > -math.inf)


def _costs(log_table: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Whole numbers of at least 0; inf marks a zero potential."""
    best = log_table.max()
    if best == -np.inf:
        return np.full(log_table.shape, np.inf)
    with np.errstate(over="ignore"):
        costs: NDArray[np.float64] = np.rint((best - log_table) * scale)
    return costs


def _is_any_lost(model: GraphicalModel, tables: list[NDArray[np.float64]]) -> bool:
    """Whether a cost is too large even for a double, and so looks forbidden."""
    pairs = zip(model.factors, tables, strict=True)
    return any(bool(((table == np.inf) & (factor.log_table > -np.inf)).any()) for factor, table in pairs)


def _written_function(scope: tuple[int, ...], costs: NDArray[np.float64], upper_bound: int) -> Iterator[str]:
    """A function line and one line per tuple whose cost is not the most frequent one."""
    is_possible = costs < np.inf
    whole = np.full(costs.shape, upper_bound, dtype=np.int64)
    whole[is_possible] = costs[is_possible].astype(np.int64)
    different, counts = np.unique(whole, return_counts=True)
    default = int(different[counts.argmax()])
    is_listed = whole != default
    rows = np.column_stack([np.argwhere(is_listed), whole[is_listed]])
    yield _joined([len(scope), *scope, default, len(rows)])
    yield from map(_joined, rows.tolist())


def _joined(numbers: list[int]) -> str:
    return " ".join(map(str, numbers))


class _Reader:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._sizes: list[int] = []
        self._upper_bound = math.inf
        self._shared: list[tuple[float, NDArray[np.float64]]] = []  # default cost and log table

    def read(self) -> GraphicalModel:
        num_functions = self._read_header()
        factors = tuple(self._read_function() for _ in range(num_functions))
        self._tokens.expect_end()
        variables = GraphicalModel.from_tables(self._sizes, ())
        return GraphicalModel(variables.names, variables.labels, factors)

    def _read_header(self) -> int:
        """Read all up to the domain sizes; return the number of functions."""
        tokens = self._tokens
        tokens.next_word("the name of the problem")
        num_variables = tokens.next_int("the number of variables")
        max_size = tokens.next_int("the largest domain size")
        num_functions = tokens.next_int("the number of functions")
        self._upper_bound = self._next_cost("the upper bound", low=1)
        self._sizes = tokens.next_int_list(num_variables, "a domain size", low=-INT64_MAX)
        self._check_sizes(max_size)
        return num_functions

    def _check_sizes(self, max_size: int) -> None:
        tokens, first = self._tokens, self._tokens.position - len(self._sizes)
        for variable, size in enumerate(self._sizes):
            if size < 0:
                tokens.fail(
                    f"variable {variable} is an interval variable ({size}), which cannot be read; "
                    "expected a domain size of at least 1",
                    first + variable,
                )
            if not 1 <= size <= max_size:
                expected = f"expected a domain size in 1..{max_size}, the largest in the header"
                tokens.fail(f"variable {variable}: {expected}, found {size}", first + variable)
        if problem := tokens.budget.problem_with_domains(self._sizes):
            tokens.fail(problem)

    def _next_cost(self, expected: str, low: int = 0) -> float:
        value = float(self._tokens.next_floats(1, expected)[0])
        if not (low <= value < math.inf and value.is_integer()):
            found = self._tokens.word_at(self._tokens.position - 1)
            self._tokens.fail(f"expected {expected}, an integer of at least {low}, found {found!r}")
        return value

    def _read_function(self) -> Factor:
        tokens, num_variables = self._tokens, len(self._sizes)
        arity = tokens.next_int("the arity of a function", low=-num_variables, high=num_variables)
        scope = tuple(tokens.next_int_list(abs(arity), "a variable in a scope", high=num_variables - 1))
        if problem := problem_with_scope(scope) or tokens.budget.problem(_FUNCTION_BYTES):
            tokens.fail(problem)
        default = self._next_cost("a default cost", low=-1)
        if default == -1:
            keyword = shortened(tokens.next_word("the keyword of a function"))
            tokens.fail(
                f"expected a cost table, found the keyword function {keyword!r}, which cannot be read; write "
                "it as a table"
            )
        num_tuples = tokens.next_int("a number of tuples", low=-len(self._shared))
        if num_tuples < 0:
            return Factor(scope, self._shared_table(scope, default, -num_tuples))
        log_table = self._read_table(scope, default, num_tuples)
        if arity < 0:
            self._shared.append((default, log_table))
        return Factor(scope, log_table)

    def _shared_table(self, scope: tuple[int, ...], default: float, number: int) -> NDArray[np.float64]:
        shared_default, log_table = self._shared[number - 1]
        shape = self._checked_shape(scope, num_listed=0)
        if shape != log_table.shape or default != shared_default:
            self._tokens.fail(
                f"shared table {number} has domains {list(log_table.shape)} and default cost "
                f"{shared_default:.0f}; found domains {list(shape)} and default cost {default:.0f}"
            )
        return log_table

    def _checked_shape(self, scope: tuple[int, ...], num_listed: int) -> tuple[int, ...]:
        shape = tuple([self._sizes[i] for i in scope])
        if problem := self._tokens.budget.problem_with_table(shape, num_listed):
            self._tokens.fail(problem)
        return shape

    def _read_table(self, scope: tuple[int, ...], default: float, num_tuples: int) -> NDArray[np.float64]:
        arity = len(scope)
        numbers = self._tokens.next_floats(num_tuples * (arity + 1), "tuples and their costs")
        rows = numbers.reshape(num_tuples, arity + 1)
        shape = self._checked_shape(scope, num_tuples)
        self._check_rows(rows, shape)
        strides = np.array([math.prod(shape[k + 1 :]) for k in range(arity)])
        places = (rows[:, :arity] @ strides).astype(np.int64)
        costs = np.full(math.prod(shape), default)
        costs[places] = rows[:, -1]
        is_overwritten = costs[places] != rows[:, -1]
        if is_overwritten.any():
            values = rows[int(is_overwritten.argmax()), :arity].astype(np.int64).tolist()
            self._tokens.fail(f"the tuple {values} has two different costs")
        return np.where(costs >= self._upper_bound, -np.inf, 0.0 - costs).reshape(shape)

    def _check_rows(self, rows: NDArray[np.float64], shape: tuple[int, ...]) -> None:
        """Values must lie in their domains, costs must be at least 0; all must be integers."""
        limits = np.array([*(size - 1 for size in shape), np.finfo(np.float64).max])
        is_good = (rows >= 0) & (rows <= limits) & (rows == np.floor(rows))
        if is_good.all():
            return
        bad = int(is_good.argmin())
        column = bad % len(limits)
        token = self._tokens.position - rows.size + bad
        found = self._tokens.word_at(token)
        if column == len(shape):
            self._tokens.fail(f"expected a cost, an integer of at least 0, found {found!r}", token)
        self._tokens.fail(f"expected a value, an integer in 0..{shape[column] - 1}, found {found!r}", token)
