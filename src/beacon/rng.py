"""Random numbers inside kernels: one xorshift stream per search, carried in an array of one word.

Shifts and exclusive-ors never overflow, so the stream is the same compiled and interpreted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel
from beacon.model.flat import Fixed

_13, _7, _17, _32 = (np.uint64(bits) for bits in (13, 7, 17, 32))
_OPEN, _CLOSE, _COMMA, _SPACE, _ZERO = (ord(character) for character in "(), 0")
_OTHER_BITS, _ROUNDS = np.uint64(0x9E3779B97F4A7C15), 8
_PAIR_ROOM = 2 * 10 + len("(, ), ")  # two numbers of 32 bits and what stands around them


def stream(seed: int, evidence: Mapping[int, int] | Fixed) -> NDArray[np.uint64]:
    """The stream of one query: it depends on the seed and the evidence, not on the place in a batch."""
    digest = hashlib.blake2b(_text(int(seed), evidence), digest_size=8).digest()
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64) | np.uint64(1)  # xorshift never leaves zero


def _text(seed: int, evidence: Mapping[int, int] | Fixed) -> bytes:
    """Seed and evidence as Python writes them."""
    if not isinstance(evidence, np.ndarray):
        return repr((seed, sorted(evidence.items()))).encode()
    text = np.empty(_PAIR_ROOM * len(evidence), dtype=np.uint8)
    length = max(0, _write_pairs(evidence, text) - len(", "))
    return b"(%d, [%b])" % (seed, text[:length].tobytes())


@inlined
def _write_number(number: int, text: NDArray[np.uint8], end: int) -> int:
    """Write the digits of a number that is not negative; return the new end of the text."""
    size, rest = 1, number // 10
    while rest > 0:
        size += 1
        rest //= 10
    for place in range(size - 1, -1, -1):
        text[end + place] = _ZERO + number % 10
        number //= 10
    return end + size


@kernel
def _write_pairs(fixed: Fixed, text: NDArray[np.uint8]) -> int:
    """Write "(variable, value), " for every variable that is fixed; return the end of the text."""
    end = 0
    for variable in range(len(fixed)):
        if fixed[variable] >= 0:
            text[end] = _OPEN
            end = _write_number(variable, text, end + 1)
            text[end] = _COMMA
            text[end + 1] = _SPACE
            end = _write_number(fixed[variable], text, end + 2)
            text[end] = _CLOSE
            text[end + 1] = _COMMA
            text[end + 2] = _SPACE
            end += 3
    return end


@inlined
def random_below(rng: NDArray[np.uint64], limit: int) -> int:
    """A uniform integer in 0 .. limit - 1."""
    word = rng[0]
    word ^= word << _13
    word ^= word >> _7
    word ^= word << _17
    rng[0] = word
    return np.int64(((word >> _32) * np.uint64(limit)) >> _32)  # type: ignore[return-value]


@inlined
def _next_word(word: np.uint64) -> np.uint64:
    word ^= word << _13
    word ^= word >> _7
    word ^= word << _17
    return word


@kernel
def seed_by_fixed(rng: NDArray[np.uint64], seed: int, fixed: Fixed) -> None:
    """Begin the stream that a seed and some fixed values have. Cost: the variables."""
    word = np.uint64(seed) ^ _OTHER_BITS
    for _ in range(_ROUNDS):  # until every bit of the seed has reached all others
        word = _next_word(word)
    for variable in range(len(fixed)):
        if fixed[variable] >= 0:
            word = _next_word(word ^ (np.uint64(variable) << _32) ^ np.uint64(fixed[variable]))
    for _ in range(_ROUNDS):
        word = _next_word(word)
    rng[0] = word | np.uint64(1)  # xorshift never leaves zero


def stream_of_fixed(seed: int, fixed: Fixed) -> NDArray[np.uint64]:
    """A stream for kernels that begin it themselves: :func:`seed_by_fixed`."""
    rng = np.empty(1, dtype=np.uint64)
    seed_by_fixed(rng, word_of(seed), fixed)
    return rng


def word_of(seed: int) -> int:
    """A seed of any size as one that kernels take."""
    return int(seed) & (2**63 - 1)
