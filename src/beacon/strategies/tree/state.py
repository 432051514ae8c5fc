"""What tree moves remember: where the search is on its course, and room for one region and one block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import CoreState
from beacon.jit import inlined
from beacon.model.flat import FlatModel

MAX_BLOCK_ENTRIES = 1 << 14
"""The largest table that may be asked for; a value's number must fit ``choices``."""
MAX_WIDTH = 14
"""Most variables beside the eliminated one in a table: each has two values or more."""
MAX_MEMBERS = 512
"""Most variables of a block."""
POOL_TABLES = 32
"""All messages of a block together have at most this many times the entries of its largest table."""
MAX_DESCENTS = 8
"""Most sweeps of the first descent; blocks can finish what it leaves."""
MAX_STAMP = 1 << 30  # half of what a stamp can hold; one move takes far fewer than the other half

COUNTERS = np.dtype(
    [
        ("stamp", np.int64),  # the last stamp used: a new one empties all sets that are kept as stamps
        ("descents", np.int64),  # sweeps of single moves that the first descent may still make
        ("threshold", np.float64),  # the least that a move of this sweep must gain
        ("left", np.float64),  # the best gain that it has left
        ("sweeps", np.int64),  # sweeps of blocks over all free variables since the last fresh start
        ("sweep_work", np.int64),  # what these sweeps have cost so far
        ("sweep_at", np.int64),  # how many variables the current sweep has passed
        ("sweep_first", np.int64),  # where it began
        ("sweep_stamp", np.int64),  # marks the variables that it has put into a block
        ("sweep_size", np.int64),  # variables of the next region: about twice those of the last block
        ("is_fresh", np.bool_),  # away from the best since a fresh start
        ("last_gain", np.int64),  # the step of the last gain or fresh start
    ],
    align=True,
)

MARK = np.dtype(
    [
        ("region", np.int32),  # stamp: is it in the region?
        ("block", np.int32),  # stamp: is it in the block?
        ("visit", np.int32),  # stamp: has the search for members reached it?
        ("held", np.int32),  # stamp: must it keep its value?
        ("swept", np.int32),  # stamp: has the current sweep put it into a block?
        ("number", np.int32),  # in the block: its number among the members
        ("saved", np.int32),  # in the region: its value before the move
    ],
    align=True,
)
"""What is known of one variable. A stamp says yes if it is the number of the current set."""

MEMBER = np.dtype(
    [
        ("variable", np.int32),
        ("width", np.int32),  # variables in its bucket
        ("size", np.int64),  # joint values of the bucket: entries of the message
        ("start", np.int64),  # where message and choices begin
        ("first_child", np.int32),  # a member that sends its message here; -1: none
        ("next_child", np.int32),  # another one that sends its message to the same member; -1: none
        ("slot", np.int32),  # its place in the bucket at hand
    ],
    align=True,
)
"""A variable of a block. Members are numbered as they join; the last to join is eliminated first."""


class BlockState(NamedTuple):
    """Room for block moves; nothing in it outlives a move.

    The *bucket* of a member holds those that elimination joins to it and that are eliminated later.
    """

    members: NDArray[np.void]
    """[members] see MEMBER."""
    buckets: NDArray[np.int32]
    """[members, MAX_WIDTH] numbers in the bucket, the last to join first."""
    passed: NDArray[np.int32]
    """[MAX_WIDTH] the set that a member hands on while another one joins."""
    merged: NDArray[np.int32]
    """[MAX_WIDTH] a bucket with what was handed on to it."""
    strides: NDArray[np.int64]
    """[MAX_WIDTH + 1] by how many entries of a source the eliminated variable and its bucket's lie apart."""
    pair_starts: NDArray[np.int64]
    """[MAX_WIDTH] where in ``pairs`` the table of the eliminated variable and one of its bucket begins."""
    pairs: NDArray[np.float64]
    """[entries] sums of the factors that join the eliminated variable to one of its bucket."""
    own: NDArray[np.float64]
    """[entries] sum of the factors that join it to none, for each of its values."""
    table: NDArray[np.float64]
    """[entries] the table at hand: the eliminated variable slowest, then its bucket in order."""
    places: NDArray[np.int32]
    """[entries] for each entry of the table the entry of a source to add."""
    messages: NDArray[np.float64]
    """By member: best score of what was eliminated, for each joint value of its bucket."""
    choices: NDArray[np.int16]
    """By member: the best value, for each joint value of its bucket."""


class TreeState(NamedTuple):
    """What tree moves remember beside the core."""

    counters: NDArray[np.void]
    """[1] scalars, see COUNTERS."""
    free: NDArray[np.int32]
    """[free variables] which they are."""
    marks: NDArray[np.void]
    """[variables] see MARK."""
    factor_stamps: NDArray[np.int32]
    """[factors] has it been counted?"""
    region: NDArray[np.int32]
    """[variables] the variables of the current region."""
    order: NDArray[np.int32]
    """[variables] those that the search for members has reached, in this order."""
    blocks: BlockState
    """Room for one block."""


def new_tree_state(model: FlatModel, core: CoreState, block_entries: int, first_region: int) -> TreeState:
    """Room for a model, with tables of at most ``block_entries`` entries."""
    n, counters = model.num_variables, np.zeros(1, dtype=COUNTERS)
    counters["sweep_size"] = first_region
    counters["descents"] = MAX_DESCENTS
    counters["threshold"] = np.inf  # the first sweep only looks
    return TreeState(
        counters=counters,
        free=np.flatnonzero(core.is_free).astype(np.int32),
        marks=np.zeros(n, dtype=MARK),
        factor_stamps=np.zeros(model.num_factors, dtype=np.int32),
        region=np.empty(n, dtype=np.int32),
        order=np.empty(n, dtype=np.int32),
        blocks=_new_block_state(n, block_entries, int(model.domain_sizes.max(initial=1))),
    )


def _new_block_state(num_variables: int, entries: int, max_domain: int) -> BlockState:
    pool = min(POOL_TABLES, num_variables) * entries
    count = min(num_variables, pool, MAX_MEMBERS)
    return BlockState(
        members=np.empty(count, dtype=MEMBER),
        buckets=np.empty((count, MAX_WIDTH), dtype=np.int32),
        passed=np.empty(MAX_WIDTH, dtype=np.int32),
        merged=np.empty(MAX_WIDTH, dtype=np.int32),
        strides=np.empty(MAX_WIDTH + 1, dtype=np.int64),
        pair_starts=np.empty(MAX_WIDTH, dtype=np.int64),
        pairs=np.empty(entries),
        own=np.empty(max(entries, max_domain)),
        table=np.empty(entries),
        places=np.empty(entries, dtype=np.int32),
        messages=np.empty(pool),
        choices=np.empty(pool, dtype=np.int16),
    )


@inlined
def next_stamp(own: TreeState) -> int:
    """A number that no stamp holds yet."""
    own.counters[0]["stamp"] += 1
    return own.counters[0]["stamp"]  # type: ignore[no-any-return]


@inlined
def renew_stamps(own: TreeState) -> None:
    """Between two moves: begin to number again before the numbers outgrow the stamps."""
    counters = own.counters[0]
    if counters["stamp"] > MAX_STAMP:
        counters["stamp"] = 1
        for variable in range(len(own.marks)):
            mark = own.marks[variable]
            mark["swept"] = 1 if mark["swept"] == counters["sweep_stamp"] else 0
            mark["region"] = 0
            mark["block"] = 0
            mark["visit"] = 0
            mark["held"] = 0
        counters["sweep_stamp"] = 1
        for factor in range(len(own.factor_stamps)):
            own.factor_stamps[factor] = 0
