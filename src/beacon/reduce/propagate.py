"""What the evidence implies: values that every assignment of non-zero probability must have.

A value that some factor forbids whatever its other variables are (given what they may still be) is out;
a variable with one value left is decided. On networks with deterministic tables this settles most of a
query before the search begins.

What follows without any evidence is found once for a model; a query then looks only at the factors that its
evidence reaches.

What is left falls into independent parts: free variables that the factors, all else fixed, do not join. Each
part has a best assignment of its own, and the best of all parts together is the best of the query; a search
that waited for all parts to be at their best at once would rarely see it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.jit import ZERO, inlined, kernel
from beacon.model.factors import of_tables
from beacon.model.flat import Fixed, FlatModel, as_fixed, once_per_model


class Zeros(NamedTuple):
    """The zeros of a model, and what follows from them alone."""

    entries: NDArray[np.bool_]
    """[entries] is it zero?"""
    without: NDArray[np.bool_]
    """[factors] has it no zeros?"""
    possible: NDArray[np.bool_]
    """[moves] what is left without any evidence."""
    max_scope: int
    """Variables of the widest factor, 1 at least."""
    matter: bool
    """Can evidence imply anything? Not without zeros, nor where every assignment has probability zero."""


class Propagation(NamedTuple):
    """The state of one propagation from factor to factor."""

    possible: NDArray[np.bool_]
    """[moves] what is left so far."""
    waiting: NDArray[np.bool_]
    """[factors] those in the queue; and those without zeros all the time, so that they never get there."""
    queue: NDArray[np.int32]
    """[factors] the factors that wait, as a ring."""
    supported: NDArray[np.bool_]
    """[moves] what the factor at hand allows; all False between two factors."""
    moves: NDArray[np.int32]
    """[widest scope] those of the entry at hand."""


def new_propagation(possible: NDArray[np.bool_], waiting: NDArray[np.bool_], max_scope: int) -> Propagation:
    """The state before any factor has been looked at."""
    queue, moves = np.empty(len(waiting), dtype=np.int32), np.empty(max_scope, dtype=np.int32)
    return Propagation(possible, waiting, queue, np.zeros(len(possible), dtype=np.bool_), moves)


def fixed_values(
    model: FlatModel, evidence: Mapping[int, int], start: NDArray[np.int64] | None, propagate: bool = True
) -> Fixed:
    """The evidence and, if it is to ``propagate``, what it implies, for each variable.

    Nothing is implied where the evidence turns out to have probability zero: then every assignment breaks
    something, and the search is to look for the fewest zeros. A given start that does otherwise has
    probability zero, and a search that begins there must be able to return it: then the evidence alone is
    fixed.
    """
    given = as_fixed(evidence, model.num_variables)
    left = possible_moves(model, given) if propagate and zeros_of(model).matter else None
    if left is None or (start is not None and contradicts(start, left[1])):
        return given
    return left[1]


def possible_moves(
    model: FlatModel, fixed: Fixed, removed: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.bool_], Fixed] | None:
    """The (variable, value) pairs that fixed values and zeros leave, and the fixed values with the implied.

    None if they leave nothing: the fixed values contradict the zeros. What is left need not be possible: a
    value is ruled out only where a single factor forbids it. ``removed`` [moves] are out from the beginning.
    """
    zeros = zeros_of(model)
    given, possible = fixed.copy(), zeros.possible.copy()
    if removed is not None and removed.any():
        possible &= ~removed
        num_left = np.add.reduceat(possible, model.move_starts[:-1], dtype=np.int64)
        moves = model.move_starts[:-1][fixed >= 0] + fixed[fixed >= 0]
        if not (num_left.all() and possible[moves].all()):
            return None
        is_decided = (num_left == 1) & (model.domain_sizes > 1)
        first = np.maximum.reduceat(np.where(possible, np.arange(len(possible)), -1), model.move_starts[:-1])
        given[is_decided] = (first - model.move_starts[:-1])[is_decided]
    if not zeros.matter:
        return None if zeros.entries.any() else (possible, given)
    propagation = new_propagation(possible, zeros.without.copy(), zeros.max_scope)
    return (possible, given) if fix_implied(model, zeros.entries, propagation, given) else None


def contradicts(start: NDArray[np.int64], fixed: Fixed) -> bool:
    """Does a start do otherwise than what is fixed?"""
    return bool(((fixed >= 0) & (start != fixed)).any())


@once_per_model
def zeros_of(model: FlatModel) -> Zeros:
    """The zeros of a model, found once."""
    entries = model.log_table == model.log_zero
    possible = np.ones(model.num_moves, dtype=np.bool_)
    max_scope = int(np.diff(model.scope_starts).max(initial=1))
    if not entries.any():
        return Zeros(entries, np.ones(model.num_factors, dtype=np.bool_), possible, max_scope, matter=False)
    waiting = of_tables(np.add, entries, model.bases, np.int64) > 0
    without = ~waiting
    first = np.flatnonzero(waiting)
    waiting[:] = True  # those without zeros never have to wait
    propagation = new_propagation(possible, waiting, max_scope)
    propagation.queue[: len(first)] = first
    matter = _prune(model, entries, propagation, len(first))
    return Zeros(entries, without, possible, max_scope, matter=matter)


@inlined
def _mark_supported(
    model: FlatModel, zero_entries: NDArray[np.bool_], propagation: Propagation, factor: int
) -> None:
    """Mark the moves that occur in an entry of a factor which is neither zero nor ruled out.

    From entry to entry the moves are counted up like the digits of a number.
    """
    possible, supported, moves = propagation.possible, propagation.supported, propagation.moves
    begin, arity = model.scope_starts[factor], model.scope_starts[factor + 1] - model.scope_starts[factor]
    missing = 0  # possible moves without support so far
    for place in range(arity):
        variable = model.scopes[begin + place, 0]
        moves[place] = model.move_starts[variable]
        for move in range(model.move_starts[variable], model.move_starts[variable + 1]):
            missing += possible[move] * 1
    size = model.table_starts[factor + 1] - model.table_starts[factor]
    for entry in range(model.bases[factor], model.bases[factor] + size):
        allowed = not zero_entries[entry]
        for place in range(arity if allowed else 0):
            allowed = allowed and possible[moves[place]]
        for place in range(arity if allowed else 0):
            missing -= (not supported[moves[place]]) * 1
            supported[moves[place]] = True
        if missing == 0:
            break
        for place in range(arity - 1, -1, -1):
            variable = model.scopes[begin + place, 0]
            moves[place] += 1
            if moves[place] < model.move_starts[variable + 1]:
                break
            moves[place] = model.move_starts[variable]


@inlined
def _enqueue(factor: int, propagation: Propagation, tail: int) -> int:
    """Put a factor at the end of the ring unless it waits there already; return the new end."""
    if not propagation.waiting[factor]:
        propagation.waiting[factor] = True
        propagation.queue[tail % len(propagation.queue)] = factor
        tail += 1
    return tail


@inlined
def _wake_factors(model: FlatModel, variable: int, propagation: Propagation, tail: int) -> int:
    """Queue the factors of a variable that has lost a value; return the queue's new end."""
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        tail = _enqueue(model.pairs[link, 0], propagation, tail)
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        tail = _enqueue(model.wides[link, 0], propagation, tail)
    return tail


@kernel
def _prune(model: FlatModel, zero_entries: NDArray[np.bool_], propagation: Propagation, tail: int) -> bool:
    """Rule out unsupported values until nothing changes; False if a variable has none left.

    ``tail`` is the end of the queue. Cost: the tables of the factors visited, each again whenever one of its
    variables lost a value.
    """
    possible, supported, head = propagation.possible, propagation.supported, 0
    while head < tail:
        factor = propagation.queue[head % len(propagation.queue)]
        head += 1
        _mark_supported(model, zero_entries, propagation, factor)
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            variable = ZERO + model.scopes[place, 0]
            lost, left = 0, 0
            for move in range(model.move_starts[variable], model.move_starts[variable + 1]):
                lost += possible[move] and not supported[move]
                left += supported[move]
                possible[move] = possible[move] and supported[move]
                supported[move] = False
            if left == 0:
                return False
            if lost > 0:
                tail = _wake_factors(model, variable, propagation, tail)
        propagation.waiting[factor] = False  # only now: what it has itself ruled out is no news to it
    return True


@inlined
def _restrict(model: FlatModel, possible: NDArray[np.bool_], variable: int, value: int) -> int:
    """Rule out all values of a variable but one; return how many that were."""
    lost, start = 0, model.move_starts[variable]
    for move in range(start, model.move_starts[variable + 1]):
        if possible[move] and move != start + value:
            possible[move] = False
            lost += 1
    return lost


@inlined
def _only_value(model: FlatModel, possible: NDArray[np.bool_], variable: int) -> int:
    """The one value that a variable has left; -1 if it has several."""
    only, start = -1, model.move_starts[variable]
    for move in range(start, model.move_starts[variable + 1]):
        if possible[move]:
            if only >= 0:
                return -1
            only = move - start
    return only


@kernel
def fix_implied(
    model: FlatModel, zero_entries: NDArray[np.bool_], propagation: Propagation, fixed: Fixed
) -> bool:
    """Add to the ``fixed`` values what they imply; False, and nothing added, if they contradict the zeros."""
    possible, tail = propagation.possible, ZERO
    for variable in range(len(fixed)):
        value = fixed[variable]
        if value >= 0:
            if not possible[model.move_starts[variable] + value]:
                return False
            if _restrict(model, possible, variable, value) > 0:
                tail = _wake_factors(model, variable, propagation, tail)
    if not _prune(model, zero_entries, propagation, tail):
        return False
    for variable in range(len(fixed)):
        if fixed[variable] < 0 and model.domain_sizes[variable] > 1:
            fixed[variable] = _only_value(model, possible, variable)
    return True


@inlined
def _reach(
    variable: int,
    part: int,
    is_free: NDArray[np.bool_],
    part_of: NDArray[np.int32],
    queue: NDArray[np.int32],
    tail: int,
) -> int:
    """Put a variable into a part if it is free and in none yet; return the queue's new end."""
    if is_free[variable] and part_of[variable] < 0:
        part_of[variable] = part
        queue[tail] = variable
        tail += 1
    return tail


@kernel
def label_parts(
    model: FlatModel,
    is_free: NDArray[np.bool_],
    part_of: NDArray[np.int32],
    queue: NDArray[np.int32],
    firsts: NDArray[np.int32],
) -> int:
    """Write the part of each free variable into ``part_of``, -1 for the others; return the number of parts.

    ``firsts`` gets the number of variables in earlier parts, for each part. Cost: the free variables'
    neighbours.
    """
    num_parts, num_before = ZERO, 0
    for variable in range(len(part_of)):
        part_of[variable] = -1
    for seed in range(len(is_free)):
        head, tail = 0, _reach(seed, num_parts, is_free, part_of, queue, ZERO)
        while head < tail:
            variable = queue[head]
            head += 1
            for k in range(model.neighbour_starts[variable], model.neighbour_starts[variable + 1]):
                tail = _reach(model.neighbours[k], num_parts, is_free, part_of, queue, tail)
        if tail > 0:
            firsts[num_parts] = num_before
            num_before += tail
            num_parts += 1
    return num_parts
