"""XMLBIF (.xml, .xmlbif): Bayesian networks with named variables and values, as XML."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from beacon.errors import FormatError, ModelError
from beacon.formats.bayes_tables import distributions, problem_with_parents, row_that_is_off
from beacon.formats.lexer import first_repeated, is_number
from beacon.formats.tokens import ModelBudget, problem_with_scope, shortened
from beacon.model.factors import MAX_TABLE_ENTRIES, Factor
from beacon.model.graphical_model import GraphicalModel

_MOST_NESTED = 32
_OUTCOMES = ("OUTCOME", "VALUE")  # the second in files of version 0.2
_DEFINITIONS = ("DEFINITION", "PROBABILITY")
_NOT_IN_XML = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def read(text: str, path: str) -> GraphicalModel:
    """Read a network; each factor has the scope (parents …, child).

    A table lists the child's values for each configuration of the parents, the child fastest. Entities are
    refused: a short file could expand to gigabytes.
    """
    return _Reader(_parsed(text, path), path).read()


def write(model: GraphicalModel) -> str:
    """A Bayesian network with all its names, in full precision."""
    made = distributions(model, "XMLBIF")
    lines = ['<?xml version="1.0"?>', '<BIF VERSION="0.3">', "<NETWORK>", "<NAME>unknown</NAME>"]
    for name, labels in zip(model.names, model.labels, strict=True):
        lines += ['<VARIABLE TYPE="nature">', _written("NAME", name)]
        lines += [*(_written("OUTCOME", label) for label in labels), "</VARIABLE>"]
    for child, parents, rows in made:
        given = (_written("GIVEN", model.names[i]) for i in parents)
        lines += ["<DEFINITION>", _written("FOR", model.names[child]), *given, "<TABLE>"]
        lines += [" ".join(map(repr, row)) for row in rows] + ["</TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])


def _written(tag: str, name: str) -> str:
    if _NOT_IN_XML.search(name) or name != name.strip():
        raise ModelError(
            f"the name {name!r} cannot be written as XMLBIF: expected no control characters and no white "
            "space at its ends"
        )
    return f"<{tag}>{escape(name)}</{tag}>"


@dataclass(eq=False)
class _Element:
    tag: str
    line: int
    attributes: dict[str, str]
    pieces: list[str] = field(default_factory=list)
    children: list[_Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces).strip()

    def all(self, *tags: str) -> Iterator[_Element]:
        """The children of these kinds."""
        return (child for child in self.children if child.tag in tags)

    def texts(self, *tags: str) -> list[str]:
        """What the children of these kinds say."""
        return [child.text for child in self.all(*tags)]


def _parsed(text: str, path: str) -> _Element:
    """The elements of a text, tags in upper case; expat itself refuses to fetch anything from elsewhere."""
    parser, open_elements = expat.ParserCreate(), [_Element("", 1, {})]

    def fail(problem: str) -> NoReturn:
        raise FormatError(path, f"line {parser.CurrentLineNumber}", problem)

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > _MOST_NESTED:
            fail(f"expected at most {_MOST_NESTED} elements inside each other")
        element = _Element(tag.upper(), parser.CurrentLineNumber, attributes)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def add(words: str) -> None:
        open_elements[-1].pieces.append(words)

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: open_elements.pop()
    parser.CharacterDataHandler = add
    parser.EntityDeclHandler = lambda *_: fail("expected no entities, found the declaration of one")
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise FormatError(path, f"line {error.lineno}", f"expected XML: {error}") from None
    return open_elements[0].children[0]


class _Reader:
    def __init__(self, root: _Element, path: str) -> None:
        self._root = root
        self._path = path
        self._names: list[str] = []
        self._labels: list[tuple[str, ...]] = []
        self._index_of: dict[str, int] = {}
        self._parents: dict[str, list[str]] = {}

    def read(self) -> GraphicalModel:
        networks = list(self._root.all("NETWORK"))
        if self._root.tag != "BIF" or len(networks) != 1:
            self._fail(self._root, "expected a BIF with one NETWORK in it")
        for element in networks[0].all("VARIABLE"):
            self._read_variable(element)
        if problem := ModelBudget().problem_with_domains(map(len, self._labels)):
            self._fail(networks[0], problem)
        factors = tuple(self._read_definition(element) for element in networks[0].all(*_DEFINITIONS))
        lacking = next((name for name in self._names if name not in self._parents), None)
        if lacking is not None:
            self._fail(networks[0], f"variable {lacking!r} lacks its DEFINITION")
        if problem := problem_with_parents(self._parents):
            self._fail(networks[0], problem)
        return GraphicalModel(tuple(self._names), tuple(self._labels), factors)

    def _read_variable(self, element: _Element) -> None:
        kind = element.attributes.get("TYPE", "nature")
        if kind != "nature":
            self._fail(element, f"expected a variable of TYPE 'nature', found {shortened(kind)!r}")
        name, labels = self._one(element, "NAME"), element.texts(*_OUTCOMES)
        if name in self._index_of:
            self._fail(element, f"variable {name!r} is defined twice")
        if not labels:
            self._fail(element, f"variable {name!r} needs at least one OUTCOME, found none")
        if (twice := first_repeated(labels)) is not None:
            self._fail(element, f"variable {name!r} has the value {twice!r} twice")
        self._index_of[name] = len(self._names)
        self._names.append(name)
        self._labels.append(tuple(labels))

    def _read_definition(self, element: _Element) -> Factor:
        child, parents = self._one(element, "FOR"), element.texts("GIVEN")
        for name in (child, *parents):
            if name not in self._index_of:
                self._fail(element, f"no variable is called {shortened(name)!r}")
        if problem := problem_with_scope([*parents, child]):
            self._fail(element, problem)
        if child in self._parents:
            self._fail(element, f"the distribution of {child!r} is defined twice")
        self._parents[child] = parents
        scope = tuple(self._index_of[name] for name in (*parents, child))
        table = self._read_table(element, child, [len(self._labels[i]) for i in scope])
        with np.errstate(divide="ignore"):
            return Factor(scope, np.log(table))

    def _read_table(self, element: _Element, child: str, shape: list[int]) -> NDArray[np.float64]:
        words = self._one(element, "TABLE").split()
        if len(words) != math.prod(shape) or len(words) > MAX_TABLE_ENTRIES:
            self._fail(
                element, f"expected {math.prod(shape)} probabilities for {child!r}, found {len(words)}"
            )
        for word in words:
            if not is_number(word) or not 0 <= float(word) < math.inf:
                self._fail(element, f"expected a probability, found {shortened(word)!r}")
        rows = np.array(list(map(float, words))).reshape(-1, shape[-1])
        if (bad := row_that_is_off(rows)) is not None:
            found = rows[bad].sum()
            self._fail(element, f"expected probabilities of {child!r} that sum to 1, found {found:.6g}")
        return rows.reshape(shape)

    def _one(self, element: _Element, tag: str) -> str:
        texts = element.texts(tag)
        if len(texts) != 1:
            self._fail(element, f"expected one {tag} in a {element.tag}, found {len(texts)}")
        return texts[0]

    def _fail(self, element: _Element, problem: str) -> NoReturn:
        raise FormatError(self._path, f"line {element.line}", problem)
