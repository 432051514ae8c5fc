"""Answers as a table in a file: CSV, tab-separated or Parquet, by the file's suffix."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from typing import Any

from beacon.io.files import base_suffix, write_text


def write_table(path: str | os.PathLike[str], columns: Mapping[str, list[Any]]) -> None:
    """Write columns by name; in CSV, what is missing (None) is an empty cell."""
    if base_suffix(path) == ".parquet":
        import pyarrow as pa  # noqa: PLC0415  (slow to import)

        from beacon.io.parquet_file import write_table as write_parquet  # noqa: PLC0415

        write_parquet(pa.table(dict(columns)), path)
        return
    text = io.StringIO()
    delimiter = "\t" if base_suffix(path) == ".tsv" else ","
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    write_text(path, text.getvalue())
