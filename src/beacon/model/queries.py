"""Many queries, whatever they come as: the door of everything that solves more than one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from beacon.errors import UsageError, shown
from beacon.model.checks import check_is_model
from beacon.model.evidence import Evidence, is_row, resolve_evidence
from beacon.model.graphical_model import GraphicalModel

Queries = Iterable[Evidence] | Any  # the last: a table


def resolve_queries(model: GraphicalModel, queries: Queries) -> list[dict[int, int]]:
    """The evidence of each query: of a list of mappings, or of the rows of a table."""
    check_is_model(model)
    if is_row(queries):
        raise UsageError(
            f"expected many queries, found one row of a table ({type(queries).__name__}); "
            "beacon.solve takes it as it is, or put it into a list"
        )
    if is_table(queries):
        from beacon.model.data_frame import evidence_of_table  # noqa: PLC0415 - most queries are mappings

        return evidence_of_table(queries, model)
    if isinstance(queries, str | os.PathLike):
        raise UsageError(
            f"expected queries, found the path {os.fspath(queries)!r}; read it: a CSV table by "
            "beacon.read_evidence_table(path, model), a UAI file by beacon.read_evidence(path, model), "
            "a query set by beacon.QuerySet.load(path)"
        )
    try:
        each = iter(queries)
    except TypeError:
        raise UsageError(
            "expected a list of mappings, such as [{'fever': 'yes'}], or a table with a row for each query; "
            f"found {shown(queries)}"
        ) from None
    return [resolve_evidence(model, evidence) for evidence in each]


def is_table(queries: object) -> bool:
    """Is this a table, rather than a sequence of queries?

    Tables hand over their columns by the interfaces that Arrow and the data frame libraries agree on.
    """
    is_frame = hasattr(queries, "__arrow_c_stream__") or hasattr(queries, "__dataframe__")
    return is_frame or isinstance(queries, Mapping)
