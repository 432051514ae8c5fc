"""The Bayesian Interchange Format (.bif): networks with named variables and values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

import numpy as np

from beacon.formats.bayes_tables import distributions, problem_with_parents
from beacon.formats.bif_tables import DistributionReader, Variable
from beacon.formats.lexer import QUOTED, Lexer, first_repeated, quoted, unquoted_all
from beacon.formats.tokens import problem_with_scope, shortened
from beacon.model.factors import Factor
from beacon.model.graphical_model import GraphicalModel

_PUNCTUATION = "{}()[];"
_WORD = r'(?:[^\s{}()\[\];|,"/]++|/(?![/*]))++'
# Commas and bars only separate, so they are no tokens; an unfinished comment runs to the end.
_TOKEN = re.compile(rf"{_WORD}|[{re.escape(_PUNCTUATION)}]|{QUOTED}|//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)


def read(text: str, path: str) -> GraphicalModel:
    """Read a network; each factor has the scope (parents …, child), as in UAI files.

    A conditional ``table`` lists the child's first value for every configuration of the parents, then its
    second value, and so on; the last parent varies fastest.
    """
    return _Reader(Lexer(text, path, _TOKEN, comments=("//", "/*"))).read()


def write(model: GraphicalModel) -> str:
    """A Bayesian network with all its names, in full precision."""
    made = (_written_distribution(model, *one) for one in distributions(model, "BIF"))
    variables = map(_written_variable, model.names, model.labels)
    return "\n".join(["network unknown {\n}", *variables, *made, ""])


def _written_variable(name: str, labels: tuple[str, ...]) -> str:
    values = f"type discrete [ {len(labels)} ] {{ {_written_names(labels)} }};"
    return f"variable {_written_names([name])} {{\n  {values}\n}}"


def _written_distribution(
    model: GraphicalModel, child: int, parents: list[int], rows: list[list[float]]
) -> str:
    header = _written_names([model.names[child]])
    if parents:
        header += f" | {_written_names(model.names[i] for i in parents)}"
    leads = _row_leads([model.labels[i] for i in parents]) if parents else ["table"]
    lines = (f"  {lead} {', '.join(map(repr, row))};" for lead, row in zip(leads, rows, strict=True))
    return "\n".join([f"probability ( {header} ) {{", *lines, "}"])


def _row_leads(labels: list[tuple[str, ...]]) -> Iterator[str]:
    """The configurations of the parents, as they stand in front of the rows."""
    written = [[_written_names([label]) for label in values] for values in labels]
    return (f"({', '.join(row)})" for row in itertools.product(*written))


def _written_names(names: Iterable[str]) -> str:
    return ", ".join(name if re.fullmatch(_WORD, name) else quoted(name) for name in names)


class _Reader:
    """Reads all variables first, so that blocks may come in any order."""

    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer
        self._variables: dict[str, Variable] = {}
        self._parents: dict[str, list[str]] = {}

    def read(self) -> GraphicalModel:
        factors = []
        for block in self._read_variables():
            self._lexer.position = block
            factors.append(self._read_distribution())
        self._check_network()
        variables = self._variables.values()
        names, labels = tuple(v.name for v in variables), tuple(v.labels for v in variables)
        return GraphicalModel(names, labels, tuple(factors))

    def _read_variables(self) -> list[int]:
        """Read the variable blocks; return the token indices at which probability blocks begin."""
        lexer, blocks = self._lexer, []
        while not lexer.at_end:
            keyword = lexer.next("a block")
            if keyword == "variable":
                self._read_variable()
            elif keyword in ("network", "probability"):
                if keyword == "probability":
                    blocks.append(lexer.position)
                lexer.next_until("{", "a block")
                lexer.next_until("}", "the entries of a block")
            else:
                found = shortened(keyword)
                lexer.fail(f"expected 'network', 'variable' or 'probability', found {found!r}")
        if not lexer.tokens:
            lexer.fail("expected 'network', 'variable' or 'probability', found nothing")
        return blocks

    def _read_variable(self) -> None:
        lexer = self._lexer
        name = lexer.next_name("the name of a variable", _PUNCTUATION)
        if name in self._variables:
            lexer.fail(f"variable {name!r} is defined twice")
        lexer.expect("{")
        labels: list[str] = []
        while (word := lexer.next("'}'")) != "}":
            if word == "type":
                labels = self._read_labels(name)
            elif word == "property":
                lexer.next_until(";", "a property")
            else:
                lexer.fail(f"expected 'type', 'property' or '}}', found {shortened(word)!r}")
        if not labels:
            lexer.fail(f"variable {name!r} lacks a line type discrete [ 2 ] {{ first, second }};")
        label_to_value = {label: value for value, label in enumerate(labels)}
        self._variables[name] = Variable(len(self._variables), name, tuple(labels), label_to_value)

    def _read_labels(self, name: str) -> list[str]:
        lexer = self._lexer
        kind = lexer.next_name("'discrete'", _PUNCTUATION)
        if kind != "discrete":
            lexer.fail(f"variable {name!r}: expected the type 'discrete', found {shortened(kind)!r}")
        lexer.expect("[")
        count = lexer.next_name("the number of values", _PUNCTUATION)
        lexer.expect("]")
        lexer.expect("{")
        labels = unquoted_all(lexer.next_until("}", "the values"))
        if count != str(len(labels)):
            lexer.fail(f"variable {name!r}: expected {shortened(count)} values, found {len(labels)}")
        if (twice := first_repeated(labels)) is not None:
            lexer.fail(f"variable {name!r} has the value {twice!r} twice")
        if lexer.peek() == ";":
            lexer.next("';'")
        return labels

    def _read_distribution(self) -> Factor:
        child, *parents = self._read_header()
        table = DistributionReader(self._lexer, child, parents).read()
        with np.errstate(divide="ignore"):
            log_table = np.log(table)
        return Factor((*(parent.index for parent in parents), child.index), log_table)

    def _read_header(self) -> list[Variable]:
        """The child and its parents."""
        lexer = self._lexer
        lexer.expect("(")
        start = lexer.position
        names = unquoted_all(lexer.next_until(")", "the names of variables"))
        if not names:
            lexer.fail("expected ( child | parents ), found no variable")
        for place, name in enumerate(names, start):
            if name not in self._variables:
                lexer.fail(f"no variable is called {shortened(name)!r}", place)
        if problem := problem_with_scope(names):
            lexer.fail(problem)
        child, *parents = names
        if child in self._parents:
            lexer.fail(f"the distribution of {child!r} is defined twice", start)
        self._parents[child] = parents
        lexer.expect("{")
        return [self._variables[name] for name in names]

    def _check_network(self) -> None:
        for name in self._variables:
            if name not in self._parents:
                self._lexer.fail(f"variable {name!r} lacks its 'probability' block")
        if problem := problem_with_parents(self._parents):
            self._lexer.fail(problem)
