"""Digests of factors, which a model's fingerprint is made of."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from beacon.model.factors import Factor, Factors

DIGEST_BYTES = 16
MANY = 20_000  # factors: from here on a kernel is worth loading
_BLOCK = 1 << 16  # factors of one kind at a time
_ONE_BLOCK = 128  # bytes that the kernel takes


def digests_of(factors: Factors) -> NDArray[np.bytes_]:
    """[factors] a digest of each, whatever the order of its scope; tables count in single precision."""
    tables = factors.log_table.astype("<f4") + np.float32(0)  # -0 and 0 are the same
    found = np.empty(len(factors), dtype=f"S{DIGEST_BYTES}")
    is_turned = factors.are_turned
    is_left = ~is_turned
    if len(factors) >= MANY:
        _fill_kinds(factors, tables, is_left, found)
    scopes, entries = factors.variables.astype("<i8").view(np.uint8).data, tables.view(np.uint8).data
    left = np.flatnonzero(is_left)
    begins, ends = factors.scope_starts[left], factors.scope_starts[left + 1]
    firsts, sizes = factors.bases[left], factors.table_starts[left + 1] - factors.table_starts[left]
    bounds = (8 * begins, 8 * ends, 4 * firsts, 4 * (firsts + sizes))
    for k, a, b, c, d in zip(left.tolist(), *(bound.tolist() for bound in bounds), strict=True):
        found[k] = hashlib.blake2b(bytes(scopes[a:b]) + entries[c:d], digest_size=DIGEST_BYTES).digest()
    for k in np.flatnonzero(is_turned).tolist():
        found[k] = _turned_digest(factors[k])
    return found


def _fill_kinds(
    factors: Factors, tables: NDArray[np.float32], is_left: NDArray[np.bool_], found: NDArray[np.bytes_]
) -> None:
    """The digests of small factors, those of the same size together."""
    from beacon.model.blake2b import digests  # noqa: PLC0415  (numba is slow to import)

    arities, sizes = factors.arities, np.diff(factors.table_starts)
    is_small = is_left & (arities > 0) & (8 * arities + 4 * sizes <= _ONE_BLOCK)
    kinds = arities * _ONE_BLOCK + np.minimum(sizes, _ONE_BLOCK - 1)
    for kind in np.unique(kinds[is_small]).tolist():
        places, entries = np.arange(kind // _ONE_BLOCK), np.arange(kind % _ONE_BLOCK)
        members = np.flatnonzero(is_small & (kinds == kind))
        for first in range(0, len(members), _BLOCK):
            some = members[first : first + _BLOCK]
            heads = factors.variables[factors.scope_starts[some, None] + places].astype("<i8")
            tails = tables[factors.bases[some, None] + entries]
            digest = digests(heads.view(np.uint8), tails.view(np.uint8))
            found[some] = digest.view(found.dtype)[:, 0]
        is_left[members] = False


def _turned_digest(factor: Factor) -> bytes:
    order = sorted(range(len(factor.scope)), key=factor.scope.__getitem__)
    scope = np.array([factor.scope[k] for k in order], dtype="<i8")
    table = factor.log_table.transpose(order).astype("<f4") + np.float32(0)
    return hashlib.blake2b(scope.tobytes() + table.tobytes(), digest_size=DIGEST_BYTES).digest()
