"""One process at a time in a folder of results."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from beacon.errors import BeaconError


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which the system takes back when the process ends, however it does."""
    with (folder / ".lock").open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BeaconError(
                f"another process is at work in {folder}; wait for it, or use another folder"
            ) from None
        yield
