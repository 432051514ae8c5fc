"""The queries of several evidence files and tables together."""

from __future__ import annotations

from collections.abc import Sequence

from beacon.formats import read_evidence
from beacon.formats.evidence_table import EvidenceTable, read_keyed_table
from beacon.model.graphical_model import GraphicalModel


def read_queries(
    model: GraphicalModel, files: Sequence[str], tables: Sequence[str], keys: Sequence[str] = ()
) -> EvidenceTable:
    """All queries of the files, then those of the tables, with the tables' key columns."""
    read = [read_keyed_table(table, model, keys) for table in tables]
    queries = [query for file in files for query in read_evidence(file, model)]
    columns = {key: [cell for table in read for cell in table.keys[key]] for key in keys}
    return EvidenceTable(queries + [query for table in read for query in table.queries], columns)
