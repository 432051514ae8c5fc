"""Tables and smaller ones within them, against numpy's broadcasting."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from beacon.exact.subtables import (
    NUM_COLUMNS,
    Scopes,
    Subtables,
    combine,
    fill_strides,
    relate,
)
from beacon.jit import kernel


@kernel
def add(
    subtables: Subtables,
    digits: NDArray[np.int64],
    large: NDArray[np.float64],
    small: NDArray[np.float64],
    start: int,
) -> None:
    combine(subtables, 0, digits, large, 0, len(large), small, start, True)


@kernel
def raise_to(
    subtables: Subtables,
    digits: NDArray[np.int64],
    large: NDArray[np.float64],
    small: NDArray[np.float64],
    start: int,
) -> None:
    combine(subtables, 0, digits, large, 0, len(large), small, start, False)


def scopes_of(sizes: NDArray[np.int32], scope: list[int]) -> Scopes:
    variables = np.array(scope, dtype=np.int32)
    empty = np.empty(len(scope), dtype=np.int64)
    scopes = Scopes(np.array([0, len(scope)]), variables, empty, np.empty(1, dtype=np.int64))
    fill_strides(sizes, scopes)
    return scopes


def related(sizes: NDArray[np.int32], scope: list[int], part: list[int]) -> Subtables:
    large, small = scopes_of(sizes, scope), scopes_of(sizes, part)
    rows, room = np.zeros((1, NUM_COLUMNS), dtype=np.int64), np.empty((64, 2), dtype=np.int64)
    empty = Subtables(rows, np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int32))
    num_axes, num_entries = relate(sizes, large, small, empty, room, False)
    full = Subtables(rows, np.empty((num_axes, 2), dtype=np.int64), np.empty(num_entries, dtype=np.int32))
    relate(sizes, large, small, full, room, True)
    return full


@pytest.mark.parametrize("seed", range(300))
def test_sums_and_margins_are_those_of_whole_arrays(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 9))
    sizes = rng.integers(2, 5 if count < 6 else 3, count).astype(np.int32)
    scope = rng.permutation(count).tolist()
    part = [i for i in rng.permutation(count).tolist() if rng.random() < 0.6] or [scope[0]]
    large = rng.normal(size=[sizes[i] for i in scope])
    small = rng.normal(size=[sizes[i] for i in part])
    subtables, digits, room = related(sizes, scope, part), np.empty(64, dtype=np.int64), rng.normal(size=3)
    letters = "abcdefghi"
    kept = "".join(letters[i] for i in part)
    spread = np.einsum(f"{''.join(letters[i] for i in scope)},{kept}->{''.join(letters[i] for i in scope)}",
                       np.ones_like(large), small)  # fmt: skip
    summed = large.ravel().copy()
    add(subtables, digits, summed, np.concatenate([room, small.ravel()]), 3)
    assert np.allclose(summed, (large + spread).ravel())
    others = tuple(k for k, i in enumerate(scope) if i not in part)
    left = [i for i in scope if i in part]
    margins = np.transpose(large.max(axis=others), [left.index(i) for i in part])
    raised = np.concatenate([room, np.full(small.size, -np.inf)])
    raise_to(subtables, digits, large.ravel().copy(), raised, 3)
    assert np.array_equal(raised[3:], margins.ravel())
    assert np.array_equal(raised[:3], room)
