"""A folder of work in progress: one process at a time, and finished parts that survive a kill."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from beacon.errors import BeaconError
from beacon.io.files import TEMPORARY, make_folder, reason

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


class PartsFolder:
    """Files ``NAME-*.parquet`` in a folder; files of other names there are left alone."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self._name = folder, name

    def path(self, part: str) -> Path:
        """Where a part is."""
        return self.folder / f"{self._name}-{part}.parquet"

    def new(self, part: str) -> Path:
        """Where a part is to be written; the folder is there then."""
        make_folder(self.folder)
        return self.path(part)

    def files(self) -> list[Path]:
        """All parts, by name."""
        return sorted(self.folder.glob(f"{self._name}-*.parquet"))

    def remove(self) -> None:
        """Remove all parts and half-written files, and the folder if nothing else is in it."""
        half_written = [
            path for name in (self._name, TEMPORARY) for path in self.folder.glob(f".{name}*.tmp")
        ]
        for path in (*self.files(), *half_written):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()
