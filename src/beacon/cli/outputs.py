"""Where results go: checked before the work, so that no search is lost to a mistyped folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from beacon.errors import BeaconError, UsageError

COMPRESSED = (".gz", ".xz", ".bz2")


def check_named(path: str) -> None:
    """Refuse an empty path, such as that of a variable of the shell that is not set: it would mean here."""
    if not path:
        raise UsageError("expected a name to write to, found an empty one")


def check_no_input(path: str, inputs: Iterable[str | Path | None]) -> None:
    """Refuse to write over a file that the same command reads, however its path is spelled."""
    if not os.path.isfile(path):  # nothing there, or a device: reading from one and writing to it is no loss
        return
    for source in inputs:
        if source is not None and os.path.isfile(source) and os.path.samefile(path, source):
            raise UsageError(f"cannot write {path}: this command reads that file; choose another name")


def check_writable(path: str, inputs: Iterable[str | Path | None] = ()) -> None:
    """Raise if a file cannot be written there, as far as can be told without writing.

    ``inputs`` are the files that the command reads: they are never written over.
    """
    check_named(path)
    check_no_input(path, inputs)
    place = Path(path)
    if place.is_dir():
        raise BeaconError(f"cannot write {path}: it is a directory")
    _check_parent(path, place if place.exists() else place.parent)


def check_guide_folder(path: str) -> None:
    """Raise if a guide cannot be written there."""
    from beacon.guide.checkpoint import check_replaceable  # noqa: PLC0415

    check_named(path)
    _check_parent(path, Path(path).parent)
    check_replaceable(Path(os.path.realpath(path)))


def _check_parent(path: str, written: Path) -> None:
    folder = Path(path).parent
    if not folder.is_dir():
        raise BeaconError(f"cannot write {path}: there is no directory {folder}")
    if not os.access(written, os.W_OK):
        raise BeaconError(f"cannot write {path}: permission denied")


def solution_files(out: str | None, count: int, inputs: Iterable[str | Path | None]) -> list[Path]:
    """One file per query, checked; none if there is no ``out``."""
    files = [] if out is None else solution_paths(out, count)
    read = list(inputs)
    for file in files[:1]:  # the others are its neighbours
        check_writable(str(file))
    for file in files:
        check_no_input(str(file), read)
    return files


def solution_paths(out: str, count: int) -> list[Path]:
    """One file per query: OUT itself for one, OUT with a number for many, numbered files in a directory."""
    check_named(out)
    place = Path(out)
    if place.is_dir():
        return [place / f"{query}.MPE" for query in range(count)]
    if count == 1:
        return [place]
    return [place.with_name(_numbered(place, query)) for query in range(count)]


def _numbered(place: Path, query: int) -> str:
    """The number goes before the suffix: a.MPE -> a.0.MPE, a.MPE.gz -> a.0.MPE.gz."""
    suffix = place.suffix
    if suffix.lower() in COMPRESSED:
        suffix = Path(place.stem).suffix + suffix
    return f"{place.name.removesuffix(suffix)}.{query}{suffix}"
