"""The parts of a CFN file: its tokens, its variables, its cost tables and what costs mean under the bound."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beacon.formats.lexer import QUOTED, Lexer, first_repeated, is_number, unquoted, unquoted_all
from beacon.formats.tokens import shortened

# Commas and colons only separate, so they are no tokens.
_TOKEN = re.compile(rf'(?:[^\s"{{}}\[\],:#/]++|/(?!/))++|[{{}}\[\]]|{QUOTED}|#[^\n]*|//[^\n]*', re.DOTALL)
_VALUE_BYTES = 400  # to find a value by its label and by its index
_SAME_BRACKET = {"{": "[", "}": "]"}  # the format lets either stand for the other


class CfnTokens(Lexer):
    """Tokens in which every bracket is [ or ]."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path, _TOKEN, comments=("#", "//"))
        self.tokens = [_SAME_BRACKET.get(token, token) for token in self.tokens]
        self.is_tagged = False  # whether fields have names; the short form leaves them out

    def open(self) -> None:
        """Read an opening bracket."""
        self._expect_bracket("[", "an opening bracket")

    def close(self) -> None:
        """Read a closing bracket."""
        self._expect_bracket("]", "a closing bracket")

    def tag(self, name: str) -> None:
        """Read the name of a field, where fields have names."""
        if self.is_tagged:
            found = unquoted(self.next(repr(name)))
            if found != name:
                self.fail(f"expected {name!r}, found {shortened(found)!r}")

    def word(self, expected: str) -> str:
        """Read a word, with or without quotes."""
        return self.next_name(expected, punctuation="[]")

    def _expect_bracket(self, bracket: str, expected: str) -> None:
        found = self.next(expected)
        if found != bracket:
            self.fail(f"expected {expected}, found {shortened(found)!r}")


def begins_number(token: str) -> bool:
    """Whether a token is a number by its first character, which is the format's own rule."""
    return token[:1] in tuple("0123456789+-.")


class Variables:
    """Variables in the order of the file; anonymous ones are called x0, x1, … by their index."""

    def __init__(self, domains: Mapping[str, int | list[str]]) -> None:
        sizes = {domain for domain in domains.values() if isinstance(domain, int)}
        shared = {size: tuple(map(str, range(size))) for size in sizes}
        self.names = tuple(domains)
        self.labels = tuple(
            shared[domain] if isinstance(domain, int) else tuple(domain) for domain in domains.values()
        )
        self._name_to_index = {name: index for index, name in enumerate(self.names)}
        self._value_of: dict[int, dict[str, int]] = {}  # by the identity of the labels

    def index_of(self, word: str) -> int | None:
        """The variable of that name or index, if there is one."""
        if not begins_number(word):
            return self._name_to_index.get(word)
        is_index = re.fullmatch("[0-9]{1,15}", word) and int(word) < len(self.names)
        return int(word) if is_index else None

    def shape(self, scope: Iterable[int]) -> tuple[int, ...]:
        """The domain sizes of a scope."""
        return tuple([len(self.labels[i]) for i in scope])

    def value_of(self, variable: int) -> Mapping[str, int]:
        """A variable's value indices, by label and by index."""
        labels = self.labels[variable]
        if id(labels) not in self._value_of:
            values = {str(value): value for value in range(len(labels))}
            self._value_of[id(labels)] = values | {label: value for value, label in enumerate(labels)}
        return self._value_of[id(labels)]

    def is_listed(self, variable: int) -> bool:
        """Are its value indices at hand? Variables that have only a number of values share them."""
        return id(self.labels[variable]) in self._value_of


def read_variables(tokens: CfnTokens) -> Variables:
    """Read the variables section."""
    domains: dict[str, int | list[str]] = {}
    tokens.tag("variables")
    tokens.open()
    while (token := tokens.next("a variable or a closing bracket")) != "]":
        if begins_number(unquoted(token)) and token[0] == '"':
            tokens.fail(f"expected a variable whose name begins with no digit, found {shortened(token)!r}")
        if token == "[" or begins_number(token):
            name = f"x{len(domains)}"
        else:
            name, token = unquoted(token), tokens.next("labels or a number of values")
        if name in domains:
            tokens.fail(f"variable {name!r} is there twice")
        domains[name] = _read_labels(tokens, name) if token == "[" else _size(tokens, name, unquoted(token))
    sizes = (domain if isinstance(domain, int) else len(domain) for domain in domains.values())
    if problem := tokens.budget.problem_with_domains(sizes):
        tokens.fail(problem)
    return Variables(domains)


def _read_labels(tokens: CfnTokens, name: str) -> list[str]:
    labels = unquoted_all(tokens.next_until("]", "labels"))
    if not labels:
        tokens.fail(f"variable {name!r} needs at least one value, found none")
    wrong = next((label for label in labels if begins_number(label) or label == "["), None)
    if wrong is not None:
        tokens.fail(
            f"variable {name!r}: expected labels that begin with no digit, or just the number of values; "
            f"found {shortened(wrong)!r}"
        )
    if (twice := first_repeated(labels)) is not None:
        tokens.fail(f"variable {name!r} has the value {twice!r} twice")
    return labels


def _size(tokens: CfnTokens, name: str, word: str) -> int:
    if re.fullmatch("[0-9]{1,15}", word) and int(word):
        return int(word)
    problem = f"variable {name!r}: expected labels or a number of values, found {shortened(word)!r}"
    if is_number(word) and float(word) < 0:
        problem += " (an interval variable, which cannot be read)"
    tokens.fail(problem)


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
        if problem := self._tokens.budget.problem_with_table(self._variables.shape(scope), num_listed):
            self._tokens.fail(problem)

    def _values(self, variable: int, words: list[str], places: Sequence[int]) -> NDArray[np.int64]:
        num_bytes = _VALUE_BYTES * len(self._variables.labels[variable])
        if not self._variables.is_listed(variable) and (problem := self._tokens.budget.problem(num_bytes)):
            self._tokens.fail(problem)
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
