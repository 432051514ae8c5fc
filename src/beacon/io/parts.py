"""Work in progress: finished chunks are files in a folder beside the output, so that a kill loses little."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from beacon.errors import BeaconError, FormatError, UsageError
from beacon.learn.collector import Chunk
from beacon.learn.trajectories import Trajectories

SUFFIX = ".parts"


class Parts:
    """The folder ``OUTPUT.parts``, and what is in it of one collection."""

    def __init__(self, output: str | os.PathLike[str], fingerprint: str, settings: dict[str, Any]) -> None:
        self.output = Path(output)
        self.folder = Path(f"{os.fspath(output)}{SUFFIX}")
        self._fingerprint = fingerprint
        self._settings = settings

    def load(self, chunk: Chunk) -> Trajectories | None:
        """A chunk finished earlier; None if there is none, or none that can be read."""
        path = self._path(chunk)
        if not path.exists():
            return None
        try:
            part = Trajectories.load(path)
        except FormatError:
            return None  # it is made again
        if part.fingerprint != self._fingerprint or part.settings != self._settings:
            raise UsageError(
                f"{self.folder} holds an unfinished collection with other {self._difference(part)}; go on "
                "with that, choose another output, or remove the folder"
            )
        return part if len(part) == len(chunk.evidences) else None

    def save(self, chunk: Chunk, part: Trajectories) -> None:
        """Keep a finished chunk."""
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise BeaconError(
                f"cannot write {self.folder}: {(error.strerror or str(error)).lower()}"
            ) from None
        part.save(self._path(chunk))

    def remove(self) -> None:
        """The output is written: nothing here is needed any more. Files of others stay."""
        patterns = ("queries-*.parquet", ".queries-*.tmp", ".beacon-*.tmp")
        for path in (path for pattern in patterns for path in self.folder.glob(pattern)):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def _path(self, chunk: Chunk) -> Path:
        last = chunk.first + len(chunk.evidences) - 1
        return self.folder / f"queries-{chunk.first:06}-{last:06}.parquet"

    def _difference(self, part: Trajectories) -> str:
        """The settings that differ, with their values there."""
        if part.fingerprint != self._fingerprint:
            return "model"
        theirs, ours = part.settings, self._settings
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        return ", ".join(f"{name} ({theirs.get(name)})" for name in names)
