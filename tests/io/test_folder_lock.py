from __future__ import annotations

import os
from pathlib import Path

import pytest

from beacon.errors import BeaconError
from beacon.io.work_folder import FILE as LOCK
from beacon.io.work_folder import folder_lock


def test_a_lock_left_behind_by_a_dead_process_locks_nothing(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text("1\n")
    with folder_lock(tmp_path):
        assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"
        with pytest.raises(BeaconError, match="is being worked on"), folder_lock(tmp_path):
            pass
    assert not (tmp_path / LOCK).exists()
