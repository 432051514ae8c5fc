"""The tree of maxima against a plain list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beacon.engine.max_tree import LOWEST, level_starts
from beacon.rng import stream
from tests.kernels import build_tree, collect_top, pick_top, set_leaf, tree_top

SIZES = [1, 2, 7, 8, 9, 64, 65, 513]
DTYPES = [np.float32, np.float64]
FEW_VALUES = st.sampled_from([-1e9, -2.5, -1.0, 0.0, 0.5, 3.0])  # exact in single precision, often tied
VALUES = st.one_of(FEW_VALUES, st.floats(-1e6, 1e6, width=32))

Tree = tuple[NDArray[Any], NDArray[np.int32]]


def new_tree(leaves: list[float], dtype: type) -> Tree:
    starts = level_starts(len(leaves))
    tree = np.full(starts[-1], LOWEST, dtype=dtype)
    tree[: len(leaves)] = leaves
    build_tree(tree, starts)
    return tree, starts


def change(tree: Tree, leaf: int, value: float) -> None:
    set_leaf(*tree, leaf, tree[0].dtype.type(value))


def ties(tree: Tree, room: int) -> list[int]:
    leaves = np.full(room, -1, dtype=np.int32)
    count = collect_top(*tree, leaves)
    return [int(leaf) for leaf in leaves[:count]]


def leaves_with_ties(size: int, tied: set[int]) -> list[float]:
    return [5.0 if leaf in tied else -float(leaf % 7) for leaf in range(size)]


@st.composite
def lists_and_changes(draw: st.DrawFn) -> tuple[list[float], list[tuple[int, float]]]:
    size = draw(st.sampled_from(SIZES))
    leaves = draw(st.lists(FEW_VALUES, min_size=size, max_size=size)) if size < 70 else [0.0] * size
    changes = st.tuples(st.integers(0, size - 1), VALUES)
    return leaves, draw(st.lists(changes, max_size=40))


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=40, deadline=None)
@given(case=lists_and_changes())
def test_the_top_is_the_maximum_of_the_leaves_after_every_change(
    dtype: type, case: tuple[list[float], list[tuple[int, float]]]
) -> None:
    leaves, changes = case
    tree = new_tree(leaves, dtype)
    assert tree_top(*tree) == max(leaves)
    for leaf, value in changes:
        leaves[leaf] = value
        change(tree, leaf, value)
        assert tree_top(*tree) == max(leaves)


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=25, deadline=None)
@given(case=lists_and_changes(), seed=st.integers(0, 2**32))
def test_picked_and_collected_leaves_are_the_largest(
    dtype: type, case: tuple[list[float], list[tuple[int, float]]], seed: int
) -> None:
    leaves, changes = case
    tree = new_tree(leaves, dtype)
    for leaf, value in changes:
        leaves[leaf] = value
        change(tree, leaf, value)
    top = max(leaves)
    assert ties(tree, len(leaves)) == [leaf for leaf, value in enumerate(leaves) if value == top]
    rng = stream(seed, {})
    for slack in (0.0, 0.6):
        picked = pick_top(*tree, slack, rng)
        assert leaves[picked] >= top - slack


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tree_rebuilt_from_its_leaves_is_the_tree_that_changes_made(size: int, dtype: type) -> None:
    rng = np.random.default_rng(size)
    tree = new_tree([0.0] * size, dtype)
    for _ in range(5 * size):
        change(tree, int(rng.integers(size)), float(rng.integers(-9, 9)))
    assert tree[0].tolist() == new_tree(tree[0][:size].tolist(), dtype)[0].tolist()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_tied_leaf_is_picked_sometimes_and_no_other(size: int, dtype: type) -> None:
    tied = {0, size // 3, size // 2, size - 2, size - 1} & set(range(size))
    tree, rng = new_tree(leaves_with_ties(size, tied), dtype), stream(size, {})
    assert {pick_top(*tree, 0.0, rng) for _ in range(400)} == tied


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_ties_are_collected_even_if_every_leaf_is_tied(size: int, dtype: type) -> None:
    assert ties(new_tree([1.5] * size, dtype), size) == list(range(size))
    assert ties(new_tree(leaves_with_ties(size, {size - 1}), dtype), size) == [size - 1]


def test_leaves_within_the_slack_count_as_tied() -> None:
    leaves = [0.0] * 20
    leaves[3], leaves[4], leaves[17] = 1.0, 1.0 - 1e-12, 1.0 - 1e-6
    tree, rng = new_tree(leaves, np.float64), stream(0, {})
    assert {pick_top(*tree, 1e-9, rng) for _ in range(200)} == {3, 4}
    assert {pick_top(*tree, 1e-5, rng) for _ in range(200)} == {3, 4, 17}


def test_padding_lies_below_every_gain_in_single_and_double_precision() -> None:
    for dtype in DTYPES:
        tree = new_tree([-1e29, -2e29], dtype)
        assert np.isfinite(tree[0]).all()
        assert pick_top(*tree, 0.0, stream(0, {})) == 0


@pytest.mark.parametrize(
    ("num_leaves", "starts"), [(0, [0, 1]), (1, [0, 1]), (2, [0, 8, 9]), (8, [0, 8, 9]), (9, [0, 16, 24, 25])]
)
def test_each_level_is_padded_to_whole_groups_of_eight(num_leaves: int, starts: list[int]) -> None:
    assert level_starts(num_leaves).tolist() == starts
