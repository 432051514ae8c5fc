"""BLAKE2b (RFC 7693) of many short messages at once: a call for each would take longer than the digest."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel

U64 = np.uint64
BLOCK_BYTES = 128
DIGEST_BYTES = 16
START = np.array(
    [
        0x6A09E667F3BCC908,
        0xBB67AE8584CAA73B,
        0x3C6EF372FE94F82B,
        0xA54FF53A5F1D36F1,
        0x510E527FADE682D1,
        0x9B05688C2B3E6C1F,
        0x1F83D9ABFB41BD6B,
        0x5BE0CD19137E2179,
    ],
    dtype=np.uint64,
)
ORDERS = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    dtype=np.uint64,  # numba takes a signed index for one that may count from the end
)
"""Which words of a block each round takes, in turn."""


def digests(heads: NDArray[np.uint8], tails: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """[messages, 16] a digest of each row of heads followed by its row of tails: 128 bytes at most."""
    length = heads.shape[1] + tails.shape[1]
    blocks = np.zeros((len(heads), BLOCK_BYTES), dtype=np.uint8)
    blocks[:, : heads.shape[1]], blocks[:, heads.shape[1] : length] = heads, tails
    found = np.empty((len(heads), 2), dtype=np.uint64)
    compress(blocks.view("<u8"), length, START, ORDERS, found)
    return found.astype("<u8", copy=False).view(np.uint8)


@kernel
def compress(
    blocks: NDArray[np.uint64],
    length: int,
    start: NDArray[np.uint64],
    orders: NDArray[np.uint64],
    found: NDArray[np.uint64],
) -> None:
    """Two words of the digest of each block, the only one of its message. Cost: twelve rounds each."""
    first = start[0] ^ np.uint64(0x01010000 ^ DIGEST_BYTES)
    for k in range(len(blocks)):
        a0, a1, a2, a3 = first, start[1], start[2], start[3]
        b0, b1, b2, b3 = start[4], start[5], start[6], start[7]
        c0, c1, c2, c3 = start[0], start[1], start[2], start[3]
        d0, d1, d2, d3 = start[4] ^ np.uint64(length), start[5], ~start[6], start[7]  # ~: the last block
        m = blocks[k]
        for i in range(12):
            s = orders[i]
            a0, b0, c0, d0 = _mixed(a0, b0, c0, d0, m[s[0]], m[s[1]])
            a1, b1, c1, d1 = _mixed(a1, b1, c1, d1, m[s[2]], m[s[3]])
            a2, b2, c2, d2 = _mixed(a2, b2, c2, d2, m[s[4]], m[s[5]])
            a3, b3, c3, d3 = _mixed(a3, b3, c3, d3, m[s[6]], m[s[7]])
            a0, b1, c2, d3 = _mixed(a0, b1, c2, d3, m[s[8]], m[s[9]])
            a1, b2, c3, d0 = _mixed(a1, b2, c3, d0, m[s[10]], m[s[11]])
            a2, b3, c0, d1 = _mixed(a2, b3, c0, d1, m[s[12]], m[s[13]])
            a3, b0, c1, d2 = _mixed(a3, b0, c1, d2, m[s[14]], m[s[15]])
        found[k, 0] = first ^ a0 ^ c0
        found[k, 1] = start[1] ^ a1 ^ c1


@inlined
def _mixed(a: U64, b: U64, c: U64, d: U64, x: U64, y: U64) -> tuple[U64, U64, U64, U64]:
    a = a + b + x
    d = _turned(d ^ a, 32)
    c = c + d
    b = _turned(b ^ c, 24)
    a = a + b + y
    d = _turned(d ^ a, 16)
    c = c + d
    b = _turned(b ^ c, 63)
    return a, b, c, d


@inlined
def _turned(word: U64, by: int) -> U64:
    return (word >> np.uint64(by)) | (word << np.uint64(64 - by))
