"""The best assignments of a query that differ from each other: exactly by elimination, else by search.

Where only some independent parts of a query are cheap to eliminate, the best that differ in these alone are
known exactly; they compete with what a search finds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import tolerance_of
from beacon.model.flat import as_fixed
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.propagate import fixed_values
from beacon.reduce.query import reduce_query
from beacon.runner.known import Effort
from beacon.runner.margins import flip_losses
from beacon.runner.pool import Cancelled
from beacon.runner.runner import Runner
from beacon.runner.search import Search
from beacon.runner.stop import Stop
from beacon.runner.warm_up import warm_up
from beacon.strategies.gls import GlsPlus

if TYPE_CHECKING:
    from beacon.exact.tree import Tree
    from beacon.runner.result import Result

Assignment = NDArray[np.int64]

MAX_COUNTING = 1e9  # pairs of counts for all entries, for one alternative: a second or so
MAX_PART_ENTRIES = 1 << 18  # of the parts that are solved beside a search: a millisecond for an alternative
MAX_RANKED = 500  # assignments looked at for one that is far enough from all others
TRIES = 4  # searches for each alternative where no time limit says how many
MIN_IDLE = 200  # steps without improvement that end one of them


@dataclass(frozen=True, eq=False)
class Alternative:
    """One of the best assignments of a query.

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0,), [0.0, -1.0]), ((1,), [0.0, -3.0])])
    >>> second = beacon.solve(model, alternatives=2).alternatives[1]
    >>> second.changes, second.loss
    ({'x0': '1'}, 1.0)
    """

    model: GraphicalModel = field(repr=False)
    assignment: Assignment = field(repr=False)
    log_score: float
    loss: float
    """How far its score is below the answer's, in nats."""
    changes: dict[str, str]
    """The variables that differ from the answer, with their values."""

    @property
    def named_assignment(self) -> dict[str, str]:
        """The assignment as variable name -> value label."""
        return self.model.named_assignment(self.assignment)

    def to_dict(self) -> dict[str, Any]:
        """One entry of ``alternatives`` in ``beacon solve --json``."""
        return {
            "log_score": self.log_score,
            "assignment": self.assignment.tolist(),
            "changes": self.changes,
        }


class Alternatives(list[Alternative]):
    """The best assignments, best first; the first one is the answer itself. A list in every other way.

    Attributes
    ----------
    exact
        Is it proved that each is the best that is far enough from those before it? Else they were searched,
        and better ones may exist.

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0,), [0.0, -1.0]), ((1,), [0.0, -3.0])])
    >>> found = beacon.solve(model, alternatives=9).alternatives
    >>> found.exact, [one.log_score for one in found]
    (True, [0.0, -1.0, -3.0, -4.0])
    """

    def __init__(self, found: Iterable[Alternative], *, exact: bool) -> None:
        super().__init__(found)
        self.exact = exact


def alternatives_of(
    result: Result,
    count: int,
    distance: int,
    tree: Tree | None,
    runner: Runner,
    stop: Stop,
    cancelled: Cancelled,
) -> Alternatives:
    """The ``count`` best assignments that differ pairwise in ``distance`` variables or more.

    The answer is the first. Each further one is the best that is far enough from those before it. There are
    fewer where no more are possible, none where nothing is.
    """
    if result.zero_factors:
        return Alternatives([], exact=result.is_impossible)
    found, exact = [result.assignment], False
    if tree is not None:
        found, exact = _exact(tree, result.assignment, count, distance)
    if not exact:
        searches = _Searches(result, runner, stop, count, distance, cancelled)
        parts = None if tree is not None else _tree_of_parts(result, runner, stop)
        if parts is not None:
            searches.offer(_exact(parts, result.assignment, count, distance)[0][1:])
        found = searches.extended(found)
    made = [_alternative(result, other) for other in found]
    if distance == 1:  # searched ones come as they are found; rounding may disturb the order of exact ones
        made[1:] = sorted(made[1:], key=lambda one: -one.log_score)
    return Alternatives(made, exact=exact)


def _tree_of_parts(result: Result, runner: Runner, stop: Stop) -> Tree | None:
    """The independent parts that are cheap, with all others as in the answer; None: there are none of use."""
    from beacon.exact.plan import plan  # noqa: PLC0415 - with the kernels
    from beacon.exact.tree import grow_tree  # noqa: PLC0415

    flat, effort = runner.flat, Effort.within(stop.seconds)
    if not (runner.knows and effort.pays_to_reduce(flat)):
        return None
    given = as_fixed(result.evidence, flat.num_variables)
    reduced = reduce_query(flat, given, eliminate=False)
    prospect = plan(reduced, result.seed, MAX_PART_ENTRIES, effort.caps.order_work)
    is_cheap = prospect.cheapest(MAX_PART_ENTRIES)
    if not is_cheap.any():
        return None
    others = reduced.variables[reduced.members[np.repeat(~is_cheap, np.diff(reduced.part_starts))]]
    fixed = given.copy()
    fixed[others] = result.assignment[others]
    tree = grow_tree(flat, fixed, result.seed, MAX_PART_ENTRIES)
    if tree is None:
        return None
    tree.best_scores()
    best = result.model.log_score(tree.assignment_of(tree.best_choices()))
    return tree if best <= result.log_score + tolerance_of(flat) else None  # else the answer is no optimum


def _alternative(result: Result, assignment: Assignment) -> Alternative:
    score = result.model.log_score(assignment)
    changes = result.model.changes_between(result.assignment, assignment)
    return Alternative(result.model, assignment, score, result.log_score - score, changes)


def _exact(tree: Tree, best: Assignment, count: int, distance: int) -> tuple[list[Assignment], bool]:
    """As many as elimination gives, and whether these are all."""
    from beacon.exact.k_best import ranked  # noqa: PLC0415 - with the kernels

    first = tree.reduced.choices_of(best)
    if distance == 1:
        return [tree.assignment_of(choices) for choices in islice(ranked(tree, first), count)], True
    found, is_complete = _counted(tree, first, count, distance)
    if not is_complete:
        is_complete = _extend_by_rank(tree, found, count, distance)
    return [tree.assignment_of(choices) for choices in found], is_complete


def _counted(
    tree: Tree, first: NDArray[np.int32], count: int, distance: int
) -> tuple[list[NDArray[np.int32]], bool]:
    """One after the other, by counting differences in the tables, as long as these are not too many."""
    from beacon.exact.far import counting_work, far_best  # noqa: PLC0415

    found = [first]
    while len(found) < count:
        if counting_work(tree, distance, len(found)) > MAX_COUNTING:
            return found, False
        another = far_best(tree, found, distance)
        if another is None:
            break
        found.append(another)
    return found, True


def _extend_by_rank(tree: Tree, found: list[NDArray[np.int32]], count: int, distance: int) -> bool:
    """Add those of the best assignments that are far enough from all before them. Are these all?"""
    from beacon.exact.k_best import ranked  # noqa: PLC0415

    looked = 0
    for choices in islice(ranked(tree, found[0]), MAX_RANKED):
        looked += 1
        if all(np.count_nonzero(choices != other) >= distance for other in found):
            found.append(choices)
            if len(found) == count:
                return True
    return looked < MAX_RANKED


class _Searches:
    """Looks for alternatives by forcing values that the ones before do not have, and searching from there."""

    def __init__(
        self, result: Result, runner: Runner, stop: Stop, count: int, distance: int, cancelled: Cancelled
    ) -> None:
        self.result, self.runner, self.count, self.distance = result, runner, count, distance
        self.cancelled = cancelled
        self.strategy = GlsPlus()
        warm_up(self.strategy, runner.flat)
        self.ends = perf_counter() + stop.seconds
        self.is_timed = stop.seconds < math.inf
        self.idle = max(MIN_IDLE, 2 * result.model.num_variables)
        self.pool: list[tuple[float, Assignment]] = []

    def offer(self, assignments: Iterable[Assignment]) -> None:
        """Consider these, too."""
        for assignment in assignments:
            self._keep(assignment)

    def extended(self, found: list[Assignment]) -> list[Assignment]:
        """As many as were asked for, unless no more are found."""
        while len(found) < self.count and not self.cancelled.is_set():
            now = perf_counter()  # each of those that are left has an equal share of the time
            another = self._another(found, now + (self.ends - now) / (self.count - len(found)))
            if another is None:
                break
            found.append(another)
        return found

    def _another(self, found: Sequence[Assignment], deadline: float) -> Assignment | None:
        tried, failed = 0, 0
        while failed < len(found) and (tried < 1 or self._may_go_on(tried, deadline)):
            failed = 0 if self._try(found, tried) else failed + 1
            tried += 1
        fitting = [pair for pair in self.pool if self._is_far(pair[1], found)]
        self.pool = fitting
        return max(fitting, key=lambda pair: pair[0])[1] if fitting else None

    def _may_go_on(self, tried: int, deadline: float) -> bool:
        is_in_time = perf_counter() < deadline if self.is_timed else tried < TRIES
        return is_in_time and not self.cancelled.is_set()

    def _is_far(self, assignment: Assignment, found: Sequence[Assignment]) -> bool:
        return all(np.count_nonzero(assignment != other) >= self.distance for other in found)

    def _try(self, found: Sequence[Assignment], number: int) -> bool:
        """Put one more assignment that is far enough into the pool; False if there is no other way to go."""
        current, forced = found[number % len(found)], dict[int, int]()
        while not self._is_far(current, found):
            nearest = min(found, key=lambda other: int(np.count_nonzero(current != other)))
            move = self._cheapest(current, nearest, forced, 0 if forced else number // len(found))
            if move is None:
                return False
            forced[move[0]] = move[1]
            start = current.copy()
            start[move[0]] = move[1]
            self._keep(start)
            current = self._searched(start, forced)
        self._keep(current)
        return True

    def _cheapest(
        self, current: Assignment, other: Assignment, forced: dict[int, int], rank: int
    ) -> tuple[int, int] | None:
        """The flip away from another assignment that costs least, or one that costs a little more."""
        model, flat = self.result.model, self.runner.flat
        losses = flip_losses(flat, current)
        is_open = current == other
        is_open[[*forced, *self.result.evidence]] = False
        losses[~np.repeat(is_open, model.domain_sizes)] = math.inf
        losses[flat.move_starts[:-1] + current] = math.inf
        if rank >= len(losses):
            return None
        move = int(np.argpartition(losses, rank)[rank])
        if losses[move] == math.inf:
            return None
        variable = int(np.searchsorted(flat.move_starts, move, side="right")) - 1
        return variable, move - int(flat.move_starts[variable])

    def _searched(self, start: Assignment, forced: dict[int, int]) -> Assignment:
        """The best that a short search finds with the forced values."""
        flat = self.runner.flat
        fixed = fixed_values(flat, {**self.result.evidence, **forced}, start, self.runner.propagate)
        search = Search(flat, fixed, self.strategy, start, self.result.seed)
        left = self.ends - perf_counter() if self.is_timed else math.inf
        search.run(Stop(seconds=max(left, 0.0), idle_steps=self.idle), self.cancelled)
        return search.best_assignment

    def _keep(self, assignment: Assignment) -> None:
        score = self.result.model.log_score(assignment)
        if score > -math.inf:
            self.pool.append((score, assignment))
