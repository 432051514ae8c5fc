"""A tree of maxima over an array: change a leaf or find a largest one in a few cache lines.

Every inner node holds the maximum of eight children that lie side by side. A change climbs only as far
as it alters a maximum, which for most changes is nowhere; a search for the best descends log8(n) levels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined
from beacon.rng import random_below

LOWEST = -1e30  # what padding holds: below every gain and utility, finite in single precision too


def level_starts(num_leaves: int) -> NDArray[np.int32]:
    """Where each level of a tree begins in its array, leaves first, and the array's length last."""
    starts, size = [0], max(1, num_leaves)
    while True:
        padded = -(-size // 8) * 8
        starts.append(starts[-1] + (padded if size > 1 else 1))
        if size == 1:
            return np.array(starts, dtype=np.int32)
        size = padded // 8


@inlined
def _largest_of_eight(tree: NDArray[Any], base: int) -> Any:
    a = max(max(tree[base], tree[base + 1]), max(tree[base + 2], tree[base + 3]))
    b = max(max(tree[base + 4], tree[base + 5]), max(tree[base + 6], tree[base + 7]))
    return max(a, b)


@inlined
def build_tree(tree: NDArray[Any], starts: NDArray[np.int32]) -> None:
    """Fill the inner nodes from the leaves. Cost: the number of leaves."""
    for level in range(1, len(starts) - 1):
        base = starts[level - 1]
        for i in range((starts[level] - base) // 8):
            tree[starts[level] + i] = _largest_of_eight(tree, base + 8 * i)


@inlined
def set_leaf(tree: NDArray[Any], starts: NDArray[np.int32], leaf: int, new: Any) -> None:
    """Give a leaf a value. Cost: constant for most changes, log8(n) for one that moves the maximum."""
    old = tree[leaf]
    if old == new:
        return
    tree[leaf] = new
    i = leaf
    for level in range(1, len(starts) - 1):
        i >>= 3
        node = starts[level] + i
        top = tree[node]
        if new < top:
            if old < top:
                return
            new = _largest_of_eight(tree, starts[level - 1] + 8 * i)  # the maximum itself went down
        if new == top:
            return
        tree[node] = new
        old = top


@inlined
def tree_top(tree: NDArray[Any], starts: NDArray[np.int32]) -> Any:
    """The largest leaf's value."""
    return tree[starts[-2]]


@inlined
def pick_top(tree: NDArray[Any], starts: NDArray[np.int32], slack: float, rng: NDArray[np.uint64]) -> int:
    """A leaf within ``slack`` of the maximum, drawn at random.

    The draw is uniform among the tied children at each level: every tied leaf can be drawn, and those in
    sparsely tied parts of the tree somewhat more often.
    """
    lowest = tree[starts[-2]] - slack
    i = 0
    for level in range(len(starts) - 3, -1, -1):
        base = starts[level] + 8 * i
        ties, chosen = 0, 0
        for k in range(8):
            if tree[base + k] >= lowest:
                ties += 1
                if ties == 1 or random_below(rng, ties) == 0:
                    chosen = k
        i = 8 * i + chosen
    return i


@inlined
def collect_top(tree: NDArray[Any], starts: NDArray[np.int32], leaves: NDArray[np.int32]) -> int:
    """Write all leaves equal to the maximum into ``leaves`` and return their number. Cost: ties · log8(n)."""
    top = tree[starts[-2]]
    count, level, i = 0, len(starts) - 2, 0
    while True:
        if level > 0 and tree[starts[level] + i] == top:
            level -= 1  # descend to the first child
            i *= 8
            continue
        if level == 0 and tree[i] == top:
            leaves[count] = i
            count += 1
        while i & 7 == 7:  # the last child: climb
            i >>= 3
            level += 1
        if level >= len(starts) - 2:
            return count
        i += 1
