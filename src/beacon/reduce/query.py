"""A query reduced: what the evidence leaves to decide, and the model's assignment for a decision."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beacon.model.flat import Fixed, FlatModel, once_per_model
from beacon.reduce.components import find_parts
from beacon.reduce.condition import Restriction, condition_factors, new_restriction, number_free_variables
from beacon.reduce.propagate import possible_moves, zeros_of
from beacon.reduce.shrink import NEEDED, STEPS, Queue, new_queue, shrink
from beacon.reduce.tables import ENTRIES, Tables, new_scratch, new_tables, with_room

FIRST_ROOM = 512  # entries that are there for new tables before any is asked for


@dataclass(frozen=True, eq=False)
class ReducedQuery:
    """What a query leaves of a model. Variables here are numbered anew: 0 .. ``len(variables) - 1``.

    Some of these are eliminated already, because that made the query no larger. The others make up the
    ``parts``, which can be solved one by one. The score of the best assignment of all is ``constant`` plus
    the best of each part.
    """

    model: FlatModel
    given: Fixed
    """[model's variables] values given, -1: none."""
    fixed: Fixed
    """[model's variables] values given or implied, -1: none. A variable with a single value has it."""
    variables: NDArray[np.int32]
    """The model's index of each variable here."""
    values: NDArray[np.int32]
    """The model's value of each value here, variable by variable as in ``tables.unary_starts``."""
    tables: Tables
    steps: NDArray[np.int32]
    """The variables that are eliminated already, in this order."""
    members: NDArray[np.int32]
    """The variables of all parts, one part after another."""
    part_starts: NDArray[np.int32]
    """[parts + 1] where each part begins in ``members``."""

    @property
    def num_parts(self) -> int:
        """Number of independent parts."""
        return len(self.part_starts) - 1

    @property
    def is_impossible(self) -> bool:
        """Is it proved that no assignment has a probability other than zero?"""
        return self.constant == -math.inf

    @property
    def constant(self) -> float:
        """The score of all that is decided."""
        return float(self.tables.constant[0])

    def choices_of(self, assignment: NDArray[np.integer]) -> NDArray[np.int32]:
        """An assignment of the model's variables as places in the lists of values that are left.

        A value that is ruled out is replaced by the first one that is left.
        """
        wanted = np.repeat(assignment[self.variables], self.tables.sizes) == self.values
        choices = np.zeros(len(self.variables), dtype=np.int32)
        owners = np.repeat(np.arange(len(self.variables)), self.tables.sizes)[wanted]
        choices[owners] = np.flatnonzero(wanted) - self.tables.unary_starts[owners]
        return choices

    def moves_of(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """[model's moves] those of the chosen ones of ``values``."""
        owners = np.repeat(self.variables, self.tables.sizes)[chosen]
        moves = np.zeros(self.model.num_moves, dtype=np.bool_)
        moves[self.model.move_starts[owners] + self.values[chosen]] = True
        return moves

    def assignment_of(self, choices: NDArray[np.int32]) -> NDArray[np.int32]:
        """The model's assignment with these places in the lists of values that are left."""
        assignment = np.maximum(self.fixed, 0)
        assignment[self.variables] = self.values[self.tables.unary_starts[:-1] + choices]
        return assignment


def reduce_query(
    model: FlatModel, fixed: Fixed, removed: NDArray[np.bool_] | None = None, *, eliminate: bool = True
) -> ReducedQuery:
    """Reduce a query: propagate, condition, join, absorb, eliminate what costs nothing, and cut into parts.

    ``fixed`` has the value of each observed variable and -1 for the others; ``removed`` [moves] says which
    values are not wanted. Zeros are taken for what they are, -inf, wherever the model's floor may lie.
    Without ``eliminate``, every assignment that is possible is still there afterwards, with its own score,
    not only a best one.
    """
    left = possible_moves(model, fixed, removed)
    if left is None:
        return _impossible(model, fixed)
    possible, decided = left
    restriction = new_restriction(model, decided, zeros_of(model).max_scope)
    tables, queue = _conditioned(model, possible, restriction)
    steps = np.empty(0, dtype=np.int32)
    if eliminate:
        tables = _shrunk(tables, queue)
        steps = queue.steps[: queue.progress[STEPS]].copy()
    variables = np.flatnonzero(restriction.numbers >= 0).astype(np.int32)
    values = restriction.values[: len(tables.unary)]
    return ReducedQuery(model, fixed, decided, variables, values, tables, steps, *_parts(tables, steps))


def _conditioned(
    model: FlatModel, possible: NDArray[np.bool_], restriction: Restriction
) -> tuple[Tables, Queue]:
    """The tables over the free variables, and the queue of these."""
    value_starts = np.zeros(model.num_variables + 1, dtype=np.int32)
    count = number_free_variables(model, possible, restriction, value_starts)
    num_places, num_entries = len(model.scopes) + 2 * count, model.num_entries + FIRST_ROOM
    num_values, num_factors = int(value_starts[count]), model.num_factors + count
    tables = new_tables(count, num_values, num_factors, num_places, num_entries)
    tables.unary_starts[:] = value_starts[: count + 1]
    queue = new_queue(count)
    condition_factors(model, log_table_of(model), restriction, tables, queue.num_factors_of)
    return tables, queue


def _parts(tables: Tables, steps: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The variables of all parts, and where each begins."""
    count = len(tables.sizes)
    members = np.empty(count - len(steps), dtype=np.int32)
    part_of, part_starts = np.empty(count, dtype=np.int32), np.empty(len(members) + 1, dtype=np.int32)
    num_parts = find_parts(tables, steps, part_of, members, part_starts)
    return members, part_starts[: num_parts + 1].copy()


def log_table_of(model: FlatModel) -> NDArray[np.float64]:
    """The model's tables with zeros at -inf."""
    own = _table_with_zeros(model)
    return model.log_table if own is None else own


@once_per_model
def _table_with_zeros(model: FlatModel) -> NDArray[np.float64] | None:
    """The same where the model has zeros, else None: what is remembered must not keep the model's own."""
    is_zero = zeros_of(model).entries
    if not is_zero.any():
        return None
    table: NDArray[np.float64] = np.where(is_zero, -np.inf, model.log_table)
    table.flags.writeable = False  # as the model's own is: kernels are compiled for one of the two
    return table


def _shrunk(tables: Tables, queue: Queue) -> Tables:
    """The tables after all eliminations that are free of charge."""
    count = len(tables.sizes)
    scratch = new_scratch(count, FIRST_ROOM)
    while shrink(tables, scratch, queue):
        needed, used = int(queue.progress[NEEDED]), int(tables.counts[ENTRIES])
        tables = with_room(tables, count, 16 * count, used + needed)
        scratch = new_scratch(count, max(needed, len(scratch.sums)))
    return tables


def _impossible(model: FlatModel, fixed: Fixed) -> ReducedQuery:
    """What is left of a query whose evidence contradicts the zeros: nothing."""
    nothing = np.empty(0, dtype=np.int32)
    tables = new_tables(0, 0, 0, 0, 0)
    tables.constant[0] = -math.inf
    starts = np.zeros(1, dtype=np.int32)
    return ReducedQuery(model, fixed, fixed, nothing, nothing, tables, nothing, nothing, starts)
