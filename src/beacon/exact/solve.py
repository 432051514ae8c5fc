"""Parts solved exactly: the optimum of each, with values that reach it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from beacon.exact.plan import MAX_ENTRIES, Plan
from beacon.model.flat import Fixed
from beacon.reduce.eliminate import choose_backwards, eliminate_in_order, spread_backwards
from beacon.reduce.query import ReducedQuery
from beacon.reduce.tables import Tables, new_scratch, with_room
from beacon.rng import stream_of_fixed


@dataclass(frozen=True, eq=False)
class SolvedParts:
    """What elimination has found out about a reduced query."""

    reduced: ReducedQuery
    is_solved: NDArray[np.bool_]
    """[parts] was the part eliminated?"""
    tables: Tables
    steps: NDArray[np.int32]
    """All variables eliminated, those of the reduced query included."""
    seed: int

    @property
    def score(self) -> float:
        """The best score of all that is decided; -inf if there is proof that no assignment is possible."""
        return float(self.tables.constant[0])

    @property
    def is_impossible(self) -> bool:
        """Is it proved that no assignment has a probability other than zero?"""
        return self.score == -math.inf

    @property
    def is_complete(self) -> bool:
        """Is every part solved, so that the score is the optimum of the query?"""
        return bool(self.is_solved.all())

    @property
    def is_optimum(self) -> bool:
        """Is the best assignment of the query known?"""
        return self.is_complete and not self.is_impossible

    @cached_property
    def is_open(self) -> NDArray[np.bool_]:
        """[free variables] is the best value unknown, because it depends on a part that is not solved?"""
        reduced = self.reduced
        is_open = np.zeros(len(reduced.variables), dtype=np.bool_)
        is_open[reduced.members] = np.repeat(~self.is_solved, np.diff(reduced.part_starts))
        if not self.is_complete:
            spread_backwards(self.tables, reduced.steps, is_open)
        return is_open

    @property
    def fixed(self) -> Fixed:
        """[model's variables] values given, implied or optimal; -1 for what is to be searched.

        That includes variables which the reduction has eliminated and whose best value depends on an open
        part; :meth:`complete` gives them their best values after the search. Where nothing is possible, only
        what is given is fixed: a search may look for the fewest zeros.
        """
        if self.is_impossible:
            return self.reduced.given
        variables = self.reduced.variables[~self.is_open]
        fixed = self.reduced.fixed.copy()
        fixed[variables] = self.complete()[variables]
        return fixed

    def complete(self, assignment: NDArray[np.integer] | None = None) -> NDArray[np.int32]:
        """The best assignment in which the variables of open parts are as in this one.

        Without an ``assignment`` they have any value that is left; with all parts solved, it is the optimum.
        """
        if assignment is None:
            choices = np.zeros(len(self.reduced.variables), dtype=np.int32)
        else:
            choices = self.reduced.choices_of(assignment)
        return self.assignment_of(choices)

    def assignment_of(self, choices: NDArray[np.int32]) -> NDArray[np.int32]:
        """The model's assignment with the choices of all variables that are not eliminated.

        The others get their best values in ``choices``.
        """
        sums = np.empty(int(self.tables.sizes.max(initial=1)))
        rng = stream_of_fixed(self.seed, self.reduced.fixed)
        choose_backwards(self.tables, self.steps, choices, sums, rng)
        return self.reduced.assignment_of(choices)


def unsolved(reduced: ReducedQuery, seed: int = 0) -> SolvedParts:
    """A reduced query with all parts open."""
    nothing = np.zeros(reduced.num_parts, dtype=np.bool_)
    return SolvedParts(reduced, nothing, reduced.tables, reduced.steps, seed)


def solve_parts(
    reduced: ReducedQuery,
    plan: Plan,
    parts: NDArray[np.bool_] | None = None,
    seed: int = 0,
    max_entries: int = MAX_ENTRIES,
) -> SolvedParts:
    """Solve some parts by elimination: those of ``parts``, or all that ``max_entries`` can pay for.

    No more than ``max_entries`` table entries are made, whatever ``parts`` asks for.
    """
    affordable = plan.affordable(max_entries)
    chosen = affordable if parts is None else parts & affordable
    if not chosen.any():
        return unsolved(reduced, seed)
    is_member = np.repeat(chosen, np.diff(reduced.part_starts))
    order = plan.order[is_member]
    kept, largest, places = plan.needs(chosen)
    tables = with_room(reduced.tables, len(order), places, kept)
    scratch = new_scratch(len(reduced.variables), largest)
    ranks = np.zeros(len(reduced.variables), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    eliminate_in_order(tables, scratch, ranks, order)
    steps = np.concatenate([reduced.steps, order])
    return SolvedParts(reduced, chosen, tables, steps, seed)
