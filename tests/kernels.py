"""Functions that only kernels may call, made ready for a test to call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.engine import incumbent, max_tree
from beacon.engine.core import CoreState
from beacon.guided import kernel as guided
from beacon.guided.state import GuideState
from beacon.jit import kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree import block, elimination, state
from beacon.strategies.tree.state import TreeState


@kernel
def draw(rng: NDArray[np.uint64], limit: int) -> int:
    return random_below(rng, limit)


@kernel
def build_tree(tree: NDArray[Any], starts: NDArray[np.int32]) -> None:
    max_tree.build_tree(tree, starts)


@kernel
def set_leaf(tree: NDArray[Any], starts: NDArray[np.int32], leaf: int, new: Any) -> None:
    max_tree.set_leaf(tree, starts, leaf, new)


@kernel
def tree_top(tree: NDArray[Any], starts: NDArray[np.int32]) -> Any:
    return max_tree.tree_top(tree, starts)


@kernel
def pick_top(tree: NDArray[Any], starts: NDArray[np.int32], slack: float, rng: NDArray[np.uint64]) -> int:
    return max_tree.pick_top(tree, starts, slack, rng)


@kernel
def collect_top(tree: NDArray[Any], starts: NDArray[np.int32], leaves: NDArray[np.int32]) -> int:
    return max_tree.collect_top(tree, starts, leaves)


@kernel
def harvest_clusters(model: FlatModel, core: CoreState, members: NDArray[np.int32]) -> int:
    return incumbent.harvest_clusters(model, core, members)


@kernel
def next_stamp(own: TreeState) -> int:
    return state.next_stamp(own)


@kernel
def grow_block(
    model: FlatModel, core: CoreState, own: TreeState, entries: int, length: int, held: int
) -> int:
    return block.grow_block(model, core, own, entries, length, held)


@kernel
def best_on_block(model: FlatModel, core: CoreState, own: TreeState, hard_zero: float, count: int) -> Any:
    return elimination.best_on_block(model, core, own, hard_zero, count)


@kernel
def draw_from_scores(model: FlatModel, core: CoreState, guide: GuideState) -> None:
    guided._draw_from_scores(model, core, guide)
