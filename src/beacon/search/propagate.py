"""What the evidence implies: values that every assignment of non-zero probability must have.

A value that some factor forbids whatever its other variables are (given what they may still be) is out;
a variable with one value left is decided. On networks with deterministic tables this settles most of a
query before the search begins.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from beacon.model.flat import FlatModel
from beacon.search.jit import inlined, kernel


def implied_values(model: FlatModel, evidence: Mapping[int, int]) -> dict[int, int]:
    """Values of unobserved variables that follow from the evidence and the zeros of the tables.

    Empty where nothing follows, and where the evidence turns out to have probability zero: then every
    assignment breaks something, and the search is to look for the fewest zeros.
    """
    zero_entries = model.log_table == model.log_zero
    if not zero_entries.any():
        return {}
    possible = np.ones(model.num_moves, dtype=np.bool_)
    for variable, value in evidence.items():
        possible[model.move_starts[variable] : model.move_starts[variable + 1]] = False
        possible[model.move_starts[variable] + value] = True
    waiting = np.add.reduceat(zero_entries, model.table_starts[:-1], dtype=np.int64) > 0
    queue = np.flatnonzero(waiting).astype(np.int32)
    room = np.zeros(model.num_factors, dtype=np.int32)
    room[: len(queue)] = queue
    supported = np.zeros(model.num_moves, dtype=np.bool_)
    if not _prune(model, zero_entries, possible, waiting, room, len(queue), supported):
        return {}
    return _decided(model, possible, evidence)


def with_implied(
    model: FlatModel, evidence: Mapping[int, int], start: NDArray[np.int64] | None
) -> dict[int, int]:
    """The evidence and what it implies; the evidence alone if a given start does otherwise.

    Such a start has probability zero, and a search that begins there must be able to return it.
    """
    implied = implied_values(model, evidence)
    if start is not None and any(start[variable] != value for variable, value in implied.items()):
        return dict(evidence)
    return {**evidence, **implied}


def _decided(model: FlatModel, possible: NDArray[np.bool_], evidence: Mapping[int, int]) -> dict[int, int]:
    counts = np.add.reduceat(possible, model.move_starts[:-1], dtype=np.int64)
    decided = np.flatnonzero((counts == 1) & (model.domain_sizes > 1))
    firsts = np.flatnonzero(possible)
    value_of = firsts[np.searchsorted(firsts, model.move_starts[decided])] - model.move_starts[decided]
    pairs = zip(decided.tolist(), value_of.tolist(), strict=True)
    return {variable: value for variable, value in pairs if variable not in evidence}


@inlined
def _mark_supported(
    model: FlatModel,
    zero_entries: NDArray[np.bool_],
    possible: NDArray[np.bool_],
    factor: int,
    supported: NDArray[np.bool_],
) -> None:
    """Mark the moves that occur in an entry of a factor which is neither zero nor ruled out."""
    start, begin, end = model.table_starts[factor], model.scope_starts[factor], model.scope_starts[factor + 1]
    for entry in range(start, model.table_starts[factor + 1]):
        allowed = not zero_entries[entry]
        for place in range(begin, end):
            variable = model.scopes[place, 0]
            value = (entry - start) // model.scopes[place, 1] % model.domain_sizes[variable]
            allowed = allowed and possible[model.move_starts[variable] + value]
        for place in range(begin, end if allowed else begin):
            variable = model.scopes[place, 0]
            value = (entry - start) // model.scopes[place, 1] % model.domain_sizes[variable]
            supported[model.move_starts[variable] + value] = True


@inlined
def _enqueue(factor: int, waiting: NDArray[np.bool_], queue: NDArray[np.int32], tail: int) -> int:
    """Put a factor at the end of the ring unless it waits there already; return the new end."""
    if not waiting[factor]:
        waiting[factor] = True
        queue[tail % len(queue)] = factor
        tail += 1
    return tail


@inlined
def _wake_factors(
    model: FlatModel, variable: int, waiting: NDArray[np.bool_], queue: NDArray[np.int32], tail: int
) -> int:
    """Queue the factors of a variable that has lost a value; return the queue's new end."""
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        tail = _enqueue(model.pairs[link, 0], waiting, queue, tail)
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        tail = _enqueue(model.wides[link, 0], waiting, queue, tail)
    return tail


@kernel
def _prune(
    model: FlatModel,
    zero_entries: NDArray[np.bool_],
    possible: NDArray[np.bool_],
    waiting: NDArray[np.bool_],
    queue: NDArray[np.int32],
    tail: int,
    supported: NDArray[np.bool_],
) -> bool:
    """Rule out unsupported values until nothing changes; False if a variable has none left.

    ``queue`` is a ring of the factors that are ``waiting``. Cost: the tables of the factors visited, each
    again whenever one of its variables lost a value.
    """
    head = 0
    while head < tail:
        factor = queue[head % len(queue)]
        head += 1
        waiting[factor] = False
        _mark_supported(model, zero_entries, possible, factor, supported)
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            variable = model.scopes[place, 0]
            lost, left = 0, 0
            for move in range(model.move_starts[variable], model.move_starts[variable + 1]):
                lost += possible[move] and not supported[move]
                left += supported[move]
                possible[move] = possible[move] and supported[move]
                supported[move] = False
            if left == 0:
                return False
            if lost > 0:
                tail = _wake_factors(model, variable, waiting, queue, tail)
    return True
