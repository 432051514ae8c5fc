from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beacon.errors import FormatError
from beacon.io.row_store import RowStore

SCHEMA = pa.schema([("name", pa.string()), ("number", pa.int64()), ("values", pa.list_(pa.float64()))])


def store_in(folder: Path) -> RowStore:
    return RowStore(folder, "rows", SCHEMA, ("name", "number"))


def row(name: str, number: int) -> dict[str, object]:
    return {"name": name, "number": number, "values": [0.5, float("-inf")]}


def test_a_file_may_lack_optional_columns_and_no_others(tmp_path: Path) -> None:
    pq.write_table(
        pa.Table.from_pylist([row("a", 1)], schema=SCHEMA).drop(["values"]), tmp_path / "rows.parquet"
    )
    later = RowStore(tmp_path, "rows", SCHEMA, ("name", "number"), optional=("values",))
    assert later.rows() == [row("a", 1) | {"values": None}]
    later.add(row("b", 2))
    later.merge()
    assert later.rows() == [row("a", 1) | {"values": None}, row("b", 2)]
    with pytest.raises(FormatError, match="a cell of 'values' is empty"):
        store_in(tmp_path).rows()


def test_an_item_of_an_optional_list_may_not_be_empty(tmp_path: Path) -> None:
    damaged = [row("a", 1) | {"values": [0.5, None]}]
    pq.write_table(pa.Table.from_pylist(damaged, schema=SCHEMA), tmp_path / "rows.parquet")
    with pytest.raises(FormatError, match="a cell of 'values' is empty"):
        RowStore(tmp_path, "rows", SCHEMA, ("name", "number"), optional=("values",)).rows()


def test_rows_come_back_sorted_whatever_the_order_of_parts(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for name, number in (("b", 1), ("a", 2), ("a", 1)):
        store.add(row(name, number))
        store.flush()
    assert store.rows() == [row("a", 1), row("a", 2), row("b", 1)]
    assert store.keys() == {("a", 1), ("a", 2), ("b", 1)}


def test_merging_leaves_one_file_and_the_same_rows(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for number in range(3):
        store.add(row("a", number))
        store.flush()
    before = store.rows()
    store.merge()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["rows.parquet"]
    assert store.rows() == before
    store.add(row("a", 9))
    store.merge()
    assert len(store_in(tmp_path).rows()) == 4


def test_a_part_that_was_merged_and_not_cleared_counts_once(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.add(row("a", 1))
    store.flush()
    (part,) = (tmp_path / "parts").iterdir()
    content = part.read_bytes()
    store.merge()
    part.parent.mkdir()
    part.write_bytes(content)  # killed before the parts were cleared
    assert store.rows() == [row("a", 1)]
    store.merge()
    assert store.rows() == [row("a", 1)]


def test_what_waits_is_written_even_when_the_work_is_interrupted(tmp_path: Path) -> None:
    def work() -> None:
        with store_in(tmp_path) as store:
            store.add(row("a", 1))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert store_in(tmp_path).keys() == {("a", 1)}


def test_half_a_file_left_by_a_kill_is_not_read(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.add(row("a", 1))
    store.flush()
    (tmp_path / "parts" / ".rows-1.parquet-2.tmp").write_bytes(b"PAR1 half")
    assert store.rows() == [row("a", 1)]
    store.merge()
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


@pytest.mark.parametrize("content", [b"", b"PAR1 not really", b"x" * 100])
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rows.parquet").write_bytes(content)
    with pytest.raises(FormatError, match=r"rows\.parquet: expected results in Parquet"):
        store_in(tmp_path).rows()


def test_columns_of_another_version_are_refused(tmp_path: Path) -> None:
    other = RowStore(tmp_path, "rows", pa.schema([("name", pa.string())]), ("name",))
    other.add({"name": "a"})
    other.merge()
    with pytest.raises(FormatError, match="the columns are not those of this version; use a new folder"):
        store_in(tmp_path).rows()


def table_of(names: Any, numbers: Any) -> pa.Table:
    values = pa.ListArray.from_arrays(np.zeros(len(names) + 1, dtype=np.int32), pa.array([], pa.float64()))
    return pa.table({"name": names, "number": numbers, "values": values}, schema=SCHEMA)


def test_empty_cells_are_refused_where_there_must_be_a_value(tmp_path: Path) -> None:
    pq.write_table(table_of(["a", None], [1, 2]), tmp_path / "rows.parquet")
    with pytest.raises(FormatError, match="the results are damaged: a cell of 'name' is empty; use a new"):
        store_in(tmp_path).rows()
    allowed = RowStore(tmp_path, "rows", SCHEMA, ("number",), optional=("name",))
    assert [row["name"] for row in allowed.rows()] == ["a", None]


def test_columns_that_are_not_needed_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table_of(["a"], [1])
    huge = pa.array([[0] * 1_000_000], pa.list_(pa.int64()))
    pq.write_table(rows.append_column("extra", huge), tmp_path / "rows.parquet")
    monkeypatch.setenv("BEACON_MEMORY", "0.001")
    assert [found["name"] for found in store_in(tmp_path).rows()] == ["a"]


@pytest.mark.parametrize("kind", ["rows", "text"])
def test_a_small_file_that_would_become_large_is_refused(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, text = (3_000_000, "a") if kind == "rows" else (3000, "a" * 100_000)
    table = table_of(pa.repeat(text, count), pa.repeat(1, count))
    pq.write_table(table, tmp_path / "rows.parquet", compression="zstd")
    assert (tmp_path / "rows.parquet").stat().st_size < 50_000
    monkeypatch.setenv("BEACON_MEMORY", "0.1")
    with pytest.raises(FormatError, match=r"rows\.parquet: expected what fits into 0\.1 GiB of memory"):
        store_in(tmp_path).rows()
