"""Evidence of many queries as a table in a file, CSV or Parquet: a column per variable, a row per query."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from beacon.errors import EvidenceError, FormatError, UsageError
from beacon.io.files import Budget, base_suffix, read_text
from beacon.model.evidence import is_by_index, resolve_value, resolve_variable
from beacon.model.graphical_model import GraphicalModel

_DELIMITERS = ",;\t"
_ROW_BYTES = 320  # the evidence of a query, and its line


class _Row(NamedTuple):
    line: int
    cells: list[str]


class _Column(NamedTuple):
    title: str
    variable: int
    values: dict[str, int | None]  # value index of each cell text met so far; None: not observed


class EvidenceTable(NamedTuple):
    """The queries of a table, and its key columns, which only tell whose they are."""

    queries: list[dict[int, int]]
    keys: dict[str, list[Any]]


def read_evidence_table(path: str | os.PathLike[str], model: GraphicalModel) -> list[dict[int, int]]:
    """Read a CSV or Parquet table whose header names variables, or gives their indices; each row is a query.

    Cells hold labels or value indices; empty ones and ``?`` are not observed. In CSV, comma, semicolon or tab
    separates them, and blank lines do not count.

    >>> from pathlib import Path
    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    >>> size = Path("queries.csv").write_text("x0,x1\\n1,\\n,0\\n")
    >>> beacon.read_evidence_table("queries.csv", model)
    [{0: 1}, {1: 0}]
    """
    return read_keyed_table(path, model).queries


def read_keyed_table(
    path: str | os.PathLike[str], model: GraphicalModel, keys: Sequence[str] = ()
) -> EvidenceTable:
    """The same with the columns ``keys``, which are no variables, beside the queries."""
    place = os.fspath(path)
    for key in keys:
        if key in model.name_to_variable:
            raise UsageError(f"key {key!r} is a variable of the model; expected a column that is none")
    if base_suffix(place) == ".parquet":
        return _of_parquet(place, model, keys)
    lines = read_text(path).split("\n")
    if problem := Budget(sum(map(len, lines))).problem(_ROW_BYTES * len(lines)):
        raise FormatError(place, "", problem)
    rows = _rows(lines, _delimiter(lines, model), place)
    header = next(rows, _Row(1, []))
    _check_has_keys(keys, header.cells, place)
    columns = _columns(header, place, model, keys)
    listed = list(rows)
    if not listed:
        raise FormatError(
            place, f"line {header.line}", "expected a row per query below the header, found none"
        )
    queries = [_query(row, columns, place, model) for row in listed]
    places = {key: header.cells.index(key) for key in keys}
    return EvidenceTable(queries, {key: [row.cells[k] for row in listed] for key, k in places.items()})


def _of_parquet(path: str, model: GraphicalModel, keys: Sequence[str]) -> EvidenceTable:
    from beacon.io.parquet_file import read_table  # noqa: PLC0415  (pyarrow is slow to import)
    from beacon.model.data_frame import evidence_of_table  # noqa: PLC0415

    table = read_table(path)
    _check_has_keys(keys, table.column_names, path)
    try:
        queries = evidence_of_table(table.drop_columns(list(keys)), model)
    except EvidenceError as error:
        raise FormatError(path, "", str(error)) from None
    return EvidenceTable(queries, {key: table[key].to_pylist() for key in keys})


def _check_has_keys(keys: Sequence[str], titles: Sequence[str], path: str) -> None:
    for key in keys:
        if key not in titles:
            raise FormatError(path, "", f"expected a column {key!r}, found {', '.join(titles)}")


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


def _columns(header: _Row, path: str, model: GraphicalModel, keys: Sequence[str]) -> list[_Column | None]:
    """What each column is; None for keys."""
    if not header.cells:
        raise FormatError(path, f"line {header.line}", "expected a header of variable names, found nothing")
    columns: dict[int, _Column | None] = {}
    for number, title in enumerate(header.cells, start=1):
        if title in keys:
            columns[-number] = None
            continue
        place = f"line {header.line}, column {number}"
        try:
            variable = resolve_variable(model, title)
        except EvidenceError as error:
            key = f" (a column that is no variable: --key {title})" if title.isprintable() and title else ""
            raise FormatError(path, place, f"expected a variable in the header: {error}{key}") from None
        if variable in columns:
            raise FormatError(
                path, place, f"expected each variable once in the header, found {title!r} again"
            )
        columns[variable] = _Column(title, variable, {})
    return list(columns.values())


def _query(row: _Row, columns: list[_Column | None], path: str, model: GraphicalModel) -> dict[int, int]:
    if len(row.cells) != len(columns):
        wanted = f"expected {len(columns)} cells, as in the header, found {len(row.cells)}"
        raise FormatError(path, f"line {row.line}", wanted)
    evidence = {}
    for column, cell in zip(columns, row.cells, strict=True):
        if column is None:
            continue
        if cell not in column.values:
            column.values[cell] = _value(column, cell, path, row.line, model)
        if (value := column.values[cell]) is not None:
            evidence[column.variable] = value
    return dict(sorted(evidence.items()))


def _value(column: _Column, cell: str, path: str, line: int, model: GraphicalModel) -> int | None:
    try:
        return resolve_value(model, column.variable, cell, by_index=is_by_index(model, column.title))
    except EvidenceError as error:
        raise FormatError(path, f"line {line}, column {column.title!r}", str(error)) from None


def check_no_keys(keys: Sequence[str], path: object, kind: str) -> None:
    """Refuse keys of what is no table."""
    if keys:
        raise UsageError(f"--key {keys[0]}: expected a table with that column; {path} is {kind}")
