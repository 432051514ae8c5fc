from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from beacon.errors import FormatError
from beacon.io.row_store import RowStore

SCHEMA = pa.schema([("name", pa.string()), ("number", pa.int64()), ("values", pa.list_(pa.float64()))])


def store_in(folder: Path) -> RowStore:
    return RowStore(folder, "rows", SCHEMA, ("name", "number"))


def row(name: str, number: int) -> dict[str, object]:
    return {"name": name, "number": number, "values": [0.5, float("-inf")]}


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
