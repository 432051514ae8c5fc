"""Evidence by name or index, of one query or of many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from beacon.errors import EvidenceError, UsageError
from beacon.model.data_frame import evidence_of_table
from beacon.model.evidence import (
    describe_impossible,
    impossible_factor,
    parse_evidence_items,
    resolve_evidence,
    resolve_queries,
)
from beacon.model.graphical_model import GraphicalModel


@pytest.fixture
def model() -> GraphicalModel:
    """The second variable has numbers as labels, in another order than their indices."""
    return GraphicalModel.from_tables(
        [2, 3],
        [((0, 1), [0.0, 0.0, 0.0, -np.inf, -np.inf, -np.inf])],
        names=["fever", "days"],
        labels=[["no", "yes"], ["3", "2", "1"]],
    )


@pytest.mark.parametrize(
    ("evidence", "resolved"),
    [
        (None, {}),
        ({}, {}),
        ({"fever": "yes"}, {0: 1}),
        ({"fever": 1}, {0: 1}),
        ({0: "yes"}, {0: 1}),
        ({"0": "1"}, {0: 1}),
        ([("fever", "no"), ("fever", 0)], {0: 0}),
        ({"days": 2, "fever": 0}, {0: 0, 1: 1}),
        ({np.int64(1): np.int64(2)}, {1: 2}),
        ({1: 2, 0: 1}, {0: 1, 1: 2}),
        ({"fever": None, "days": "2"}, {1: 1}),
        ({"fever": float("nan"), "days": pd.NA}, {}),
        ({"fever": 1.0, "days": np.float32(2)}, {0: 1, 1: 1}),
        ((), {}),
    ],
)
def test_names_labels_and_indices_are_understood(model, evidence, resolved):
    assert resolve_evidence(model, evidence) == resolved


def test_a_label_wins_over_an_index(model):
    assert resolve_evidence(model, {"days": "1"}) == {1: 2}


@pytest.mark.parametrize(
    ("cells", "resolved"),
    [
        ({"fever": "yes"}, {0: 1}),
        ({"fever": " yes ", "days": ""}, {0: 1}),
        ({"days": 1, "fever": 0}, {0: 0, 1: 2}),  # a label wins, as in a table
        ({"days": 1.0, "fever": np.nan}, {1: 2}),
        ({"fever": None, "days": pd.NaT}, {}),
        ({1: "1"}, {1: 1}),
    ],
)
def test_a_row_of_a_table_means_what_it_means_in_the_table(model, cells, resolved):
    assert resolve_evidence(model, pd.Series(cells)) == resolved


def test_each_row_of_a_table_is_the_query_that_the_table_has_there(model):
    frame = pd.DataFrame({"fever": ["yes", None, "no"], "days": [1.0, 3.0, np.nan]})
    rows = [resolve_evidence(model, frame.iloc[k]) for k in range(3)]
    assert rows == evidence_of_table(frame, model) == [{0: 1, 1: 2}, {1: 0}, {0: 0}]


def test_a_row_may_have_a_variable_called_columns():
    model = GraphicalModel.from_tables([2], [], ["columns"])
    assert resolve_evidence(model, pd.Series({"columns": 1})) == {0: 1}


@pytest.mark.parametrize(
    "evidence", [{"fever"}, "fever=yes", ["fever"], ["ab"], [{"fever": 1, "days": 0}], 3]
)
def test_what_is_no_mapping_is_refused(model, evidence):
    with pytest.raises(UsageError) as caught:
        resolve_evidence(model, evidence)
    assert str(caught.value) == (
        f"expected the evidence of a query as a mapping, such as {{'fever': 'yes'}}; found {evidence!r}"
    )


def test_a_long_object_goes_by_its_type(model):
    with pytest.raises(UsageError, match=r"found an object of type ndarray$"):
        resolve_evidence(model, np.zeros((40, 3)))


def test_a_whole_table_is_not_one_query(model):
    with pytest.raises(UsageError, match=r"found a table \(DataFrame\); beacon.solve_many takes tables"):
        resolve_evidence(model, pd.DataFrame({"fever": ["yes"]}))


def test_evidence_comes_back_in_variable_order(model):
    assert list(resolve_evidence(model, {"days": 1, "fever": 0})) == [0, 1]


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"fevr": 1}, "no variable is called 'fevr'; did you mean 'fever'?"),
        ({"FEVER": 1}, "no variable is called 'FEVER'; did you mean 'fever'?"),
        ({"qqq": 1}, "no variable is called 'qqq'; `beacon info MODEL --variables` lists them"),
        ({2: 0}, "variable indices are 0..1; found 2"),
        ({-1: 0}, "variable indices are 0..1; found -1"),
        ({"fever": "maybe"}, "variable 'fever' has no value 'maybe'; its values are no, yes"),
        ({"fever": 2}, "variable 'fever' has values 0..1 (no, yes); found 2"),
        ({"fever": 0.5}, "variable 'fever' has no value '0.5'; its values are no, yes"),
        ({"fever": [1]}, "expected a label or value index of variable 'fever'; found [1]"),
        ({None: 1}, "expected a variable by name or index; found None"),
        ({"fever": "-1"}, "variable 'fever' has values 0..1 (no, yes); found -1"),
        ({"days": 0}, "variable 'days' has no value '0'; its values are 3, 2, 1"),
        ({"days": True}, "variable 'days' has no value that reads as True; its values are 3, 2, 1"),
        ({True: 1}, "expected a variable by name or index; found True"),
        (
            [("fever", "no"), (0, "yes")],
            "variable 'fever' is observed twice with different values: 'no' and 'yes'",
        ),
    ],
)
def test_mistakes_are_explained_in_one_line(model, evidence, message):
    with pytest.raises(EvidenceError) as caught:
        resolve_evidence(model, evidence)
    assert str(caught.value) == message


def test_long_lists_of_values_are_cut():
    model = GraphicalModel.from_tables([20], [])
    with pytest.raises(EvidenceError, match=r"its values are 0, 1, .*, 11, …$"):
        resolve_evidence(model, {0: "many"})


class TestImpossibleEvidence:
    def test_a_factor_that_is_zero_whatever_else_is_found(self, model):
        assert impossible_factor(model, {0: 1}) == 0
        assert describe_impossible(model, 0, {0: 1}) == (
            "the evidence has probability zero: factor 0 is zero for fever=yes"
        )

    def test_possible_evidence_is_left_alone(self, model):
        assert impossible_factor(model, {0: 0, 1: 2}) is None
        assert impossible_factor(model, {}) is None

    def test_a_factor_that_is_always_zero_needs_no_evidence(self):
        model = GraphicalModel.from_tables([2], [((0,), [-np.inf, -np.inf])])
        assert impossible_factor(model, {}) == 0
        assert describe_impossible(model, 0, {}).endswith("factor 0 is zero for every assignment")


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


NAMED = GraphicalModel.from_tables(
    [2, 3, 2],
    [],
    names=["fever", "a=b", "a"],
    labels=[["no", "yes"], ["x", "y=z", "0"], ["b=x", "c"]],
)


@pytest.mark.parametrize(
    ("items", "evidence"),
    [
        ([], {}),
        (["fever=yes"], {0: 1}),
        (["0=1", "2=0"], {0: 1, 2: 0}),
        (["a=b=x"], {1: 0}),
        (["a=b=y=z"], {1: 1}),
        (["a=c", "fever=no"], {0: 0, 2: 1}),
        (["a=b=0"], {1: 2}),
    ],
)
def test_items_name_variables_and_values(items: list[str], evidence: dict[int, int]) -> None:
    assert parse_evidence_items(items, NAMED) == evidence


def test_an_item_without_a_sign_is_wrong_use() -> None:
    with pytest.raises(UsageError, match="expected evidence as VARIABLE=VALUE, found 'fever'"):
        parse_evidence_items(["fever"], NAMED)


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ("fevr=yes", "no variable is called 'fevr'; did you mean 'fever'?"),
        ("fever=maybe", "variable 'fever' has no value 'maybe'; its values are no, yes"),
        ("7=1", r"variable indices are 0\.\.2; found 7"),
        ("=1", "no variable is called ''"),
    ],
)
def test_an_unknown_variable_or_value_is_named(item: str, problem: str) -> None:
    with pytest.raises(EvidenceError, match=problem):
        parse_evidence_items([item], NAMED)
