"""Queries of several files and tables together."""

from __future__ import annotations

from pathlib import Path

import pytest

from beacon.errors import BeaconError, FormatError, UsageError
from beacon.model.graphical_model import GraphicalModel
from beacon.query.inputs import read_queries
from beacon.query.query_set import sample_queries

MODEL = GraphicalModel.from_tables([2, 3], [((0, 1), [0.0] * 6)])


def test_files_come_first_then_tables_with_their_keys(tmp_path: Path) -> None:
    (tmp_path / "one.evid").write_text("1 0 1\n")
    (tmp_path / "a.csv").write_text("id,x0,x1\nann,,2\nbo,1,\n")
    (tmp_path / "b.csv").write_text("x1,id\n0,cy\n")
    tables = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    assert read_queries(MODEL, [str(tmp_path / "one.evid")], []).queries == [{0: 1}]
    read = read_queries(MODEL, [], tables, ["id"])
    assert read.queries == [{1: 2}, {0: 1}, {1: 0}]
    assert read.keys == {"id": ["ann", "bo", "cy"]}


def test_a_key_that_a_table_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x0\n1\n")
    with pytest.raises(FormatError, match="id"):
        read_queries(MODEL, [], [str(tmp_path / "a.csv")], ["id"])


def test_json_is_read_as_a_file_and_as_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"x0": 1}, {"1": 2, "x0": null}]')
    (tmp_path / "one.json").write_text('{"x1": 2}')
    place = str(tmp_path / "a.json")
    assert read_queries(MODEL, [place], []).queries == [{0: 1}, {1: 2}]
    assert read_queries(MODEL, [], [place, str(tmp_path / "one.json")]).queries == [{0: 1}, {1: 2}, {1: 2}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"x0": 1}, {"x9": 1}]', r"a\.json, object 2: no variable is called 'x9'; "),
        ('{"x0": 7}', r"a\.json: variable 'x0' has no value '7'; its values are 0, 1"),
        ("[7]", r"a\.json, object 1: expected the evidence of a query as a mapping"),
        (
            "[]",
            r'a\.json: expected a list of objects, such as \[{"fever": "yes"}\], or one object; found \[\]',
        ),
        ("7", r"a\.json: expected a list of objects, .*; found 7"),
        ("[1", r"a\.json: expected queries in JSON"),
    ],
)
def test_wrong_json_is_named_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(BeaconError, match=message):
        read_queries(MODEL, [], [str(tmp_path / "a.json")])


def test_a_query_set_is_read_as_a_table(tmp_path: Path) -> None:
    queries, place = sample_queries(MODEL, 5), str(tmp_path / "q.parquet")
    queries.save(place)
    read = read_queries(MODEL, [], [place]).queries
    assert read == [queries.evidence(k) for k in range(5)]


def test_keys_are_those_of_tables(tmp_path: Path) -> None:
    sample_queries(MODEL, 5).save(tmp_path / "q.parquet")
    (tmp_path / "a.json").write_text("{}")
    for name, kind in (("q.parquet", "a query set"), ("a.json", "JSON")):
        with pytest.raises(UsageError, match=f"--key id: expected a table with .*; .*{name} is {kind}"):
            read_queries(MODEL, [], [str(tmp_path / name)], ["id"])
