"""Evidence of many queries as a table in memory: of pandas, polars, Arrow, or columns by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beacon.errors import EvidenceError
from beacon.model.evidence import is_by_index, resolve_value, resolve_variable
from beacon.model.graphical_model import GraphicalModel

if TYPE_CHECKING:
    import pyarrow as pa


def evidence_of_table(table: Any, model: GraphicalModel) -> list[dict[int, int]]:
    """The evidence of each row: a column per variable; :func:`resolve_value` says what a cell means."""
    columns = _as_arrow(table)
    evidences: list[dict[int, int]] = [{} for _ in range(columns.num_rows)]
    titles: dict[int, str] = {}
    for title, column in zip(columns.column_names, columns.columns, strict=True):
        if _is_index(columns, title, model):
            continue
        variable = resolve_variable(model, title)
        if variable in titles:
            raise EvidenceError(f"the columns {titles[variable]!r} and {title!r} are the same variable")
        titles[variable] = title
        _check_holds_cells(column, title)
        _enter(column, title, variable, model, evidences)
    return [dict(sorted(evidence.items())) for evidence in evidences]


def _check_holds_cells(column: pa.ChunkedArray, title: str) -> None:
    """Refuse columns of lists or of other things that have parts."""
    from pyarrow import types  # noqa: PLC0415

    if types.is_nested(column.type):
        raise EvidenceError(
            f"column {title!r}: expected a label or a value index in each cell, found {column.type}"
        )


def _as_arrow(table: Any) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415  (slow to import)

    try:
        if isinstance(table, Mapping):
            _check_has_columns(table)
            return pa.table({str(title): list(cells) for title, cells in table.items()})
        if hasattr(table, "__arrow_c_stream__"):
            return pa.table(table)
        from pyarrow.interchange import from_dataframe  # noqa: PLC0415

        return from_dataframe(table)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise EvidenceError(f"the table cannot be read: {reason}; a column needs cells of one kind") from None


def _check_has_columns(table: Mapping[Any, Any]) -> None:
    """Refuse the evidence of one query where columns are expected."""
    for title, cells in table.items():
        if isinstance(cells, str | int | float):
            raise EvidenceError(
                f"column {title!r}: expected a list of cells, found {cells!r}; "
                "if this is one query, use solve, or put it into a list"
            )


def _is_index(columns: pa.Table, title: str, model: GraphicalModel) -> bool:
    """Is this the index of a data frame of pandas, which comes along as a column?"""
    known = (columns.schema.pandas_metadata or {}).get("index_columns", [])
    return title in known and title not in model.name_to_variable


def _enter(
    column: pa.ChunkedArray, title: str, variable: int, model: GraphicalModel, evidences: list[dict[int, int]]
) -> None:
    """Add a column to the evidence of each row; a cell that occurs often is looked up once."""
    value_of: dict[Any, int | None] = {}
    by_index = is_by_index(model, title)
    for row, cell in enumerate(column.to_pylist()):
        if cell is None:
            continue
        key = (type(cell), cell)  # else True would be 1
        if key not in value_of:
            try:
                value_of[key] = resolve_value(model, variable, cell, by_index=by_index)
            except EvidenceError as error:
                raise EvidenceError(f"row {row}, column {title!r}: {error}") from None
        value = value_of[key]
        if value is not None:
            evidences[row][variable] = value
