"""Evidence of many queries as a CSV table: a column per variable, a row per query, empty for unobserved."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from typing import NamedTuple

from beacon.errors import EvidenceError, FormatError
from beacon.io.files import read_text
from beacon.io.memory import Budget
from beacon.model.evidence import resolve_value, resolve_variable
from beacon.model.graphical_model import GraphicalModel

_DELIMITERS = ",;\t"
_ROW_BYTES = 320  # the evidence of a query, and its line


class _Row(NamedTuple):
    line: int
    cells: list[str]


class _Column(NamedTuple):
    title: str
    variable: int
    values: dict[str, int]  # value index of each cell text met so far


def read_evidence_table(path: str | os.PathLike[str], model: GraphicalModel) -> list[dict[int, int]]:
    """Read a table whose header names variables, or gives their indices; each row below is one query.

    Cells hold labels or value indices. Comma, semicolon or tab separates them; blank lines do not count.

    >>> from pathlib import Path
    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    >>> size = Path("queries.csv").write_text("x0,x1\\n1,\\n,0\\n")
    >>> beacon.read_evidence_table("queries.csv", model)
    [{0: 1}, {1: 0}]
    """
    place = os.fspath(path)
    lines = read_text(path).split("\n")
    if problem := Budget(sum(map(len, lines))).problem(_ROW_BYTES * len(lines)):
        raise FormatError(place, "", problem)
    rows = _rows(lines, _delimiter(lines, model), place)
    header = next(rows, _Row(1, []))
    columns = _columns(header, place, model)
    queries = [_query(row, columns, place, model) for row in rows]
    if not queries:
        raise FormatError(
            place, f"line {header.line}", "expected a row per query below the header, found none"
        )
    return queries


def _delimiter(lines: list[str], model: GraphicalModel) -> str:
    """The delimiter that finds most variables in the header, or else most cells."""
    header = next((line for line in lines if line.strip()), "")

    def success(delimiter: str) -> tuple[int, int]:
        titles = [cell.strip().strip('"') for cell in header.split(delimiter)]
        return sum(title in model.name_to_variable or title.isdigit() for title in titles), len(titles)

    return max(_DELIMITERS, key=success)


def _rows(lines: list[str], delimiter: str, path: str) -> Iterator[_Row]:
    """Rows that are not blank, their cells stripped."""
    with_ends = (line + "\n" for line in lines)
    reader = csv.reader(with_ends, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            line = lines[reader.line_num - 1]
            if line.strip() or delimiter in line:  # a line of tabs is a row of empty cells
                yield _Row(reader.line_num, [cell.strip() for cell in cells])
    except csv.Error as error:
        raise FormatError(path, f"line {reader.line_num}", f"expected cells of a table: {error}") from None


def _columns(header: _Row, path: str, model: GraphicalModel) -> list[_Column]:
    if not header.cells:
        raise FormatError(path, f"line {header.line}", "expected a header of variable names, found nothing")
    titles: dict[int, str] = {}
    for number, title in enumerate(header.cells, start=1):
        place = f"line {header.line}, column {number}"
        try:
            variable = resolve_variable(model, title)
        except EvidenceError as error:
            raise FormatError(path, place, f"expected a variable in the header: {error}") from None
        if variable in titles:
            raise FormatError(
                path, place, f"expected each variable once in the header, found {title!r} again"
            )
        titles[variable] = title
    return [_Column(title, variable, {}) for variable, title in titles.items()]


def _query(row: _Row, columns: list[_Column], path: str, model: GraphicalModel) -> dict[int, int]:
    if len(row.cells) != len(columns):
        wanted = f"expected {len(columns)} cells, as in the header, found {len(row.cells)}"
        raise FormatError(path, f"line {row.line}", wanted)
    evidence = {}
    for column, cell in zip(columns, row.cells, strict=True):
        if cell:
            if cell not in column.values:
                column.values[cell] = _value(column, cell, path, row.line, model)
            evidence[column.variable] = column.values[cell]
    return dict(sorted(evidence.items()))


def _value(column: _Column, cell: str, path: str, line: int, model: GraphicalModel) -> int:
    try:
        return resolve_value(model, column.variable, cell)
    except EvidenceError as error:
        raise FormatError(path, f"line {line}, column {column.title!r}", str(error)) from None
