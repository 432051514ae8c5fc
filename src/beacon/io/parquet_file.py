"""Parquet files of our own: a table, facts about it in the schema's metadata, and checks of both."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from beacon.errors import BeaconError, FormatError
from beacon.io.files import parse_json, write_bytes


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

    def damaged(self, path: str) -> FormatError:
        """The error for a file that contradicts itself."""
        return FormatError(path, "", f"the {self.name} is damaged; make it again with `{self.command}`")


def save_table(
    kind: ParquetKind, columns: Mapping[str, pa.Array], facts: Mapping[str, Any], path: str | os.PathLike[str]
) -> None:
    """Write a table with its facts; see :func:`beacon.io.files.write_bytes`."""
    described = json.dumps({"version": kind.version, **facts})
    table = pa.table(dict(columns)).replace_schema_metadata({kind.key: described})
    write_table(table, path)


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table, compressed and with checksums; the old file stays until the new one is complete."""
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, compression="zstd", write_page_checksum=True)
    write_bytes(path, buffer.getvalue().to_pybytes())


def read_table(path: str | os.PathLike[str]) -> pa.Table:
    """A table of anybody's; see :func:`load_table` for those of our own."""
    place = os.fspath(path)
    try:
        return pq.read_table(place)
    except FileNotFoundError:
        raise BeaconError(f"cannot read {place}: no such file") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise FormatError(place, "", f"expected a Parquet file ({first_line(error)})") from None


def has_kind(kind: ParquetKind, path: str | os.PathLike[str]) -> bool:
    """Is this a file of that kind, rather than anybody's table?"""
    try:
        return kind.key in (pq.read_schema(os.fspath(path)).metadata or {})
    except (OSError, ValueError, pa.ArrowException):
        return False


def first_line(error: Exception) -> str:
    """The first line of an error, which may have many."""
    return (str(error).splitlines() or ["no reason given"])[0]


def load_table(
    kind: ParquetKind, path: str | os.PathLike[str], max_values: int
) -> tuple[dict[str, Any], pa.Table]:
    """The facts and the table; an error if the file is none of this kind, or damaged.

    ``max_values`` bounds rows times variables, before any row is read.
    """
    place = os.fspath(path)
    try:
        with pq.ParquetFile(place, page_checksum_verification=True) as file:
            facts = _facts(kind, place, file)
            if file.metadata.num_rows * facts["num_variables"] > max_values:
                raise kind.damaged(place)
            return facts, file.read()
    except FileNotFoundError:
        raise BeaconError(f"cannot read {place}: no such file") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        wanted = f"expected a Parquet file with {kind.contents}"
        raise FormatError(place, "", f"{wanted} ({first_line(error)})") from None


def _facts(kind: ParquetKind, path: str, file: pq.ParquetFile) -> dict[str, Any]:
    text = (file.schema_arrow.metadata or {}).get(kind.key)
    if text is None:
        raise FormatError(path, "", f"expected a {kind.name}, found another kind of Parquet file")
    try:
        facts: dict[str, Any] = parse_json(text)
        version, num_variables = facts["version"], int(facts["num_variables"])
    except (ValueError, TypeError, KeyError):
        raise kind.damaged(path) from None
    if version != kind.version:
        raise FormatError(path, "", f"expected a {kind.name} of version {kind.version}, found {version!r}")
    if num_variables < 0 or num_variables != facts["num_variables"]:
        raise kind.damaged(path)
    return facts
