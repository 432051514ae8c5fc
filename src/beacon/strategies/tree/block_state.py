"""Room for block moves: who is in the block, what elimination joins, and the tables of one elimination."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.model.flat import FlatModel

MAX_BLOCK_ENTRIES = 1 << 14
"""The largest table that may be asked for; a value's number must fit ``choices``."""
MAX_WIDTH = 14
"""Most variables beside the eliminated one in a table: each has two values or more."""
MAX_MEMBERS = 512
"""Most variables of a block."""
POOL_TABLES = 32
"""All messages of a block together have at most so many times the entries of its largest table."""


class BlockState(NamedTuple):
    """Scratch of block moves; nothing in it outlives a move. Empty arrays where there are none.

    Members are numbered as they join; the last to join is eliminated first. The *bucket* of a member holds
    those that elimination joins to it and that are eliminated later.
    """

    numbers: NDArray[np.int32]
    """[variables] the number of a member."""
    held_stamps: NDArray[np.int32]
    """[variables] must it keep its value?"""
    members: NDArray[np.int32]
    """[members] the variable with each number."""
    buckets: NDArray[np.int32]
    """[members, MAX_WIDTH] numbers in the bucket, the last to join first."""
    widths: NDArray[np.int32]
    """[members] how many."""
    sizes: NDArray[np.int64]
    """[members] joint values of the bucket: entries of the message."""
    starts: NDArray[np.int64]
    """[members] where message and choices begin."""
    first_children: NDArray[np.int32]
    """[members] a member that sends its message here; -1: none."""
    next_children: NDArray[np.int32]
    """[members] another one that sends its message to the same member; -1: none."""
    passed: NDArray[np.int32]
    """[MAX_WIDTH] the set that a member hands on while another one joins."""
    merged: NDArray[np.int32]
    """[MAX_WIDTH] a bucket with what was handed on to it."""
    slots: NDArray[np.int32]
    """[members] the place of a number in the bucket at hand."""
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


def new_block_state(model: FlatModel, entries: int) -> BlockState:
    """Room for tables of so many entries; 0: empty arrays of the same types."""
    n = model.num_variables if entries else 0
    pool = min(POOL_TABLES, n) * entries
    count = min(n, pool, MAX_MEMBERS)
    return BlockState(
        numbers=np.zeros(n, dtype=np.int32),
        held_stamps=np.zeros(n, dtype=np.int32),
        members=np.zeros(count, dtype=np.int32),
        buckets=np.zeros((count, MAX_WIDTH), dtype=np.int32),
        widths=np.zeros(count, dtype=np.int32),
        sizes=np.zeros(count, dtype=np.int64),
        starts=np.zeros(count, dtype=np.int64),
        first_children=np.zeros(count, dtype=np.int32),
        next_children=np.zeros(count, dtype=np.int32),
        passed=np.zeros(MAX_WIDTH, dtype=np.int32),
        merged=np.zeros(MAX_WIDTH, dtype=np.int32),
        slots=np.zeros(count, dtype=np.int32),
        strides=np.zeros(MAX_WIDTH + 1, dtype=np.int64),
        pair_starts=np.zeros(MAX_WIDTH, dtype=np.int64),
        pairs=np.zeros(entries),
        own=np.zeros(entries),
        table=np.zeros(entries),
        places=np.zeros(entries, dtype=np.int32),
        messages=np.zeros(pool),
        choices=np.zeros(pool, dtype=np.int16),
    )
