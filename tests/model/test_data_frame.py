"""Tables in memory as evidence: every way in, every kind of cell, and errors that name row and column."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import beacon
from beacon.errors import EvidenceError
from beacon.formats import read_evidence_table
from beacon.model.data_frame import evidence_of_table
from beacon.model.evidence import is_table, resolve_variable
from beacon.model.graphical_model import GraphicalModel

NAN = float("nan")


@pytest.fixture
def model() -> GraphicalModel:
    labels = [["no", "yes"], ["true", "false"], ["1", "2", "3"], ["x"]]
    return GraphicalModel.from_tables([2, 2, 3, 1], [], ["rain", "wet", "level", "only"], labels)


class OtherFrame:
    """A data frame of another library, which hands over its columns by Arrow's interface."""

    def __init__(self, **columns: Any) -> None:
        self.table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class OlderFrame:
    """The same, by the older interface."""

    def __init__(self, **columns: Any) -> None:
        self.table = pa.table(columns)

    def __dataframe__(self, *args: Any, **settings: Any) -> object:
        return self.table.__dataframe__(*args, **settings)


@pytest.mark.parametrize("kind", [lambda **columns: pa.table(columns), OtherFrame, OlderFrame, dict])
def test_a_table_of_any_library_is_a_query_per_row(kind: Any, model: GraphicalModel) -> None:
    table = kind(rain=["yes", None, "no"], level=["3", "1", None])
    assert is_table(table)
    assert evidence_of_table(table, model) == [{0: 1, 2: 2}, {2: 0}, {0: 0}]


@pytest.mark.parametrize(
    ("column", "cells", "values"),
    [
        ("rain", ["yes", " no ", "", None], [1, 0, None, None]),
        ("rain", [0, 1, None], [0, 1, None]),
        ("rain", [1.0, NAN, 0.0], [1, None, 0]),  # as pandas has whole numbers where some are missing
        ("wet", [True, False, None], [0, 1, None]),  # by the label, not as 1 and 0
        ("level", [1, 2, 3], [0, 1, 2]),  # labels come before indices, as in a CSV table
        ("level", ["2.0", "?"], [1, None]),
        ("2", [0, 2], [0, 2]),  # a variable by its index has values by theirs
        ("rain", [True, False], [1, 0]),
        ("level", [3.0, NAN], [2, None]),
        ("0", ["yes"], [1]),
        ("only", ["x"], [0]),
    ],
)
def test_cells_mean_what_they_mean_in_a_csv_table(
    column: str, cells: list[Any], values: list[int | None], model: GraphicalModel
) -> None:
    variable = resolve_variable(model, column)
    expected = [{} if value is None else {variable: value} for value in values]
    assert evidence_of_table({column: cells}, model) == expected


def test_a_csv_file_and_its_table_are_the_same_queries(model: GraphicalModel, tmp_path: Any) -> None:
    file = tmp_path / "t.csv"
    file.write_text("level,rain,wet\n3,yes,\n,0,false\n2,,true\n", encoding="utf-8")
    from pyarrow import csv  # noqa: PLC0415

    assert evidence_of_table(csv.read_csv(file), model) == read_evidence_table(file, model)


def test_categories_are_labels(model: GraphicalModel) -> None:
    column = pa.array(["yes", None, "no"]).dictionary_encode()
    assert evidence_of_table(pa.table({"rain": column}), model) == [{0: 1}, {}, {0: 0}]


def test_the_index_of_a_data_frame_is_no_variable(model: GraphicalModel) -> None:
    table = pa.table({"rain": ["yes"], "patient": ["Ann"]})
    frame = table.replace_schema_metadata({"pandas": '{"index_columns": ["patient"], "columns": []}'})
    assert evidence_of_table(frame, model) == [{0: 1}]
    with pytest.raises(EvidenceError, match="no variable is called 'patient'"):
        evidence_of_table(table, model)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"rain": ["yes", "maybe"]},
            "row 1, column 'rain': variable 'rain' has no value 'maybe'; ",
        ),
        ({"rain": [0, 2]}, r"row 1, column 'rain': variable 'rain' has values 0..1 \(no, yes\); found 2"),
        ({"rain": [0.5]}, "row 0, column 'rain': variable 'rain' has no value '0.5'"),
        ({"level": [True]}, "row 0, column 'level': variable 'level' has no value that reads as True"),
        ({"rian": ["yes"]}, "no variable is called 'rian'; did you mean 'rain'?"),
        ({"rain": ["yes"], "0": ["no"]}, "the columns 'rain' and '0' are the same variable"),
        ({"rain": ["yes", 1]}, "the table cannot be read: .*; a column needs cells of one kind"),
        ({"rain": ["yes"], "wet": []}, "the table cannot be read"),
        (
            pa.table({"rain": [[1], [2]]}),
            "column 'rain': expected a label or a value index in each cell, found list<",
        ),
        (
            {"rain": [{"a": 1}]},
            "column 'rain': expected a label or a value index in each cell, found struct<",
        ),
        (
            {"rain": "yes"},
            "column 'rain': expected a list of cells, found 'yes'; if this is one query, use solve",
        ),
        ({"rain": 1}, "column 'rain': expected a list of cells, found 1"),
    ],
)
def test_errors_say_where(table: Any, message: str, model: GraphicalModel) -> None:
    with pytest.raises(EvidenceError, match=message):
        evidence_of_table(table, model)


def test_sequences_of_mappings_are_no_tables() -> None:
    assert not is_table([{"rain": "yes"}])
    assert not is_table(iter([]))


def test_data_frames_of_pandas_are_read_whatever_their_columns_are_made_of(model: GraphicalModel) -> None:
    columns = {
        "rain": pd.Series(["yes", None, "no"]),
        "wet": pd.Series([True, None, False], dtype="boolean"),
        "level": pd.Series(["3", NAN, "1"], dtype="category"),
    }
    frame = pd.DataFrame(columns)
    expected = [{0: 1, 1: 0, 2: 2}, {}, {0: 0, 1: 1, 2: 0}]
    assert evidence_of_table(frame, model) == expected
    frame.index = pd.Index(["anna", "bert", "carl"], name="patient")  # an index is no variable
    assert evidence_of_table(frame, model) == expected
    assert evidence_of_table(frame[frame["rain"] == "yes"], model) == expected[:1]


def test_results_go_into_a_data_frame_again(model: GraphicalModel) -> None:
    frame = pd.DataFrame({"rain": ["yes", "no"], "level": [3.0, NAN]})
    results = beacon.solve_many(model, frame, stop=beacon.MaxSteps(10), threads=1)
    answers = pd.DataFrame(results.to_columns())
    assert answers["rain"].tolist() == ["yes", "no"]
    assert answers["level"][0] == "3"
    assert results.to_arrow().to_pandas().equals(answers)
