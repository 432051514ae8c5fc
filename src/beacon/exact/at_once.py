"""A small query answered in one compiled call, by the kernels that answer any query.

Most evidence leaves so little to decide that making arrays and calling a dozen kernels from Python takes
longer than the kernels themselves. Here the arrays are made once per model and used again for every query.
Queries that are too large, impossible or contradictory take the long way: ``know`` in
``beacon.runner.known``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.exact.order import KEPT, LARGEST, NUM_COSTS, SUMMED, order_parts
from beacon.exact.order import PLACES as PLACES_KEPT
from beacon.exact.order import Room as OrderRoom
from beacon.exact.plan import MAX_TRIES, order_room
from beacon.jit import inlined, kernel
from beacon.model.flat import Fixed, FlatModel, once_per_model
from beacon.reduce.components import find_parts
from beacon.reduce.condition import Restriction, condition_factors, new_restriction, number_free_variables
from beacon.reduce.eliminate import choose_backwards, eliminate_in_order
from beacon.reduce.propagate import Propagation, Zeros, fix_implied, new_propagation, zeros_of
from beacon.reduce.query import log_table_of
from beacon.reduce.shrink import DONE, NEEDED, STEPS, TAIL, Queue, new_queue, shrink
from beacon.reduce.tables import ENTRIES, FACTORS, PLACES, Scratch, Tables, new_scratch, new_tables
from beacon.rng import seed_by_fixed, word_of

ANSWERED, LEFT, NO_ROOM = 0, 1, 2
SUMS = 3  # in ``needs``, after FACTORS, PLACES and ENTRIES
FIRST_ROOM = 1 << 12  # entries of new tables that are there before any query asks for more
MAX_ROOM = 1 << 21  # entries; what takes more than these 16 MiB takes so long that the long way costs little
MAX_MODEL = 1 << 17  # entries; with more, the kernels take so long that the long way costs little
MAX_PART = 4096  # variables of a part; its graph takes 2 MiB
MAX_STREAK = 4  # after this many queries in a row that took the long way, most are not tried here
PROBE = 16  # then one query of this many is


class Room(NamedTuple):
    """Arrays for one query at a time, each as long as any query of the model may need."""

    propagation: Propagation
    restriction: Restriction
    tables: Tables
    """With some room for new factors, places and entries."""
    queue: Queue
    scratch: Scratch
    """With some room for a sum."""
    part_of: NDArray[np.int32]
    members: NDArray[np.int32]
    part_starts: NDArray[np.int32]
    order_room: OrderRoom
    costs: NDArray[np.float64]
    order: NDArray[np.int32]
    choices: NDArray[np.int32]
    rng: NDArray[np.uint64]
    """[1]"""
    needs: NDArray[np.int64]
    """[4] factors, places and entries in all, and entries of a sum, that a query found no room for."""


class Caps(NamedTuple):
    """What a query may cost; see :func:`beacon.exact.plan.plan`."""

    entries: float
    work: float
    order_work: float


def _new_room(model: FlatModel, factors: int, places: int, entries: int, sums: int) -> Room:
    count, moves, widest = model.num_variables, model.num_moves, zeros_of(model).max_scope

    def ints(length: int) -> NDArray[np.int32]:
        return np.empty(length, dtype=np.int32)

    possible, waiting = np.empty(moves, dtype=np.bool_), np.empty(model.num_factors, dtype=np.bool_)
    return Room(
        propagation=new_propagation(possible, waiting, widest),
        restriction=new_restriction(model, ints(count), widest),
        tables=new_tables(count, moves, factors, places, entries),
        queue=new_queue(count),
        scratch=new_scratch(count, sums),
        part_of=ints(count),
        members=ints(count),
        part_starts=ints(count + 1),
        order_room=order_room(min(count, MAX_PART), count),
        costs=np.empty((count, NUM_COSTS)),
        order=ints(count),
        choices=ints(count),
        rng=np.empty(1, dtype=np.uint64),
        needs=np.array([factors, places, entries, sums]),
    )


@inlined
def _propagate(model: FlatModel, zeros: Zeros, room: Room) -> bool:
    """Fix what the evidence implies; False if it contradicts the zeros."""
    propagation = room.propagation
    for move in range(len(propagation.possible)):
        propagation.possible[move], propagation.supported[move] = zeros.possible[move], False
    if not zeros.matter:
        return True
    for factor in range(len(propagation.waiting)):
        propagation.waiting[factor] = zeros.without[factor]
    return fix_implied(model, zeros.entries, propagation, room.restriction.fixed)


@inlined
def _first_tables(room: Room, count: int) -> Tables:
    """The tables of a query with this many free variables, empty."""
    full = room.tables
    full.unary[: full.unary_starts[count]] = 0.0
    full.first_places[:count] = -1
    full.counts[:] = 0
    full.constant[0] = 0.0
    full.scope_starts[0], full.table_starts[0] = 0, 0
    return Tables(
        full.sizes[:count],
        full.unary_starts[: count + 1],
        full.unary,
        full.first_places[:count],
        full.scope_starts,
        full.places,
        full.table_starts,
        full.table,
        full.consumers,
        full.counts,
        full.constant,
    )


@inlined
def _shrink(tables: Tables, room: Room, count: int) -> int:
    """Eliminate what is free of charge; DONE or NO_ROOM."""
    queue = room.queue
    for k in range(count):
        queue.ranks[k] = queue.waiting[k] = k
    queue.is_waiting[:count] = True
    queue.progress[:] = 0
    queue.progress[TAIL] = count
    room.scratch.slots[:count] = -1
    status = shrink(tables, room.scratch, queue)
    if status == DONE:
        return DONE
    needed = queue.progress[NEEDED]
    room.needs[FACTORS] = 2 * len(tables.consumers)
    room.needs[PLACES] = 2 * len(tables.places)
    room.needs[ENTRIES] = 2 * len(tables.table) + needed
    room.needs[SUMS] = max(2 * len(room.scratch.sums), needed)
    return NO_ROOM


@inlined
def _find_order(tables: Tables, room: Room, num_left: int, caps: Caps, seed: int) -> int:
    """Order what is left, part by part: ANSWERED if all can be eliminated, or LEFT, or NO_ROOM."""
    steps = room.queue.steps[: room.queue.progress[STEPS]]
    num_parts = find_parts(tables, steps, room.part_of, room.members, room.part_starts)
    seed_by_fixed(room.rng, seed, room.restriction.fixed)
    starts = room.part_starts[: num_parts + 1]
    order_parts(
        tables,
        room.order_room,
        room.members,
        starts,
        caps.entries,
        caps.order_work,
        MAX_TRIES,
        room.costs,
        room.order,
        room.rng,
    )
    kept, largest, summed, places = 0.0, 0.0, 0.0, 0.0
    for part in range(num_parts):
        kept += room.costs[part, KEPT]
        places += room.costs[part, PLACES_KEPT]
        summed += room.costs[part, SUMMED]
        largest = max(largest, room.costs[part, LARGEST])
    if not (kept + largest <= min(caps.entries, MAX_ROOM) and summed <= caps.work):
        return LEFT
    needs = room.needs
    needs[FACTORS] = tables.counts[FACTORS] + num_left
    needs[PLACES] = tables.counts[PLACES] + np.int64(places)
    needs[ENTRIES] = tables.counts[ENTRIES] + np.int64(kept)
    needs[SUMS] = np.int64(largest)
    has_room = (
        needs[FACTORS] <= len(tables.consumers)
        and needs[PLACES] <= len(tables.places)
        and needs[ENTRIES] <= len(tables.table)
        and needs[SUMS] <= len(room.scratch.sums)
    )
    return ANSWERED if has_room else NO_ROOM


@inlined
def _eliminate(tables: Tables, room: Room, num_left: int) -> None:
    """Eliminate what is left in the order found, and add it to the steps."""
    queue = room.queue
    for k in range(num_left):
        queue.ranks[room.order[k]] = k
        queue.steps[queue.progress[STEPS] + k] = room.order[k]
    eliminate_in_order(tables, room.scratch, queue.ranks, room.order[:num_left])


@inlined
def _go_back(tables: Tables, room: Room, count: int, seed: int, assignment: NDArray[np.int64]) -> None:
    """Choose the best values."""
    restriction = room.restriction
    seed_by_fixed(room.rng, seed, restriction.fixed)
    choose_backwards(tables, room.queue.steps[:count], room.choices, room.scratch.sums, room.rng)
    number = 0
    for variable in range(len(restriction.fixed)):
        assignment[variable] = max(restriction.fixed[variable], 0)
        if restriction.fixed[variable] < 0:
            assignment[variable] = restriction.values[tables.unary_starts[number] + room.choices[number]]
            number += 1


@kernel
def answer_at_once(
    model: FlatModel,
    zeros: Zeros,
    log_table: NDArray[np.float64],
    room: Room,
    caps: Caps,
    seed: int,
    assignment: NDArray[np.int64],
    score: NDArray[np.float64],
) -> int:
    """Answer the query whose evidence is in ``room.restriction.fixed``: ANSWERED, or LEFT, or NO_ROOM.

    ``log_table`` is the model's with zeros at -inf. Cost: that of the kernels called, one after another.
    """
    if not _propagate(model, zeros, room):
        return LEFT
    restriction, possible = room.restriction, room.propagation.possible
    count = number_free_variables(model, possible, restriction, room.tables.unary_starts)
    tables = _first_tables(room, count)
    room.queue.num_factors_of[:count] = 0
    condition_factors(model, log_table, restriction, tables, room.queue.num_factors_of)
    if _shrink(tables, room, count) != DONE:
        return NO_ROOM
    num_left = count - room.queue.progress[STEPS]
    if num_left > 0 and tables.constant[0] > -np.inf:
        status = _find_order(tables, room, num_left, caps, seed)
        if status != ANSWERED:
            return status
        _eliminate(tables, room, num_left)
    if tables.constant[0] == -np.inf:
        return LEFT
    _go_back(tables, room, count, seed, assignment)
    score[0] = tables.constant[0]
    return ANSWERED


class AtOnce:
    """Answers the queries of one model, each in one call. Any number of threads may ask."""

    def __init__(self, model: FlatModel) -> None:
        self._zeros = zeros = zeros_of(model)
        self._rooms: list[Room] = []  # those not in use
        entries, factors = model.num_entries, model.num_factors + 2 * model.num_variables
        places = len(model.scopes) + 4 * model.num_variables
        sums = max(FIRST_ROOM, int(model.domain_sizes.max(initial=0)))
        self._needs = np.array([factors, places, entries + FIRST_ROOM, sums])
        self._max_needs = MAX_ROOM + entries
        is_void = not zeros.matter and bool(zeros.entries.any())  # no assignment is possible
        self._is_able = entries <= MAX_MODEL and not is_void
        self._streak = 0

    def answer(
        self, model: FlatModel, fixed: Fixed, seed: int, caps: Caps
    ) -> tuple[NDArray[np.int64], float] | None:
        """A best assignment and its score; None: this query takes the long way.

        The long way gives the same answer, assignment for assignment.
        """
        if not self._is_able or not self._is_worth_trying():
            return None
        assignment, score = np.empty(model.num_variables, dtype=np.int64), np.empty(1)
        room, log_table, status = self._room(model), log_table_of(model), NO_ROOM
        while status == NO_ROOM:
            room.restriction.fixed[:] = fixed
            status = answer_at_once(
                model, self._zeros, log_table, room, caps, word_of(seed), assignment, score
            )
            if status == NO_ROOM:
                if room.needs[ENTRIES:].max() > self._max_needs:
                    break
                self._needs = np.maximum(self._needs, room.needs)
                room = _new_room(model, *self._needs.tolist())
        self._rooms.append(room)
        self._streak = 0 if status == ANSWERED else self._streak + 1
        return (assignment, float(score[0])) if status == ANSWERED else None

    def _room(self, model: FlatModel) -> Room:
        try:
            return self._rooms.pop()
        except IndexError:  # all are in use
            return _new_room(model, *self._needs.tolist())

    def _is_worth_trying(self) -> bool:
        """After several failures in a row, only now and then."""
        if self._streak < MAX_STREAK:
            return True
        self._streak += 1
        return self._streak % PROBE == 0


@once_per_model
def at_once(model: FlatModel) -> AtOnce:
    """What answers the queries of a model."""
    return AtOnce(model)
