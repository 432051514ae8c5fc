"""The queries of several files and tables together, whatever each of them is."""

from __future__ import annotations

from collections.abc import Sequence

from beacon.formats import read_evidence
from beacon.formats.evidence_json import read_json_evidence
from beacon.formats.evidence_table import EvidenceTable, check_no_keys, read_keyed_table
from beacon.io.files import base_suffix
from beacon.model.graphical_model import GraphicalModel


def read_queries(
    model: GraphicalModel, files: Sequence[str], tables: Sequence[str], keys: Sequence[str] = ()
) -> EvidenceTable:
    """All queries of the files, then those of the tables, with the tables' key columns."""
    read = [_of_table(table, model, keys) for table in tables]
    queries = [query for file in files for query in _of_file(file, model)]
    columns = {key: [cell for table in read for cell in table.keys[key]] for key in keys}
    return EvidenceTable(queries + [query for table in read for query in table.queries], columns)


def _of_file(path: str, model: GraphicalModel) -> list[dict[int, int]]:
    return read_json_evidence(path, model) if base_suffix(path) == ".json" else read_evidence(path, model)


def _of_table(path: str, model: GraphicalModel, keys: Sequence[str]) -> EvidenceTable:
    """Of a table, a query set or JSON; only the first has keys."""
    if base_suffix(path) == ".json":
        check_no_keys(keys, path, "JSON")
        return EvidenceTable(read_json_evidence(path, model), {})
    if base_suffix(path) == ".parquet":
        from beacon.query.query_file import is_query_set, load_queries  # noqa: PLC0415 (pyarrow is slow)

        if is_query_set(path):
            check_no_keys(keys, path, "a query set")
            queries = load_queries(path, model)
            return EvidenceTable([queries.evidence(k) for k in range(len(queries))], {})
    return read_keyed_table(path, model, keys)
