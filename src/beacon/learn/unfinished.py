"""A collection in progress: finished chunks of queries are kept beside the output until it is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from beacon.errors import FormatError, UsageError
from beacon.io.parts import PartsFolder
from beacon.learn.collector import Chunk
from beacon.learn.trajectories import Trajectories

SUFFIX = ".parts"


class Parts:
    """The folder ``OUTPUT.parts``, and what is in it of one collection."""

    def __init__(self, output: str | os.PathLike[str], fingerprint: str, settings: dict[str, Any]) -> None:
        self.output = Path(output)
        self._parts = PartsFolder(Path(f"{os.fspath(output)}{SUFFIX}"), "queries")
        self._fingerprint, self._settings = fingerprint, settings

    def load(self, chunk: Chunk) -> Trajectories | None:
        """A chunk finished earlier; None if there is none, or none that can be read."""
        path = self._parts.path(_name(chunk))
        if not path.exists():
            return None
        try:
            part = Trajectories.load(path)
        except FormatError:
            return None  # it is made again
        if part.fingerprint != self._fingerprint or part.settings != self._settings:
            raise UsageError(
                f"{self._parts.folder} holds an unfinished collection with other {self._difference(part)}; "
                "go on with that, choose another output, or remove the folder"
            )
        return part if len(part) == len(chunk.evidences) else None

    def save(self, chunk: Chunk, part: Trajectories) -> None:
        """Keep a finished chunk."""
        part.save(self._parts.new(_name(chunk)))

    def remove(self) -> None:
        """The output is written: nothing here is needed any more."""
        self._parts.remove()

    def _difference(self, part: Trajectories) -> str:
        """The settings that differ, with their values there."""
        if part.fingerprint != self._fingerprint:
            return "model"
        theirs, ours = part.settings, self._settings
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        return ", ".join(f"{name} ({theirs.get(name)})" for name in names)


def _name(chunk: Chunk) -> str:
    return f"{chunk.first:06}-{chunk.first + len(chunk.evidences) - 1:06}"
