"""One process at a time works in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from beacon.errors import BeaconError
from beacon.io.files import reason

FILE = ".lock"


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the folder, or raise if another process does; its number is in the file.

    The system lets go of the lock when a process dies in whatever way, so a file left behind locks nothing.
    """
    path = folder / FILE
    handle = _locked(path)
    try:
        os.truncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        path.unlink(missing_ok=True)  # before letting go: nobody else's file can be meant
        os.close(handle)


def _locked(path: Path) -> int:
    """An open file that only this process has locked, and that the path still names."""
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise BeaconError(f"cannot write {path}: {reason(error)}") from None
        if not _lock(handle):
            owner = os.read(handle, 32).decode(errors="replace").strip()
            os.close(handle)
            by = f" by process {owner}" if owner else ""
            raise BeaconError(f"{path.parent} is being worked on{by}; wait for it, or use another folder")
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        os.close(handle)  # its owner removed it just now


def _lock(handle: int) -> bool:
    try:
        import fcntl  # noqa: PLC0415  (not everywhere)
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system that knows no locks
    return True
