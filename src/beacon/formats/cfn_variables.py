"""The variables of a CFN file: named or not, with labels or just a number of values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from beacon.formats.cfn_tokens import CfnTokens, begins_number
from beacon.formats.lexer import first_repeated, is_number, unquoted, unquoted_all
from beacon.formats.tokens import problem_with_domains, shortened


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
        self._value_of: dict[int, dict[str, int]] = {}

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
        if variable not in self._value_of:
            labels = self.labels[variable]
            values = {str(value): value for value in range(len(labels))}
            self._value_of[variable] = values | {label: value for value, label in enumerate(labels)}
        return self._value_of[variable]


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
    if problem := problem_with_domains(d if isinstance(d, int) else len(d) for d in domains.values()):
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
