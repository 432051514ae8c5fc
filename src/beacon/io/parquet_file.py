"""Parquet files of our own: a table, facts about it in the schema's metadata, and checks of both."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from beacon.errors import BeaconError, FormatError, UsageError, first_line
from beacon.io.files import COMPRESSIONS, Budget, base_suffix, parse_json, write_bytes

CELL_BYTES = 4  # a variable of a query: its value, whether it is observed, and copies while they are made
NUMBERS = ("BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE")  # as the format calls them
TEXTS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
FOREIGN = (".csv", ".tsv", ".json", ".evid")  # names that promise something else than Parquet
VALUE_BYTES = 16  # a value of a column, in the file's own width and in ours


class ParquetKind(NamedTuple):
    """A kind of file: what it holds and how to speak of it."""

    key: bytes
    """Where the schema's metadata holds the facts."""
    version: int
    name: str
    """As in "expected a query set"."""
    contents: str
    """As in "expected a Parquet file with queries"."""
    command: str
    """What makes such a file."""
    columns: tuple[str, ...]
    """What is read; other columns that a file may have are not."""

    def damaged(self, path: str) -> FormatError:
        """The error for a file that contradicts itself."""
        return FormatError(path, "", f"the {self.name} is damaged; make it again with `{self.command}`")


def check_parquet_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name that says that the file is something else."""
    place = os.fspath(path)
    if base_suffix(place) in FOREIGN or os.path.splitext(place)[1].lower() in COMPRESSIONS:
        raise UsageError(
            f"cannot write {place}: expected a name that ends in .parquet, the format of this file"
        )


def save_table(
    kind: ParquetKind, columns: Mapping[str, pa.Array], facts: Mapping[str, Any], path: str | os.PathLike[str]
) -> None:
    """Write a table with its facts; see :func:`beacon.io.files.write_bytes`."""
    check_parquet_name(path)
    described = json.dumps({"version": kind.version, **facts})
    table = pa.table(dict(columns)).replace_schema_metadata({kind.key: described})
    write_table(table, path)


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table, compressed and with checksums; the old file stays until the new one is complete."""
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, compression="zstd", write_page_checksum=True)
    write_bytes(path, buffer.getvalue().to_pybytes())


def read_table(path: str | os.PathLike[str]) -> pa.Table:
    """Any table; see :func:`load_table` for our own files."""
    place = os.fspath(path)
    with opened(place, "a Parquet file") as file:
        names = file.schema_arrow.names
        return read_columns(file, place, names, CELL_BYTES * file.metadata.num_rows * len(names))


def has_kind(kind: ParquetKind, path: str | os.PathLike[str]) -> bool:
    """Is this a file of that kind, rather than anybody's table?"""
    try:
        with open(path, "rb") as source:  # pyarrow itself cannot open every name
            return kind.key in (pq.read_schema(source).metadata or {})
    except (OSError, ValueError, pa.ArrowException):
        return False


def load_table(kind: ParquetKind, path: str | os.PathLike[str]) -> tuple[dict[str, Any], pa.Table]:
    """The facts and the table; an error if the file is none of this kind, or damaged."""
    place = os.fspath(path)
    with opened(place, f"a Parquet file with {kind.contents}") as file:
        facts = _facts(kind, place, file)
        cells = file.metadata.num_rows * facts["num_variables"]
        return facts, read_columns(file, place, kind.columns, CELL_BYTES * cells)


@contextmanager
def opened(path: str, wanted: str) -> Iterator[pq.ParquetFile]:
    """A file of any name; texts are read as a list of different ones, and where each stands.

    Whatever goes wrong while it is read is an error that says what was ``wanted``.
    """
    try:
        with _Source(path) as source:
            names = [field.name for field in pq.read_schema(source) if field.type in TEXTS]
            source.seek(0)
            file = pq.ParquetFile(source, page_checksum_verification=True, read_dictionary=names)
            _check_descriptions(file, source)
            yield file
    except FileNotFoundError:
        raise BeaconError(f"cannot read {path}: no such file") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise FormatError(path, "", f"expected {wanted} ({first_line(error)})") from None


class _DataWantedError(Exception):
    """Data would be read, though that is forbidden."""


class _Source(FileIO):
    """A file from which reading can be forbidden."""

    is_shut = False

    def read(self, size: int | None = -1, /) -> bytes:
        """Bytes of the file, as long as it is not shut."""
        if self.is_shut:
            raise _DataWantedError
        return super().read(size) or b""


def _check_descriptions(file: pq.ParquetFile, source: _Source) -> None:
    """Raise an error if a column is described wrongly.

    pyarrow ends the process when it is asked for a wrong description, but raises an error when it meets one
    while reading; so reading is begun here, and stopped before any data.
    """
    source.is_shut = True
    for group in range(file.metadata.num_row_groups):
        for column in range(file.metadata.num_columns):
            with suppress(_DataWantedError):
                file.reader.read_row_group(group, column_indices=[column], use_threads=False)
    source.is_shut = False


def read_columns(
    file: pq.ParquetFile,
    path: str,
    columns: Sequence[str],
    num_bytes: int = 0,
    value_bytes: int = VALUE_BYTES,
) -> pa.Table:
    """Some columns of a table, if they fit into the budget of memory.

    What they take is told by the file's own list of its contents, before any of them is read: each value
    ``value_bytes``, and ``num_bytes`` on top. A few bytes of a file may stand for a long text in every row,
    so the different texts are read first, and what all rows would take is checked before they are made.
    """
    budget = Budget(num_bytes)
    groups = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)]
    for chunk in (group.column(k) for group in groups for k in range(group.num_columns)):
        name, *inner = chunk.path_in_schema.split(".")
        if name in columns:
            if chunk.physical_type not in (NUMBERS if inner else (*NUMBERS, "BYTE_ARRAY")):
                raise ValueError(f"column {name!r} holds {chunk.physical_type.lower()}")
            _check_fits(path, budget, chunk.total_uncompressed_size + value_bytes * chunk.num_values)
    table = file.read([name for name in columns if name in file.schema_arrow.names])
    for name in table.column_names:
        if pa.types.is_dictionary(table[name].type):
            parts = table[name].chunks
            longest = max(
                (len(text) for part in parts for text in part.dictionary.to_pylist() if text), default=0
            )
            _check_fits(path, budget, longest * len(table))
    types = [
        field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in table.schema
    ]
    return table.cast(pa.schema(list(zip(table.column_names, types, strict=True))))


def _check_fits(path: str, budget: Budget, num_bytes: int) -> None:
    if problem := budget.problem(num_bytes):
        raise FormatError(path, "", problem)


def _facts(kind: ParquetKind, path: str, file: pq.ParquetFile) -> dict[str, Any]:
    text = (file.schema_arrow.metadata or {}).get(kind.key)
    if text is not None and (problem := Budget().problem_with_text(text)):
        raise FormatError(path, "", problem)
    if text is None:
        raise FormatError(path, "", f"expected a {kind.name}, found another kind of Parquet file")
    try:
        facts: dict[str, Any] = parse_json(text)
        version, num_variables = facts["version"], int(facts["num_variables"])
    except (ValueError, TypeError, KeyError):
        raise kind.damaged(path) from None
    if version != kind.version:
        raise FormatError(path, "", f"expected a {kind.name} of version {kind.version}, found {version!r}")
    is_named = str(facts.get("fingerprint")).isalnum()
    if num_variables < 0 or num_variables != facts["num_variables"] or not is_named:
        raise kind.damaged(path)
    return facts
