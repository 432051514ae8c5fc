"""Work in progress: finished parts are files in a folder of their own, so that a kill loses little.

Every part is written under a temporary name and renamed, so a process that is killed leaves only whole files.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from beacon.io.files import TEMPORARY, make_folder


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
