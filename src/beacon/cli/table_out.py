"""Answers of ``beacon solve`` as one table: key columns, the query's variables, scores and proofs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from beacon.formats.answer_table import write_table
from beacon.runner.result import ResultList


def run_and_write(
    run: Callable[..., ResultList], out: str, keys: Mapping[str, list[Any]], **listeners: Any
) -> ResultList:
    """Solve all queries, and write a row for each."""
    results = run(**listeners)
    write_table(out, results.to_columns(results.query_variables, keys))
    return results
