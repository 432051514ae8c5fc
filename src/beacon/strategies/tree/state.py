"""Room for tree moves: regions, forests and the messages on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined
from beacon.model.flat import FlatModel
from beacon.strategies.tree.block_state import BlockState, new_block_state

MAX_JOINT = 256  # largest table over a factor's forest variables; a factor beyond it blocks its variables


MAX_STAMP = 1 << 30  # half of what a stamp array can hold; one move takes far fewer than the other half


class TreeState(NamedTuple):
    """Scratch of tree moves. A stamp array marks members by holding the number of the current move.

    Empty arrays where the strategy makes no tree moves.
    """

    stamp: NDArray[np.int64]
    """[1] the number of the current sweep, ball or probe: a new one empties all stamp arrays at once."""
    region: NDArray[np.int32]
    """[variables] the variables of the current region."""
    saved: NDArray[np.int32]
    """[variables] their values before the region was perturbed."""
    region_stamps: NDArray[np.int32]
    """[variables] is it in the region?"""
    forest_stamps: NDArray[np.int32]
    """[variables] is it in the forest?"""
    visit_stamps: NDArray[np.int32]
    """[variables] has the ordering reached it?"""
    factor_stamps: NDArray[np.int32]
    """[factors] has it been counted?"""
    parallel_stamps: NDArray[np.int32]
    """[factors] does another factor join the same two forest variables?"""
    roots: NDArray[np.int32]
    """[variables] union-find: towards the representative of the variable's tree."""
    root_stamps: NDArray[np.int32]
    """[variables] has the variable being probed met this tree?"""
    met_at: NDArray[np.int32]
    """[variables] by tree: the one variable it was met at; -1 if at several."""
    joined_by: NDArray[np.int32]
    """[variables] the factor that joined this variable to the last one added."""
    order: NDArray[np.int32]
    """[variables] the forest's variables, parents before children."""
    parents: NDArray[np.int32]
    """[variables] the parent in its tree; -1 for a root."""
    parent_factors: NDArray[np.int32]
    """[variables] the factor through which the parent is reached."""
    leads: NDArray[np.bool_]
    """[variables] is it the first child of its parent factor? That child stands for all of them."""
    beliefs: NDArray[np.float64]
    """[moves] best score of the subtree below a variable for each of its values."""
    choices: NDArray[np.int32]
    """By first child and value of its parent: the best value, or the best entry of a factor with several
    children."""
    choice_starts: NDArray[np.int32]
    """[variables] where a first child's choices begin."""
    num_choices: NDArray[np.int32]
    """[1] how much of ``choices`` the forest uses."""
    joint: NDArray[np.float64]
    """[MAX_JOINT] sum of the factors that join a variable to its parent."""
    digits: NDArray[np.int32]
    """[MAX_JOINT, 3] variable, stride and value of a factor's forest variables, when enumerated."""
    blocks: BlockState
    """Room for blocks of bounded width."""


def new_tree_state(model: FlatModel, used: bool, block_entries: int) -> TreeState:
    """Room for a model, or empty arrays of the same types."""
    n = model.num_variables if used else 0
    num_factors, num_moves = (model.num_factors, model.num_moves) if used else (0, 0)
    largest = int(model.domain_sizes.max(initial=1)) if used else 1

    return TreeState(
        stamp=np.zeros(1, dtype=np.int64),
        region=np.zeros(n, dtype=np.int32),
        saved=np.zeros(n, dtype=np.int32),
        region_stamps=np.zeros(n, dtype=np.int32),
        forest_stamps=np.zeros(n, dtype=np.int32),
        visit_stamps=np.zeros(n, dtype=np.int32),
        factor_stamps=np.zeros(num_factors, dtype=np.int32),
        parallel_stamps=np.zeros(num_factors, dtype=np.int32),
        roots=np.zeros(n, dtype=np.int32),
        root_stamps=np.zeros(n, dtype=np.int32),
        met_at=np.zeros(n, dtype=np.int32),
        joined_by=np.zeros(n, dtype=np.int32),
        order=np.zeros(n, dtype=np.int32),
        parents=np.zeros(n, dtype=np.int32),
        parent_factors=np.zeros(n, dtype=np.int32),
        leads=np.zeros(n, dtype=np.bool_),
        beliefs=np.zeros(num_moves),
        choices=np.zeros(min(n * largest, len(model.log_table) // 2 + 1), dtype=np.int32),
        choice_starts=np.zeros(n, dtype=np.int32),
        num_choices=np.zeros(1, dtype=np.int32),
        joint=np.zeros(MAX_JOINT if used else 0),
        digits=np.zeros((MAX_JOINT if used else 0, 3), dtype=np.int32),
        blocks=new_block_state(model, block_entries if used else 0),
    )


@inlined
def next_stamp(trees: TreeState) -> int:
    """A number that no stamp array holds yet."""
    trees.stamp[0] += 1
    return trees.stamp[0]  # type: ignore[no-any-return]


@inlined
def renew_stamps(trees: TreeState) -> None:
    """Between two moves: begin to number again before the numbers outgrow the stamp arrays."""
    if trees.stamp[0] > MAX_STAMP:
        trees.stamp[0] = 0
        for variable in range(len(trees.region_stamps)):
            trees.region_stamps[variable] = 0
            trees.forest_stamps[variable] = 0
            trees.visit_stamps[variable] = 0
            trees.root_stamps[variable] = 0
        for variable in range(len(trees.blocks.held_stamps)):
            trees.blocks.held_stamps[variable] = 0
        for factor in range(len(trees.factor_stamps)):
            trees.factor_stamps[factor] = 0
            trees.parallel_stamps[factor] = 0
