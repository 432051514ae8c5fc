"""Ways to damage a file, each drawn from one generator, so that a seed names a damaged file."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Callable

import numpy as np

Random = np.random.Generator
Damage = Callable[[bytes, Random], bytes]

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
WORD = re.compile(rb"[^\s]+")
ODD_NUMBERS = (
    *(b"-1", b"0", b"1", b"00", b"-0", b"1.5", b"nan", b"inf", b"-inf", b"1e999", b"1e-999", b"0x10", b"1_0"),
    *(b"", b"999", b"65536", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"1" * 40),
    *(b"1" * 5000, "\u0661".encode(), "²".encode(), b"--1", b"1e5", b"2147483648"),
)
ODD_BYTES = (b"\0", b"\xff", b"\x1b[31m", "\u2028".encode(), b"\xef\xbb\xbf", b"{", b"}", b'"', b"(", b"/*")
SIGNS = (b"#", b"//", b";", b",", b":", b"|", b"[", b"]", b"\r", b"\n\n", b"\t", b"=", b"'", b"\\")


def cut(data: bytes, rng: Random) -> bytes:
    """The file ends too early."""
    return data[: int(rng.integers(0, len(data) + 1))]


def flip_bits(data: bytes, rng: Random) -> bytes:
    """Some bits are wrong."""
    damaged = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        place = int(rng.integers(0, max(1, len(damaged))))
        damaged[place : place + 1] = bytes(
            byte ^ (1 << int(rng.integers(8))) for byte in damaged[place : place + 1]
        )
    return bytes(damaged)


def odd_number(data: bytes, rng: Random) -> bytes:
    """One number, or several, are not what they should be."""
    for _ in range(int(rng.integers(1, 4))):
        data = _replace(data, NUMBER, ODD_NUMBERS[int(rng.integers(len(ODD_NUMBERS)))], rng)
    return data


def odd_bytes(data: bytes, rng: Random) -> bytes:
    """Something stands where it does not belong."""
    choices = ODD_BYTES + SIGNS
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(0, len(data) + 1))
        data = data[:place] + choices[int(rng.integers(len(choices)))] + data[place:]
    return data


def swapped_word(data: bytes, rng: Random) -> bytes:
    """A word stands in another's place."""
    words = WORD.findall(data) or [b"x"]
    return _replace(data, WORD, words[int(rng.integers(len(words)))], rng)


def lost_piece(data: bytes, rng: Random) -> bytes:
    """A piece is missing."""
    first, last = sorted(rng.integers(0, len(data) + 1, size=2).tolist())
    return data[:first] + data[last:]


def repeated_piece(data: bytes, rng: Random) -> bytes:
    """A piece is there several times."""
    first, last = sorted(rng.integers(0, len(data) + 1, size=2).tolist())
    return data[:last] + data[first:last] * int(rng.integers(1, 5)) + data[last:]


def random_bytes(data: bytes, rng: Random) -> bytes:
    """Something else altogether."""
    return rng.bytes(int(rng.integers(0, 200)))


def empty(data: bytes, rng: Random) -> bytes:
    """Nothing, or as good as nothing."""
    return (b"", b"\n", b" \n \n", b"\xef\xbb\xbf")[int(rng.integers(4))]


def other_encoding(data: bytes, rng: Random) -> bytes:
    """The text in an encoding that is not expected."""
    encoding = ("utf-16", "utf-32", "latin-1", "utf-8-sig", "cp037")[int(rng.integers(5))]
    return (data.decode("latin-1") + "é").encode(encoding)


def damaged_archive(data: bytes, rng: Random) -> bytes:
    """A compressed file that was cut off, changed, or compressed twice."""
    compress = (gzip.compress, lzma.compress, bz2.compress)[int(rng.integers(3))]
    packed = compress(data)
    return (cut, flip_bits, lambda data, _: compress(data))[int(rng.integers(3))](packed, rng)


def deep_nesting(data: bytes, rng: Random) -> bytes:
    """Brackets within brackets."""
    opening = (b"{", b"[", b"(", b'{"a":', b"/*")[int(rng.integers(5))]
    place = int(rng.integers(0, len(data) + 1))
    return data[:place] + opening * 20_000 + data[place:]


DAMAGES: tuple[Damage, ...] = (
    cut,
    flip_bits,
    odd_number,
    odd_number,  # where most can go wrong
    odd_number,
    odd_bytes,
    swapped_word,
    lost_piece,
    repeated_piece,
    random_bytes,
    empty,
    other_encoding,
    damaged_archive,
    deep_nesting,
)


def damaged(data: bytes, rng: Random) -> bytes:
    """The data with one damage or two."""
    for _ in range(int(rng.integers(1, 3))):
        data = DAMAGES[int(rng.integers(len(DAMAGES)))](data, rng)
    return data


def _replace(data: bytes, pattern: re.Pattern[bytes], new: bytes, rng: Random) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data + new
    chosen = found[int(rng.integers(len(found)))]
    return data[: chosen.start()] + new + data[chosen.end() :]
