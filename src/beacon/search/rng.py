"""Random numbers inside kernels: one xorshift stream per search, carried in an array of one word.

Shifts and exclusive-ors never overflow, so the stream is the same compiled and interpreted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from beacon.search.jit import inlined

_13, _7, _17, _32 = (np.uint64(bits) for bits in (13, 7, 17, 32))


def stream(seed: int, evidence: Mapping[int, int]) -> NDArray[np.uint64]:
    """The stream of one query: it depends on the seed and the evidence, not on the place in a batch."""
    text = repr((int(seed), sorted(evidence.items()))).encode()
    digest = hashlib.blake2b(text, digest_size=8).digest()
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64) | np.uint64(1)  # xorshift never leaves zero


@inlined
def random_below(rng: NDArray[np.uint64], limit: int) -> int:
    """A uniform integer in 0 .. limit - 1."""
    word = rng[0]
    word ^= word << _13
    word ^= word >> _7
    word ^= word << _17
    rng[0] = word
    return np.int64(((word >> _32) * np.uint64(limit)) >> _32)  # type: ignore[return-value]
