"""Many queries at the door."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from beacon.errors import UsageError
from beacon.model.graphical_model import GraphicalModel
from beacon.model.queries import resolve_queries

MODEL = GraphicalModel.from_tables([2, 2], [], ["rain", "wet"], [["no", "yes"]] * 2)
FRAME = pd.DataFrame({"rain": ["yes", None], "wet": ["no", "yes"]})


@pytest.mark.parametrize(
    "queries",
    [
        [{"rain": "yes", "wet": "no"}, {"wet": "yes"}],
        iter([{0: 1, 1: 0}, {1: 1}]),
        FRAME,
        pa.Table.from_pandas(FRAME),
        {"rain": ["yes", None], "wet": ["no", "yes"]},
        [row for _, row in FRAME.iterrows()],
        FRAME.to_dict("records"),
        pa.Table.from_pandas(FRAME).to_pylist(),
    ],
    ids=["mappings", "iterator", "pandas", "arrow", "columns", "rows", "records", "pylist"],
)
def test_queries_come_in_many_ways(queries: Any) -> None:
    assert resolve_queries(MODEL, queries) == [{0: 1, 1: 0}, {1: 1}]


@pytest.mark.parametrize("path", ["patients.csv", Path("patients.csv")])
def test_a_path_is_answered_with_what_reads_it(path: Any) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_queries(MODEL, path)
    assert str(caught.value) == (
        "expected queries, found the path 'patients.csv'; read it: a CSV table by "
        "beacon.read_evidence_table(path, model), a UAI file by beacon.read_evidence(path, model), "
        "a query set by beacon.QuerySet.load(path)"
    )


@pytest.mark.parametrize(("queries", "found"), [(None, "None"), (5, "5"), (object, "<class 'object'>")])
def test_what_holds_no_queries_is_refused(queries: Any, found: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_queries(MODEL, queries)
    assert str(caught.value) == (
        "expected a list of mappings, such as [{'fever': 'yes'}], or a table with a row for each query; "
        f"found {found}"
    )


def test_one_row_is_not_many_queries() -> None:
    with pytest.raises(UsageError, match=r"found one row of a table \(Series\); beacon.solve takes it"):
        resolve_queries(MODEL, FRAME.iloc[0])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            "clinic.bif",
            "expected a model, found the path 'clinic.bif'; read it: beacon.read_model('clinic.bif')",
        ),
        (Path("a.uai"), "expected a model, found the path 'a.uai'; read it: beacon.read_model('a.uai')"),
        (
            None,
            "expected a model, found None; beacon.read_model(path) reads one from a file, "
            "beacon.from_pgmpy(network) takes one over",
        ),
    ],
)
def test_what_is_no_model_is_refused(model: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_queries(model, [{}])
    assert str(caught.value) == message
