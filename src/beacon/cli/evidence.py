"""Evidence from files, tables and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from beacon.errors import UsageError

if TYPE_CHECKING:
    from beacon.model.graphical_model import GraphicalModel

NO_FILE = "-"


def read_queries(
    model: GraphicalModel, files: Sequence[str], tables: Sequence[str], items: Sequence[str]
) -> list[dict[int, int]]:
    """The evidence of every query: all those of the files, then of the tables; or the one of the items."""
    from beacon import formats  # noqa: PLC0415  (each of its functions is loaded when it is used)

    if not files and not tables:
        return [formats.parse_evidence_items(items, model)]
    if items:
        raise UsageError("give the evidence by --evidence or by files (--evid, --table), not both")
    queries = [query for file in files for query in formats.read_evidence(file, model)]
    return queries + [query for table in tables for query in formats.read_evidence_table(table, model)]


def read_query(
    model: GraphicalModel, file: str, items: Sequence[str], index: int | None = None
) -> dict[int, int]:
    """The evidence of one query; ``index`` says which one of a file of several."""
    queries = read_queries(model, [] if file == NO_FILE else [file], [], items)
    if index is None and len(queries) > 1:
        raise UsageError(f"{file} holds {len(queries)} queries; choose one with --query N")
    if index is not None and index >= len(queries):
        raise UsageError(f"--query must lie in 0..{len(queries) - 1}; found {index}")
    return queries[index or 0]
