"""Work in progress: one process at a time, whole parts are kept, and nothing of others is removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from beacon.errors import BeaconError
from beacon.io.work_folder import FILE as LOCK
from beacon.io.work_folder import PartsFolder, folder_lock


def test_a_lock_left_behind_by_a_dead_process_locks_nothing(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text("1\n")
    with folder_lock(tmp_path):
        assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"
        with pytest.raises(BeaconError, match="is being worked on"), folder_lock(tmp_path):
            pass
    assert not (tmp_path / LOCK).exists()


def test_parts_are_listed_by_name_and_removed_with_what_is_half_written(tmp_path: Path) -> None:
    parts = PartsFolder(tmp_path / "parts", "rows")
    assert parts.files() == []
    for name in ("2", "1"):
        parts.new(name).write_text("done")
    assert [path.name for path in parts.files()] == ["rows-1.parquet", "rows-2.parquet"]
    (parts.folder / ".beacon-0.tmp").write_text("half")
    parts.remove()
    assert not parts.folder.exists()


def test_files_of_others_stay(tmp_path: Path) -> None:
    parts = PartsFolder(tmp_path, "rows")
    parts.new("1").write_text("done")
    (tmp_path / "thesis.txt").write_text("years of work")
    parts.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "parts").write_text("in the way")
    with pytest.raises(BeaconError, match="it is a file, and a folder is needed"):
        PartsFolder(tmp_path / "parts", "rows").new("1")
