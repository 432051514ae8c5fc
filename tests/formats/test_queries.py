"""Queries of several files and tables together."""

from __future__ import annotations

from pathlib import Path

import pytest

from beacon.errors import FormatError
from beacon.formats.queries import read_queries
from beacon.model.graphical_model import GraphicalModel

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
