"""Starts crossed with other opinions: of each, the start takes every cluster of variables that is better.

An opinion is another assignment, such as the answer to a similar query. It first descends: one variable after
the other takes its best value. Where it then differs from the start, the variables that factors join are a
cluster, and each cluster is judged by itself (see ``incumbent.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.construct import Room, add_prospects, construct_assignment, new_room
from beacon.engine.core import CoreState, recount
from beacon.engine.incumbent import (
    EPSILON,
    first_best,
    floored_best_of,
    harvest_clusters,
    note_all_changed,
    save_all_best,
)
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel, once_per_model

MAX_VISITS = 4  # of a variable, on average, in one descent
SECONDS_PER_VALUE = 1e-8  # that a sweep looks at: for the descent of an opinion, and its clusters
MAX_SHARE = 0.2  # of a time limit, for all opinions together
MOST_LATER = 200  # opinions, as time goes by
AT_ONCE = 0.1  # of their share of all work so far, between two looks at the clock
VALUES_PER_WORK = 5  # looking at this many takes about as long as one unit of a search's work


class CrossRoom(NamedTuple):
    """What crossing works on."""

    values: Room
    members: NDArray[np.int32]
    """[variables] those of one cluster."""
    is_due: NDArray[np.bool_]
    """[variables] may another value be better than the one it has?"""


def cross_opinions(model: FlatModel, core: CoreState, opinions: NDArray[np.integer]) -> None:
    """Cross the assignment in place with a constructed one, and with each row. Cost: the model, for each."""
    room = begin_crossing(model, core)
    construct_assignment(model, core)
    take_clusters(model, core, room)
    for row in opinions:
        np.copyto(core.assignment, row, where=core.is_free, casting="unsafe")
        take_clusters(model, core, room)
    end_crossing(core)


def begin_crossing(model: FlatModel, core: CoreState) -> CrossRoom:
    """Take the assignment in place as the best, after its descent, and room for what it is crossed with."""
    room = new_cross_room(model)
    _begin(model, core, room)
    return room


def end_crossing(core: CoreState) -> None:
    """Put the best in place."""
    core.assignment[:] = core.best
    core.counters[0]["num_events"] = 0


def new_cross_room(model: FlatModel) -> CrossRoom:
    """Room for all variables."""
    n = model.num_variables
    return CrossRoom(new_room(model), np.empty(n, dtype=np.int32), np.empty(n, dtype=np.bool_))


class LaterOpinions(NamedTuple):
    """What the best assignment of a search is to be crossed with as time goes by."""

    rows: NDArray[np.integer]
    """[opinions, variables]"""
    share: float
    """Of the work, for all of them together."""


@dataclass
class Crossings:
    """How far a search has come with them; they take turns, round and round.

    While they gain less than the search does in as much work, they get half of the share, and half of that.
    """

    opinions: LaterOpinions
    pace: float = 1.0
    """What they get of their share."""
    at: int = 0
    """Whose turn it is."""
    idle: int = 0
    """Opinions since the best assignment became better: after all of them there is nothing left to do."""
    best_score: float = -np.inf
    """The best score then."""
    work: int = 0
    """The search's when the last of them were crossed; 0: none has been."""
    score: float = -np.inf
    """Its best score then."""
    room: CrossRoom | None = None

    def cross_due(self, model: FlatModel, core: CoreState) -> None:
        """Cross the core's best with those that are due; its assignment stays. Cost: the model, for each.

        After a pause many may be due at once; only some are crossed then, so that time limits are kept.
        """
        before, cost, work = floored_best_of(core), 1 + _num_values(model) // VALUES_PER_WORK, _work(core)
        share = self.opinions.share
        most = min(share * self.pace * (work - self.work), max(cost, AT_ONCE * share * work))
        if most < cost or not self._is_of_use(core):
            return
        current, parts, spent = core.assignment.copy(), core.parts[["score", "zeros"]].copy(), 0
        self.room = self.room or new_cross_room(model)
        while spent + cost <= most and self._is_of_use(core):
            np.copyto(core.assignment, self.opinions.rows[self.at], where=core.is_free, casting="unsafe")
            take_clusters(model, core, self.room)
            spent += cost
            self.at = (self.at + 1) % len(self.opinions.rows)
            self.idle += 1
        core.assignment[:] = current
        core.parts[["score", "zeros"]] = parts
        core.counters[0]["work"] += spent
        self._set_pace(core, before, work, spent)

    def _set_pace(self, core: CoreState, before: float, work: int, spent: int) -> None:
        """Compare what crossing has gained with what the search had gained since the last time."""
        gain, searched = floored_best_of(core) - before, before - self.score if self.work else 0.0
        pays = gain * (work - self.work) >= searched * spent
        self.pace = min(1.0, 2 * self.pace) if pays else self.pace / 2
        self.work, self.score = _work(core), floored_best_of(core)

    def _is_of_use(self, core: CoreState) -> bool:
        """Is there one that has not been crossed with this best?"""
        if floored_best_of(core) > self.best_score:
            self.best_score, self.idle = floored_best_of(core), 0
        return self.idle < len(self.opinions.rows)


def _work(core: CoreState) -> int:
    return int(core.counters[0]["work"])


def num_affordable(model: FlatModel, seconds: float) -> float:
    """How many opinions a time limit can pay for, besides the start and a constructed one."""
    return max(0.0, MAX_SHARE * seconds / descent_seconds(model) - 2)


def descent_seconds(model: FlatModel) -> float:
    """What it takes to let an opinion descend and to take its clusters."""
    return SECONDS_PER_VALUE * _num_values(model)


def num_later(model: FlatModel, share: float, seconds: float) -> int:
    """How many opinions this share of a time limit can pay for."""
    return int(min(MOST_LATER, share * seconds / descent_seconds(model))) if share > 0 else 0


@once_per_model
def _num_values(model: FlatModel) -> int:
    """The values that a sweep looks at; in a wide factor once for each of its variables."""
    of_wides = np.repeat(model.domain_sizes.astype(np.int64), np.diff(model.wide_starts))
    in_wides = np.diff(model.scope_starts)[model.wides[:, 0]] @ of_wides
    return max(1, int(np.diff(model.pair_starts) @ model.domain_sizes.astype(np.int64) + in_wides))


@inlined
def _improve(model: FlatModel, core: CoreState, room: CrossRoom, variable: int, stamp: int) -> bool:
    """Give a variable its best value, all else fixed; has it changed?"""
    add_prospects(model, core, room.values, variable, stamp)
    sums, current = room.values.sums, core.assignment[variable]
    best = current
    for value in range(model.domain_sizes[variable]):
        if sums[value] > sums[best] + EPSILON:
            best = value
    core.assignment[variable] = best
    return bool(best != current)


@inlined
def _descend(model: FlatModel, core: CoreState, room: CrossRoom) -> None:
    """Sweep over the free variables whose neighbours have changed, until none is left, or it takes too long.

    Cost: at most ``MAX_VISITS`` times all links of the model, whatever the opinion.
    """
    core.counters[0]["stamp"] += 1
    stamp, left, has_changed = core.counters[0]["stamp"], MAX_VISITS * len(core.assignment), True
    for variable in range(len(core.assignment)):
        core.stamps[variable] = stamp  # all have values: their prospects are their scores
        room.is_due[variable] = core.is_free[variable]
    while has_changed and left > 0:
        has_changed = False
        for variable in range(len(core.assignment)):
            if room.is_due[variable] and left > 0:
                left -= 1
                room.is_due[variable] = False
                if _improve(model, core, room, variable, stamp):
                    has_changed = True
                    for k in range(model.neighbour_starts[variable], model.neighbour_starts[variable + 1]):
                        room.is_due[model.neighbours[k]] = core.is_free[model.neighbours[k]]


@kernel
def _begin(model: FlatModel, core: CoreState, room: CrossRoom) -> None:
    """Take the assignment in place as the best, after its descent."""
    _descend(model, core, room)
    recount(model, core)
    first_best(core)


@kernel
def take_clusters(model: FlatModel, core: CoreState, room: CrossRoom) -> None:
    """Give the best assignment every cluster of the one in place, after its descent, that is better."""
    _descend(model, core, room)
    recount(model, core)
    note_all_changed(core)
    harvest_clusters(model, core, room.members)
    save_all_best(core)
    for k in range(len(core.parts)):
        core.parts[k]["num_changed"] = 0
    for variable in range(len(core.is_changed)):
        core.is_changed[variable] = False
