"""Rows on disk that grow while the work goes on: a folder of parts beside one merged Parquet file.

Every part and the merged file are written under a temporary name and renamed, so that a process that is
killed at any moment leaves only whole files. A row that is there twice (killed between merging and clearing
up) counts once.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from beacon.errors import BeaconError, FormatError

FLUSH_SECONDS = 2.0  # at most so much work is lost to a kill, plus the queries under way
PARTS_FOLDER = "parts"

Row = dict[str, Any]
Key = tuple[Any, ...]


class RowStore:
    """One kind of rows in a folder: ``NAME.parquet`` and ``parts/NAME-*.parquet``."""

    def __init__(self, folder: Path, name: str, schema: pa.Schema, key: tuple[str, ...]) -> None:
        self._file = folder / f"{name}.parquet"
        self._parts = folder / PARTS_FOLDER
        self._name, self._schema, self._key = name, schema, key
        self._waiting: list[Row] = []
        self._flushed = monotonic()

    def __enter__(self) -> RowStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.flush()  # also when the work was interrupted: nothing done is lost

    def keys(self) -> set[Key]:
        """The keys of all rows on disk."""
        tables = [_read(path, self._schema, list(self._key)) for path in self._files()]
        return {key for table in tables for key in zip(*table.to_pydict().values(), strict=True)}

    def add(self, row: Row) -> None:
        """Take a row; now and then the rows so far go to disk."""
        self._waiting.append(row)
        if monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what waits as one more part."""
        if self._waiting:
            self._parts.mkdir(parents=True, exist_ok=True)
            table = pa.Table.from_pylist(self._waiting, schema=self._schema)
            _write(table, self._parts / f"{self._name}-{secrets.token_hex(8)}.parquet")
            self._waiting = []
        self._flushed = monotonic()

    def rows(self) -> list[Row]:
        """All rows on disk, sorted by key."""
        tables = [_read(path, self._schema) for path in self._files()]
        found = {tuple(row[name] for name in self._key): row for table in tables for row in table.to_pylist()}
        return [found[key] for key in sorted(found)]

    def merge(self) -> None:
        """Put all rows into the one file, in order, and clear the parts."""
        self.flush()
        parts = self._part_files()
        if parts or not self._file.exists():
            _write(pa.Table.from_pylist(self.rows(), schema=self._schema), self._file)
        for part in [*parts, *self._leftovers()]:
            part.unlink(missing_ok=True)
        if self._parts.is_dir() and not any(self._parts.iterdir()):
            self._parts.rmdir()

    def _leftovers(self) -> list[Path]:
        """Half-written files of a process that was killed."""
        pattern = f".{self._name}*.tmp"
        return [*self._file.parent.glob(pattern), *self._parts.glob(pattern)]

    def _files(self) -> Iterable[Path]:
        return [*([self._file] if self._file.exists() else []), *self._part_files()]

    def _part_files(self) -> list[Path]:
        return sorted(self._parts.glob(f"{self._name}-*.parquet"))


def _write(table: pa.Table, target: Path) -> None:
    temporary = target.with_name(f".{target.name}-{secrets.token_hex(8)}.tmp")
    try:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)
        os.replace(temporary, target)
    except OSError as error:
        raise BeaconError(f"cannot write {target}: {(error.strerror or str(error)).lower()}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _read(path: Path, schema: pa.Schema, columns: list[str] | None = None) -> pa.Table:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            if not file.schema_arrow.equals(schema):
                raise FormatError(path, "", "the columns are not those of this version; use a new folder")
            return file.read(columns)
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or ["no reason given"])[0]
        raise FormatError(path, "", f"expected results in Parquet ({reason})") from None
