"""Variables that are free to eliminate: the table that takes the place of their factors is no larger."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel
from beacon.reduce.condition import find_factor
from beacon.reduce.eliminate import clear_scope, eliminate_variable, gather_scope
from beacon.reduce.tables import ALIVE, ENTRIES, FACTOR, FACTORS, NEXT, PLACES, VARIABLE, Scratch, Tables

MAX_DEGREE = 16  # neighbours of a variable that is still looked at
MAX_OUTER = 1 << 24  # entries of a table that may take the place of others
HEAD, TAIL, STEPS, NEEDED = 0, 1, 2, 3  # of ``progress``: the queue's ends, variables out, entries asked for
DONE, NO_ROOM = 0, 1


class Queue(NamedTuple):
    """The variables of a query that wait to be looked at, and those that are eliminated."""

    num_factors_of: NDArray[np.int32]
    """[variables] living factors of each."""
    ranks: NDArray[np.int32]
    """[variables] 0 .. n - 1: the order of axes."""
    waiting: NDArray[np.int32]
    """[variables] those that wait, as a ring."""
    is_waiting: NDArray[np.bool_]
    """[variables]"""
    steps: NDArray[np.int32]
    """[variables] those that are eliminated, in this order."""
    progress: NDArray[np.int64]
    """[4]"""


def new_queue(count: int) -> Queue:
    """All variables wait."""
    ranks, progress = np.arange(count, dtype=np.int32), np.zeros(4, dtype=np.int64)
    progress[TAIL] = count
    no_factors, steps = np.zeros(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    return Queue(no_factors, ranks, ranks.copy(), np.ones(count, dtype=np.bool_), steps, progress)


@inlined
def _old_entries(tables: Tables, variable: int) -> tuple[int, int]:
    """Entries of the living factors of a variable in all, and variables of the widest one."""
    entries, widest = 0, 0
    place = tables.first_places[variable]
    while place >= 0:
        factor = tables.places[place, FACTOR]
        if tables.consumers[factor] == ALIVE:
            entries += tables.table_starts[factor + 1] - tables.table_starts[factor]
            widest = max(widest, tables.scope_starts[factor + 1] - tables.scope_starts[factor])
        place = tables.places[place, NEXT]
    return entries, widest


@inlined
def _table_size(tables: Tables, scratch: Scratch, count: int) -> int:
    """Entries of a table over the variables gathered; MAX_OUTER + 1 stands for too many."""
    outer = 1 if count <= MAX_DEGREE else MAX_OUTER + 1
    for k in range(count):
        outer = min(outer * tables.sizes[scratch.scope[k]], MAX_OUTER + 1)
    return outer


@inlined
def _is_free_of_charge(tables: Tables, variable: int, count: int, outer: int, same: int) -> bool:
    """Does the table that takes the place of a variable's factors cost no more entries and no new width?

    ``same`` is the factor that it can be added to, -1: none.
    """
    if count <= 1 or (count == 2 and same >= 0):
        return True
    entries, widest = _old_entries(tables, variable)
    if widest == count + 1:  # one factor has all the neighbours
        return True
    return count == 2 and outer <= entries


@inlined
def _count_consumed(tables: Tables, num_factors_of: NDArray[np.int32], variable: int) -> None:
    """Each neighbour has one factor less for each factor of a variable that is about to go."""
    place = tables.first_places[variable]
    while place >= 0:
        factor = tables.places[place, FACTOR]
        if tables.consumers[factor] == ALIVE:
            for other in range(tables.scope_starts[factor], tables.scope_starts[factor + 1]):
                num_factors_of[tables.places[other, VARIABLE]] -= 1
        place = tables.places[place, NEXT]


@inlined
def _has_room(tables: Tables, scratch: Scratch, count: int, outer: int, size: int) -> bool:
    counts = tables.counts
    return (
        counts[FACTORS] < len(tables.consumers)
        and counts[PLACES] + count <= len(tables.places)
        and counts[ENTRIES] + outer <= len(tables.table)
        and outer * size <= len(scratch.sums)
    )


@kernel
def shrink(tables: Tables, scratch: Scratch, queue: Queue) -> int:
    """Eliminate what is free of charge until nothing is; DONE, or NO_ROOM to be called again with more.

    Cost: for each variable looked at, the scopes of its factors; for each one eliminated, the entries of the
    sum.
    """
    num_factors_of, progress, length = queue.num_factors_of, queue.progress, len(tables.sizes)
    head, tail, num_steps = progress[HEAD], progress[TAIL], progress[STEPS]
    status = DONE
    while head < tail:
        variable = queue.waiting[head % length]
        head += 1
        queue.is_waiting[variable] = False
        count = gather_scope(tables, scratch, queue.ranks, variable, MAX_DEGREE)
        outer = _table_size(tables, scratch, count)
        same = -1
        if count > 1 and outer <= MAX_OUTER:
            same = find_factor(tables, scratch.scope, count, num_factors_of)
        if outer <= MAX_OUTER and _is_free_of_charge(tables, variable, count, outer, same):
            if not _has_room(tables, scratch, count, outer, tables.sizes[variable]):
                head -= 1
                queue.is_waiting[variable] = True
                clear_scope(scratch, count)
                progress[NEEDED] = outer * tables.sizes[variable]
                status = NO_ROOM
                break
            _count_consumed(tables, num_factors_of, variable)
            start = tables.table_starts[same] if same >= 0 else -1
            eliminate_variable(tables, scratch, variable, count, outer, start)
            if same < 0 and count > 1:
                for k in range(count):
                    num_factors_of[scratch.scope[k]] += 1
            queue.steps[num_steps] = variable
            num_steps += 1
            for k in range(count):
                other = scratch.scope[k]
                if not queue.is_waiting[other]:
                    queue.is_waiting[other] = True
                    queue.waiting[tail % length] = other
                    tail += 1
        clear_scope(scratch, count)
    progress[HEAD], progress[TAIL], progress[STEPS] = head, tail, num_steps
    return status
