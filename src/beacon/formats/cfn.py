"""Cost function networks (.cfn): relaxed JSON with named variables and values, and decimal costs.

``mustbe "<UB"`` minimises, so a log-potential is minus the cost; ``mustbe ">LB"`` maximises, so it is the
cost itself. What cannot stay on the right side of the bound is forbidden (-inf).
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from beacon.formats.cfn_parts import (
    CfnTokens,
    Objective,
    TableReader,
    Variables,
    begins_number,
    read_variables,
)
from beacon.formats.cfn_writer import write
from beacon.formats.lexer import is_number, unquoted
from beacon.formats.tokens import problem_with_scope, shortened
from beacon.model.factors import Factor
from beacon.model.graphical_model import GraphicalModel

__all__ = ["read", "write"]


def read(text: str, path: str) -> GraphicalModel:
    """Read a network of cost tables; functions of a ``type`` (global constraints) are refused."""
    tokens = CfnTokens(text, path)
    objective = _read_problem(tokens)
    variables = read_variables(tokens)
    functions = _FunctionReader(tokens, objective, variables)
    functions.read()
    _read_end(tokens)
    log_tables = objective.log_tables(functions.tables())
    factors = tuple(map(Factor, functions.scopes, log_tables))
    return GraphicalModel(variables.names, variables.labels, factors)


def is_maximised(text: str, path: str) -> bool:
    """Are the costs of a file, of which this is the text or its beginning, to be maximised?"""
    return _read_problem(CfnTokens(text, path)).maximises


def _read_problem(tokens: CfnTokens) -> Objective:
    tokens.open()
    tokens.is_tagged = unquoted(tokens.peek()) == "problem"
    tokens.tag("problem")
    tokens.open()
    tokens.tag("name")
    tokens.word("the name of the problem")
    tokens.tag("mustbe")
    word = tokens.word("a bound such as <10.0 or >0")
    if word[:1] not in ("<", ">") or not is_number(word[1:]):
        tokens.fail(f"expected a bound such as <10.0 or >0, found {shortened(word)!r}")
    tokens.close()
    number = float(word[1:])
    return Objective(True, -number) if word[0] == ">" else Objective(False, number)


def _read_end(tokens: CfnTokens) -> None:
    if tokens.peek() == "]":  # the last bracket: some files leave it out
        tokens.close()
    if not tokens.at_end:
        tokens.fail(f"expected the end of the file, found {shortened(tokens.peek())!r}", tokens.position)


class _FunctionReader:
    """Reads the functions section; a function may take the table of another one by name."""

    def __init__(self, tokens: CfnTokens, objective: Objective, variables: Variables) -> None:
        self.scopes: list[tuple[int, ...]] = []
        self._tokens = tokens
        self._objective = objective
        self._variables = variables
        self._reader = TableReader(tokens, objective, variables)
        self._tables: dict[int, NDArray[np.float64]] = {}  # by function
        self._borrowed: dict[int, tuple[int, str]] = {}  # function -> (token, name of the lender)
        self._named: dict[str, list[int]] = {}  # functions that have a table of their own

    def read(self) -> None:
        tokens = self._tokens
        tokens.tag("functions")
        tokens.open()
        while (token := tokens.next("a function or a closing bracket")) != "]":
            if token != "[":
                tokens.open()
            function = len(self.scopes)
            self.scopes.append(self._read_scope())
            self._read_costs(function)
            if token != "[" and function in self._tables:
                self._named.setdefault(unquoted(token), []).append(function)
            tokens.close()

    def tables(self) -> list[NDArray[np.float64]]:
        """The cost table of each function."""
        for function, (token, name) in self._borrowed.items():
            self._tokens.position = token + 1
            self._tables[function] = self._lent_table(function, name)
        return [self._tables[function] for function in range(len(self.scopes))]

    def _read_scope(self) -> tuple[int, ...]:
        tokens = self._tokens
        tokens.tag("scope")
        tokens.open()
        scope = []
        while (token := tokens.next("a variable or a closing bracket")) != "]":
            variable = self._variables.index_of(unquoted(token))
            if variable is None:
                tokens.fail(f"no variable is called {shortened(unquoted(token))!r}")
            scope.append(variable)
        if problem := problem_with_scope(scope):
            tokens.fail(problem)
        return tuple(scope)

    def _read_costs(self, function: int) -> None:
        """Read what follows the scope: a table, or the name of another function."""
        tokens, scope = self._tokens, self.scopes[function]
        default = self._read_default()
        if tokens.is_tagged and unquoted(tokens.peek()) == "type":
            tokens.next("'type'")
            self._refuse(tokens.word("the type of a function"))
        tokens.tag("costs")
        if tokens.peek() == "[":
            tokens.open()
            words, reader = tokens.next_until("]", "costs"), self._reader
            table = reader.dense(words, scope) if default is None else reader.sparse(words, scope, default)
            self._tables[function] = table
            return
        lender = tokens.word("costs")
        if tokens.peek() == "[":  # parameters
            self._refuse(lender)
        self._borrowed[function] = (tokens.position - 1, lender)

    def _read_default(self) -> float | None:
        tokens = self._tokens
        if tokens.is_tagged and unquoted(tokens.peek()) == "defaultcost":
            tokens.next("'defaultcost'")
        elif tokens.is_tagged or not begins_number(unquoted(tokens.peek())):
            return None
        word = tokens.word("the default cost")
        return float(self._objective.costs(tokens, [word], [tokens.position - 1])[0])

    def _refuse(self, kind: str) -> NoReturn:
        self._tokens.fail(f"a function of type {shortened(kind)!r} cannot be read; expected a table of costs")

    def _lent_table(self, function: int, name: str) -> NDArray[np.float64]:
        tokens, scope = self._tokens, self.scopes[function]
        lenders = self._named.get(name, [])
        if len(lenders) != 1:
            tokens.fail(f"expected costs or the name of one function with costs, found {shortened(name)!r}")
        self._reader.check_size(scope, num_listed=0)
        table, shape = self._tables[lenders[0]], self._variables.shape(scope)
        if table.shape != shape:
            tokens.fail(f"function {name!r} has domains {list(table.shape)}; found domains {list(shape)}")
        return table
