"""The contents of a probability block of a BIF file: rows, a table or defaults."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from beacon.formats.bayes_tables import SUM_TOLERANCE, row_that_is_off
from beacon.formats.lexer import Lexer, unquoted_all
from beacon.formats.tokens import shortened


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable block."""

    index: int
    name: str
    labels: tuple[str, ...]
    label_to_value: dict[str, int]


@dataclass(slots=True)
class _Words:
    """Unread numbers and the token indices they stand at."""

    words: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)


class DistributionReader:
    """Reads one probability block, from behind its opening brace to its closing one."""

    def __init__(self, lexer: Lexer, child: Variable, parents: Sequence[Variable]) -> None:
        self._lexer = lexer
        self._child = child
        self._parents = parents
        self._num_values = len(child.labels)
        self._forms: dict[str, _Words] = {}  # 'table' and 'default'
        self._rows = _Words()
        self._row_places: dict[int, int] = {}  # token index by configuration of the parents

    def read(self) -> NDArray[np.float64]:
        """The probabilities, shaped (parents …, child)."""
        self._read_entries()
        shape = (*(len(parent.labels) for parent in self._parents), self._num_values)
        num_rows = math.prod(shape[:-1])
        full = self._forms.get("table", self._rows)
        if full is not self._rows:
            self._check_count(full, num_rows * self._num_values)
        elif "default" not in self._forms and len(self._row_places) < num_rows:
            self._fail_for_missing_row()
        if problem := self._lexer.budget.problem_with_table(shape, len(full.words)):
            self._lexer.fail(problem)
        table = self._table_of_rows(num_rows) if full is self._rows else self._full_table(full)
        return table.reshape(shape)

    def _read_entries(self) -> None:
        lexer = self._lexer
        while (word := lexer.next("'}'")) != "}":
            if word == "(":
                self._read_row()
            elif word in ("table", "default"):
                self._read_form(word)
            elif word == "property":
                lexer.next_until(";", "a property")
            else:
                lexer.fail(f"expected 'table', 'default', '(' or '}}', found {shortened(word)!r}")
        if "table" in self._forms and (self._row_places or "default" in self._forms):
            lexer.fail(f"the distribution of {self._child.name!r} has a 'table' and other entries too")

    def _read_form(self, word: str) -> None:
        if word in self._forms:
            self._lexer.fail(f"the distribution of {self._child.name!r} has a second {word!r}")
        self._forms[word] = self._next_words()

    def _next_words(self) -> _Words:
        start = self._lexer.position
        words = self._lexer.next_until(";", "probabilities")
        return _Words(words, list(range(start, start + len(words))))

    def _read_row(self) -> None:
        lexer, start = self._lexer, self._lexer.position
        labels = unquoted_all(lexer.next_until(")", "values of the parents"))
        row = self._row_of(labels, start)
        if row in self._row_places:
            lexer.fail(f"the row ({_listed(labels)}) is there twice", start)
        entries = self._next_words()
        self._check_count(entries, self._num_values)
        self._row_places[row] = start
        self._rows.words += entries.words
        self._rows.places += entries.places

    def _row_of(self, labels: list[str], place: int) -> int:
        """Index of a configuration of the parents."""
        expected = len(self._parents)
        if len(labels) != expected:
            self._lexer.fail(f"expected {expected} values, one per parent, found {len(labels)}", place)
        row = 0
        for offset, (parent, label) in enumerate(zip(self._parents, labels, strict=True)):
            value = parent.label_to_value.get(label)
            if value is None:
                problem = f"variable {parent.name!r} has no value {shortened(label)!r}"
                self._lexer.fail(problem, place + offset)
            row = row * len(parent.labels) + value
        return row

    def _full_table(self, entries: _Words) -> NDArray[np.float64]:
        """The form that lists the child's first value for all configurations of the parents, and so on."""
        table = self._probabilities(entries).reshape(self._num_values, -1).T
        self._check_sums(table, itertools.repeat(entries.places[0]))
        return table

    def _table_of_rows(self, num_rows: int) -> NDArray[np.float64]:
        table = np.empty((num_rows, self._num_values))
        if default := self._forms.get("default"):
            self._check_count(default, self._num_values)
            table[:] = self._probabilities(default)
            self._check_sums(table[:1], default.places)
        rows = self._probabilities(self._rows).reshape(-1, self._num_values)
        self._check_sums(rows, self._row_places.values())
        table[list(self._row_places)] = rows
        return table

    def _probabilities(self, entries: _Words) -> NDArray[np.float64]:
        values = self._lexer.numbers(entries.words, entries.places, "a probability")
        wrong = np.flatnonzero((values < 0) | (values > 1 + SUM_TOLERANCE))
        if wrong.size:
            bad = int(wrong[0])
            self._lexer.fail(
                f"expected a probability, a number in 0..1, found {entries.words[bad]}", entries.places[bad]
            )
        return values

    def _check_count(self, entries: _Words, expected: int) -> None:
        if len(entries.words) != expected:
            self._lexer.fail(
                f"expected {expected} probabilities for {self._child.name!r}, found {len(entries.words)}"
            )

    def _check_sums(self, rows: NDArray[np.float64], places: Iterable[int]) -> None:
        bad = row_that_is_off(rows)
        if bad is not None:
            problem = (
                f"expected probabilities of {self._child.name!r} that sum to 1, found {rows[bad].sum():.6g}"
            )
            self._lexer.fail(problem, next(itertools.islice(places, bad, None)))

    def _fail_for_missing_row(self) -> NoReturn:
        configurations = enumerate(itertools.product(*(parent.labels for parent in self._parents)))
        labels = next(labels for row, labels in configurations if row not in self._row_places)
        missing = f"the row ({_listed(labels)})" if labels else "a 'table'"
        self._lexer.fail(f"the distribution of {self._child.name!r} lacks {missing}")


def _listed(labels: Iterable[str]) -> str:
    return ", ".join(map(repr, labels))
