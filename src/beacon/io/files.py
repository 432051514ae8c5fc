"""Files: read whole with clear errors, compressed or not, written whole or not at all; JSON and TOML.

Reading a file has a budget of memory: what its content will take is estimated before it is read.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import math
import os
import platform
import secrets
import shutil
import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from io import BufferedIOBase
from pathlib import Path
from typing import Any, NamedTuple

from beacon.errors import BeaconError, FormatError, UsageError

TABLES = (".csv", ".tsv", ".parquet")  # how names of tables end
TEMPORARY = "beacon-"  # how the names of files begin, after a dot, that are not complete
PART_BYTES = 1 << 18
_OWNER = f"{zlib.crc32(platform.node().encode()):08x}"  # the machine, since process numbers are its own
TOO_DEEP = "brackets are nested too deeply"
VARIABLE = "BEACON_MEMORY"
DEFAULT_GIGABYTES = 1.0
WORD_BYTES = 128  # a word in the text, as an object, in lists, as a number and in its table
NUMBER_BYTES = 24  # a word of a file that is read part by part into arrays: a number, its place, a copy
LISTED_BYTES = 12  # the same of a table: an entry, and the marks of checks
MARK_BYTES = 40  # a bracket, comma or quote, which may be a token or end an empty cell
TEXT_COPIES = 3  # as bytes, as text, and while it is joined or its line ends are changed
WIDE_COPIES = 12  # the same where one odd character may make four bytes of each
_MARKS = b'[]{}();,:|"='
_KINDS = bytes(
    ord(" ") if chr(byte).isspace() else ord(",") if byte in _MARKS else ord("w") for byte in range(128)
) + bytes([ord("w")] * 128)


class _Compression(NamedTuple):
    magic: bytes
    open: Callable[..., BufferedIOBase]
    compress: Callable[[bytes], bytes]


COMPRESSIONS = {
    ".gz": _Compression(
        b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file), partial(gzip.compress, mtime=0)
    ),
    ".xz": _Compression(b"\xfd7zXZ\x00", lzma.LZMAFile, lzma.compress),
    ".bz2": _Compression(b"BZh", bz2.BZ2File, bz2.compress),
}


def base_suffix(path: str | os.PathLike[str]) -> str:
    """The lower-case suffix that tells the format, below a compression suffix: .uai of a.uai.xz."""
    name = Path(path)
    if name.suffix.lower() in COMPRESSIONS:
        name = name.with_suffix("")
    return name.suffix.lower()


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a text file, plain or compressed (told by content); every line ends in a newline alone."""
    budget, chunks = Budget(), []
    for chunk in _chunks(os.fspath(path)):
        if problem := budget.problem_with_text(chunk):
            raise FormatError(os.fspath(path), "", problem)
        chunks.append(chunk)
    return unix_lines(_decoded(b"".join(chunks), os.fspath(path), 1))


class TextFile:
    """A text file that is read part by part, plain or compressed; parts end between words.

    It may be read several times, even where the file itself cannot: what comes through a pipe is kept.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._kept = None if os.path.isfile(self._path) else list(self._read())

    def __iter__(self) -> Iterator[bytes]:
        """Each part."""
        return self._read() if self._kept is None else iter(self._kept)

    def _read(self) -> Iterator[bytes]:
        line = 1
        for part in parts_of(_chunks(self._path)):
            whole = part.removeprefix(codecs.BOM_UTF8) if line == 1 else part
            if not whole.isascii():
                _decoded(whole, self._path, line)
            yield whole
            line += whole.count(b"\n")


def parts_of(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same text cut after white space; never between the two characters of a line's end."""
    pending: list[bytes] = []
    for chunk in chunks:
        end = max(chunk.rfind(blank) for blank in (b" ", b"\n", b"\t")) + 1
        if end:
            yield b"".join([*pending, chunk[:end]])
            pending = []
        pending.append(chunk[end:])
    if last := b"".join(pending):
        yield last


def unix_lines(text: str) -> str:
    """The text with a newline alone at the end of every line."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, compressed if its suffix says so; on failure the old file stays as it was."""
    compression = COMPRESSIONS.get(Path(path).suffix.lower())
    try:
        data = text.encode()
    except ValueError as error:  # a lone half of a surrogate pair
        raise BeaconError(f"cannot write {os.fspath(path)!r}: {error}") from None
    write_bytes(path, compression.compress(data) if compression else data)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file to a temporary name and rename it: no one ever reads half of it."""
    place = os.fspath(path)
    try:
        _write_bytes(place, data)
    except OSError as error:
        raise BeaconError(f"cannot write {place}: {reason(error)}") from None
    except ValueError as error:
        raise BeaconError(f"cannot write {place!r}: {error}") from None


def make_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, made if it is not there."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise BeaconError(f"cannot write {folder}: it is a file, and a folder is needed")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BeaconError(f"cannot write {folder}: {reason(error)}") from None
    return folder


def check_named(path: str) -> None:
    """Refuse an empty path, as from an unset variable of the shell: it would mean the working directory."""
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
    check_parent(path, place if place.exists() else place.parent)


def check_parent(path: str, written: Path) -> None:
    """Raise if there is no folder to write to, or no permission."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise BeaconError(f"cannot write {path}: there is no directory {folder}")
    if not os.access(written, os.W_OK):
        raise BeaconError(f"cannot write {path}: permission denied")


def reason(error: OSError) -> str:
    """What the system says, in lower case."""
    return (error.strerror or str(error)).lower()


def _chunks(path: str) -> Iterator[bytes]:
    """The text of a file, bit by bit; give up as soon as it cannot be one."""
    is_empty = True
    try:
        with open(path, "rb") as file:
            start = file.peek(8)
            compression = next((c for c in COMPRESSIONS.values() if start.startswith(c.magic)), None)
            for chunk in _decompressed(file, path, compression) if compression else _cut(file):
                if b"\0" in chunk:
                    raise FormatError(path, "", "expected a text file, found binary data")
                is_empty = False
                yield chunk
    except OSError as error:
        packed = [f"; did you mean {path}{end}?" for end in COMPRESSIONS if os.path.exists(path + end)]
        raise BeaconError(f"cannot read {path}: {reason(error)}{''.join(packed[:1])}") from None
    except ValueError as error:  # a null character in the name
        raise BeaconError(f"cannot read {path!r}: {error}") from None
    if is_empty:
        raise FormatError(path, "", "the file is empty")


def _decompressed(file: BufferedIOBase, path: str, compression: _Compression) -> Iterator[bytes]:
    try:
        with compression.open(file) as text_file:
            yield from _cut(text_file)
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise FormatError(path, "", f"the compressed file is damaged or cut off ({error})") from None
    except MemoryError:
        raise FormatError(path, "", "there is not enough memory to decompress it") from None


def _cut(file: BufferedIOBase) -> Iterator[bytes]:
    return iter(partial(file.read, PART_BYTES), b"")


def _decoded(data: bytes, path: str, first_line: int) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + first_line
        raise FormatError(
            path, f"line {line}", f"expected UTF-8 text, found the byte 0x{data[error.start]:02x}"
        ) from None


def _write_bytes(path: str, data: bytes) -> None:
    if os.path.exists(path) and not os.path.isfile(path):
        Path(path).write_bytes(data)  # a pipe or a device, such as /dev/stdout, cannot be replaced
        return
    target = os.path.realpath(path)  # a link keeps pointing to its file
    temporary = new_temporary(Path(target).parent)
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def new_temporary(folder: Path) -> Path:
    """A name for what is not complete; what dead processes have left there is removed first."""
    _sweep(folder)
    return folder / f".{TEMPORARY}{_OWNER}-{os.getpid()}-{secrets.token_hex(8)}.tmp"


@cache
def _sweep(folder: Path) -> None:
    """Remove unfinished files of dead processes of this machine, once."""
    for path in folder.glob(f".{TEMPORARY}{_OWNER}-*.tmp"):
        process = path.name.split("-")[2]
        if process.isdigit() and not _is_alive(int(process)):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # of somebody else
    return True


def parse_json(text: str | bytes, *, finite: bool = True) -> Any:
    """The value of a JSON text; ``finite`` refuses nan, infinities and numbers that overflow."""
    number = _finite if finite else float
    try:
        return json.loads(text, parse_float=number, parse_constant=number)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def parse_toml(text: str) -> dict[str, Any]:
    """The content of a TOML text."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def read_parsed(path: str | os.PathLike[str], parse: Callable[[str], Any], wanted: str) -> Any:
    """The content of a text file, by :func:`parse_json` or :func:`parse_toml`."""
    try:
        return parse(read_text(path))
    except ValueError as error:
        raise FormatError(path, "", f"expected {wanted}: {error}") from None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"expected finite numbers, found {text}")
    return number


def budget_bytes() -> int:
    """What reading one file may take; the environment can set it."""
    text = os.environ.get(VARIABLE, "").strip()
    try:
        gigabytes = float(text) if text else DEFAULT_GIGABYTES
    except ValueError:
        gigabytes = math.nan
    if not 0 < gigabytes < math.inf:
        raise UsageError(f"the environment variable {VARIABLE} must be a number of GiB; found {text!r}")
    return int(gigabytes * 2**30)


class Budget:
    """Adds up what one file takes."""

    def __init__(self, taken: int = 0) -> None:
        self.most, self.taken = budget_bytes(), taken
        self._is_in_word = False

    def problem(self, num_bytes: float) -> str | None:
        """Take this many bytes more; what is wrong with that, if anything."""
        self.taken += int(min(num_bytes, 2**62))
        if self.taken <= self.most:
            return None
        found = f"found {self.taken / 2**30:,.1f}" if self.taken < 2**50 else "found far more"
        return (
            f"expected what fits into {self.most / 2**30:g} GiB of memory, {found}; "
            f"if it is not a mistake, set {VARIABLE} to more GiB"
        )

    def problem_with_text(self, part: bytes) -> str | None:
        """The same for one more part of a text, by what its length, words and marks will need."""
        kinds = part.translate(_KINDS)
        words = kinds.replace(b",", b" ").count(b" w") + (kinds[:1] == b"w" and not self._is_in_word)
        self._is_in_word = kinds[-1:] == b"w"
        copies = TEXT_COPIES if part.isascii() else WIDE_COPIES
        return self.problem(copies * len(part) + WORD_BYTES * words + MARK_BYTES * kinds.count(b","))
