"""Rows on disk that grow while the work goes on: one merged Parquet file, and parts until it is written.

A row that is there twice (killed between merging and clearing up) counts once.
"""

from __future__ import annotations

import secrets
from collections.abc import Container, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import pyarrow as pa

from beacon.errors import FormatError
from beacon.io.parquet_file import opened, read_columns, write_table
from beacon.io.work_folder import PartsFolder

FLUSH_SECONDS = 2.0  # a kill loses at most the work of this time, and the queries that are being searched
PARTS_FOLDER = "parts"
ROW_VALUE_BYTES = 64  # a value of a row as an object, and in its column

Row = dict[str, Any]
Key = tuple[Any, ...]


class RowStore:
    """One kind of rows: ``NAME.parquet`` and ``parts/NAME-*.parquet`` in a folder; without one, in memory."""

    def __init__(
        self,
        folder: Path | None,
        name: str,
        schema: pa.Schema,
        key: tuple[str, ...],
        optional: tuple[str, ...] = (),
    ) -> None:
        """``optional`` are the columns whose cells may be empty; files of earlier versions may lack them."""
        self._file = None if folder is None else folder / f"{name}.parquet"
        self._parts = None if folder is None else PartsFolder(folder / PARTS_FOLDER, name)
        self._schema, self._key, self._optional = schema, key, optional
        self._waiting: list[Row] = []
        self._flushed = monotonic()

    def __enter__(self) -> RowStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()  # also when the work was interrupted: nothing done is lost

    def keys(self) -> set[Key]:
        """The keys of all rows."""
        tables = [_read(path, self._schema, self._optional, self._key) for path in self._files()]
        written = {key for table in tables for key in zip(*table.to_pydict().values(), strict=True)}
        return written | {self._key_of(row) for row in self._waiting}

    def add(self, row: Row) -> None:
        """Take a row; every few seconds the rows so far go to disk."""
        self._waiting.append(row)
        if monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write the waiting rows as one more part."""
        if self._parts is not None and self._waiting:
            table = pa.Table.from_pylist(self._waiting, schema=self._schema)
            write_table(table, self._parts.new(secrets.token_hex(8)))
            self._waiting = []
        self._flushed = monotonic()

    def rows(self) -> list[Row]:
        """All rows, sorted by key."""
        tables = [_read(path, self._schema, self._optional) for path in self._files()]
        every = [row for table in tables for row in table.to_pylist()] + self._waiting
        found = {self._key_of(row): row for row in every}
        return [found[key] for key in sorted(found)]

    def merge(self) -> None:
        """Put all rows into the one file, in order, and remove the parts."""
        if self._file is None or self._parts is None:
            return
        self.flush()
        if self._parts.files() or not self._file.exists():
            write_table(pa.Table.from_pylist(self.rows(), schema=self._schema), self._file)
        self._parts.remove()

    def _key_of(self, row: Row) -> Key:
        return tuple(row[name] for name in self._key)

    def _files(self) -> list[Path]:
        if self._file is None or self._parts is None:
            return []
        return [*([self._file] if self._file.exists() else []), *self._parts.files()]


def _read(path: Path, schema: pa.Schema, optional: Container[str], columns: Sequence[str] = ()) -> pa.Table:
    wanted = pa.schema([schema.field(name) for name in columns or schema.names])
    with opened(str(path), "results in Parquet") as file:
        table = read_columns(file, str(path), wanted.names, value_bytes=ROW_VALUE_BYTES)
    for place, field in enumerate(wanted):
        if field.name in optional and field.name not in table.column_names:
            table = table.add_column(place, field, pa.nulls(len(table), field.type))
    if not table.schema.equals(wanted):
        raise FormatError(path, "", "the columns are not those of this version; use a new folder")
    for name in wanted.names:
        items = [part.flatten() for part in table[name].chunks if pa.types.is_list(part.type)]
        if (name not in optional and table[name].null_count) or any(part.null_count for part in items):
            raise FormatError(
                path, "", f"the results are damaged: a cell of {name!r} is empty; use a new folder"
            )
    return table
