"""Text files: compressed or not, whole or not at all, and every trouble on one line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from beacon.errors import BeaconError, FormatError
from beacon.io import files
from beacon.io.files import base_suffix, read_text, write_text

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}
TEXT = "MARKOV\n" + "\n".join(map(str, range(500)))


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("name", ["model.uai", "model.uai.gz", "model"])
def test_compression_is_told_by_content_whatever_the_name(
    tmp_path: Path, compression: str, name: str
) -> None:
    (tmp_path / name).write_bytes(COMPRESS[compression](TEXT.encode()))
    assert read_text(tmp_path / name) == TEXT


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2", ".XZ"])
def test_what_is_written_is_read_back_and_compressed_by_suffix(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model.uai{suffix}"
    write_text(path, TEXT)
    assert read_text(str(path)) == TEXT
    assert (path.stat().st_size < len(TEXT)) == bool(suffix)
    assert os.listdir(tmp_path) == [path.name]


def test_a_byte_order_mark_and_foreign_line_ends_vanish(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert read_text(tmp_path / "a") == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the file is empty"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (b"MARKOV\0", "expected a text file, found binary data"),
        (b"MARKOV\n\xe9t\xe9", "line 2: expected UTF-8 text, found the byte 0xe9"),
    ],
)
def test_a_file_without_text_is_refused(tmp_path: Path, data: bytes, problem: str) -> None:
    (tmp_path / "a.uai").write_bytes(data)
    with pytest.raises(FormatError, match=rf"a\.uai.*{problem}"):
        read_text(tmp_path / "a.uai")


@pytest.mark.parametrize("compression", [".gz", ".xz", ".bz2"])
def test_a_damaged_compressed_file_is_refused(tmp_path: Path, compression: str) -> None:
    path = tmp_path / f"a.uai{compression}"
    data = COMPRESS[compression](TEXT.encode())
    middle = len(data) // 2
    for wrong in (data[:middle], data[:-1], data[:middle] + bytes(20) + data[middle + 20 :]):
        path.write_bytes(wrong)
        with pytest.raises(FormatError, match="the compressed file is damaged or cut off"):
            read_text(path)


@pytest.mark.parametrize("compression", [".gz", ".xz", ".bz2"])
def test_a_decompression_bomb_is_refused(
    tmp_path: Path, compression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEACON_MEMORY", "0.25")
    (tmp_path / "bomb").write_bytes(COMPRESS[compression](b"1 " * (4 << 20)))
    wanted = r"expected what fits into 0\.25 GiB of memory, found 0\.\d; .* set BEACON_MEMORY to more GiB"
    with pytest.raises(FormatError, match=wanted):
        read_text(tmp_path / "bomb")


def test_memory_that_ran_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").write_bytes(COMPRESS[".gz"](b"1 2 3"))

    def fail(file: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(files, "_cut", fail)
    with pytest.raises(FormatError, match="there is not enough memory to decompress it"):
        read_text(tmp_path / "text")


def test_what_dead_processes_left_is_swept_by_the_next_write(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    files._sweep.cache_clear()
    name = files.new_temporary(tmp_path).name
    left = tmp_path / name.replace(f"-{os.getpid()}-", f"-{dead.pid}-")
    mine, other = tmp_path / name, tmp_path / ".beacon-elsewhere-1-a.tmp"
    for path in (left, mine, other):
        path.write_text("half")
    files._sweep.cache_clear()
    write_text(tmp_path / "a", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([mine.name, other.name, "a"])


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BeaconError, match=r"^cannot read .*no\.uai: no such file or directory$"):
        read_text(tmp_path / "no.uai")
    (tmp_path / "no.uai.xz").write_bytes(b"")
    with pytest.raises(BeaconError, match=r"no such file or directory; did you mean .*no\.uai\.xz\?$"):
        read_text(tmp_path / "no.uai")


def test_a_directory_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(BeaconError, match=r"cannot read .*: is a directory"):
        read_text(tmp_path)
    with pytest.raises(BeaconError, match=r"cannot write .*: is a directory"):
        write_text(tmp_path, "text")


def test_a_name_with_a_null_character_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BeaconError, match=r"cannot read .*null"):
        read_text(str(tmp_path / "a\0b"))
    with pytest.raises(BeaconError, match=r"cannot write .*null"):
        write_text(str(tmp_path / "a\0b"), "text")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.uai").write_text("MARKOV")
    (tmp_path / "a.uai").chmod(0)
    with pytest.raises(BeaconError, match=r"cannot read .*: permission denied"):
        read_text(tmp_path / "a.uai")


def test_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BeaconError, match=r"cannot write .*: no such file or directory"):
        write_text(tmp_path / "no" / "a.uai", "text")


@pytest.mark.parametrize("text", ["\ud800", "new"])
def test_a_failed_write_keeps_the_old_file_alone(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "a.uai").write_text("old")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(BeaconError, match=r"cannot write "):
        write_text(tmp_path / "a.uai", text)
    assert os.listdir(tmp_path) == ["a.uai"]
    assert (tmp_path / "a.uai").read_text() == "old"


def test_writing_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_writing_to_a_device_leaves_the_device(tmp_path: Path) -> None:
    write_text("/dev/null", "text")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a.uai", ".uai"),
        ("a.UAI.XZ", ".uai"),
        ("a.wcsp.uai.gz", ".uai"),
        ("a.xz", ""),
        ("a", ""),
        ("d.x/a", ""),
    ],
)
def test_the_format_suffix_is_below_the_compression_suffix(name: str, suffix: str) -> None:
    assert base_suffix(name) == suffix
