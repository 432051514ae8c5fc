"""Answers of ``beacon solve`` as one table: key columns, the query's variables, scores and proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beacon.errors import UsageError
from beacon.formats.answer_table import SUFFIXES, write_table
from beacon.io.files import base_suffix, check_writable
from beacon.runner.result import ResultList


def checked(out: str | None, keys: Sequence[str], inputs: Iterable[str | Path | None]) -> str | None:
    """The table to write to, if ``out`` is the name of one."""
    if out is not None and base_suffix(out) in SUFFIXES:
        check_writable(out, inputs)
        return out
    if keys:
        raise UsageError(f"--key goes into a table of answers; give one with -o OUT{SUFFIXES[0]}")
    return None


def run_and_write(
    run: Callable[..., ResultList], out: str, keys: Mapping[str, list[Any]], **listeners: Any
) -> ResultList:
    """Solve all queries, and write a row for each."""
    results = run(**listeners)
    write_table(out, results.to_columns(results.query_variables, keys))
    return results
