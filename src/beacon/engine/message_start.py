"""A start by messages: each variable takes the value that a few passes of max-product messages prefer.

A message tells a variable, for each of its values, the best that the other side of a factor can then do, by
what that side has heard so far. On graphs with cycles that is no more than a good guess, and after each pass
it is right in other places. So what is preferred after each pass is crossed with the best so far, which is a
constructed assignment at first (see ``cross.py``). Factors of three or more variables count as they are at
that one.
"""

from __future__ import annotations

import math
from functools import partial
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.construct import construct_assignment
from beacon.engine.core import Begin, Clock, CoreState
from beacon.engine.cross import begin_crossing, descent_seconds, end_crossing, take_clusters
from beacon.engine.incumbent import EPSILON, floored_best_of
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel, once_per_model

MOST_PASSES = 20
LEAST_PASSES = 3  # fewer reach too few variables to be worth more than a descent
DEAR = 64  # entries a variable: where passes look at n times as many, n passes are the least that pay
PATIENCE = 3  # passes without a gain, after which there are no more
MAX_SHARE = 0.4  # of a time limit, for the whole start
DEFAULT_SECONDS = 1.0  # what a search without a time limit is taken to have: the same on every machine
SECONDS_PER_ENTRY = 5e-9
WIDE_SHARE = 0.1  # of the links, at most: messages do not pass through wide factors
SETTLED = 0.001  # share of the free variables that still change their minds when the passes end
DAMPING = 0.5  # of a message, that is kept: without it messages on cycles swing to and fro


class Links(NamedTuple):
    """Where messages lie, and which belong together."""

    starts: NDArray[np.int64]
    """[pair links + 1] first value of each message, from the link's factor to its variable."""
    partners: NDArray[np.int64]
    """[pair links] the factor's link to its other variable; -1: there is none."""


class Told(NamedTuple):
    """What the variables have been told so far."""

    messages: NDArray[np.float64]
    """[values] by links."""
    beliefs: NDArray[np.float64]
    """[moves] their sums, with what never changes."""


def begin_by_messages(
    model: FlatModel,
    core: CoreState,
    most: int = MOST_PASSES,
    seconds: float = math.inf,
    clock: Clock = perf_counter,
) -> None:
    """Put a start by messages in place, crossed with a constructed one; no further pass that would end late.

    A clock that has come to infinity says that the search is over.
    Cost: ``most`` times all table entries of factors of two variables, twice, and as many descents.
    """
    began, links = clock(), _links(model)
    construct_assignment(model, core)
    told = Told(np.zeros(links.starts[-1]), np.zeros(model.num_moves))
    _begin_messages(model, core, told)
    preferred, room, idle = core.assignment.copy(), begin_crossing(model, core), 0
    for turn in range(most):
        turn_began, before = clock(), floored_best_of(core)
        core.assignment[:] = preferred
        is_settled = _pass_messages(model, core, links, told, turn % 2 == 1)
        preferred[:] = core.assignment
        take_clusters(model, core, room)
        idle = 0 if floored_best_of(core) > before else idle + 1
        if is_settled or idle == PATIENCE or _is_late(clock(), began, turn_began, seconds):
            break
    end_crossing(core)


def _is_late(now: float, began: float, turn_began: float, seconds: float) -> bool:
    """Would one more turn take longer than is allowed? Without a limit only a search that is over ends it."""
    return now == math.inf or (seconds < math.inf and now - began + now - turn_began > seconds)


def begin_in_time(model: FlatModel, seconds: float, clock: Clock = perf_counter, least: float = 1) -> Begin:
    """A start by as many passes of messages as the time limit allows; a constructed one if too few."""
    limit = seconds if seconds < math.inf else DEFAULT_SECONDS
    a_pass = SECONDS_PER_ENTRY * _num_entries(model) + descent_seconds(model)
    passes = int(min(MOST_PASSES, MAX_SHARE * limit / a_pass))
    if passes < least:
        return construct_assignment
    return partial(begin_by_messages, most=passes, seconds=MAX_SHARE * seconds, clock=clock)


def begin_where_it_pays(model: FlatModel, seconds: float, clock: Clock = perf_counter) -> Begin:
    """The same, but a constructed start where messages are not likely to be worth their time.

    A flip costs about the same whatever the model, a pass of messages the entries of its tables: where these
    are many a variable, the search is as far as a few passes before they are over. More passes lead to other,
    better places; too dear for as many as the time limit allows, they are left out.
    """
    if len(model.wides) > WIDE_SHARE * (len(model.pairs) + len(model.wides)):
        return construct_assignment
    entries_per_variable = _num_entries(model) / max(1, model.num_variables)
    return begin_in_time(model, seconds, clock, max(LEAST_PASSES, entries_per_variable / DEAR))


@once_per_model
def _num_entries(model: FlatModel) -> int:
    """The table entries that one pass looks at."""
    sizes, others = model.domain_sizes.astype(np.int64), model.pairs[:, 2]
    other_sizes = np.where(others >= 0, sizes[others], 0)
    return int(np.repeat(sizes, np.diff(model.pair_starts)) @ other_sizes)


@once_per_model
def _links(model: FlatModel) -> Links:
    starts = np.zeros(len(model.pairs) + 1, dtype=np.int64)
    partners = np.full(len(model.pairs), -1, dtype=np.int64)
    _join_links(model, starts, partners, np.full(model.num_factors, -1))
    return Links(starts, partners)


@kernel
def _join_links(
    model: FlatModel, starts: NDArray[np.int64], partners: NDArray[np.int64], first_links: NDArray[np.int64]
) -> None:
    """Fill in the arrays of ``Links``. Cost: the links."""
    for variable in range(len(model.domain_sizes)):
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            starts[link + 1] = starts[link] + model.domain_sizes[variable]
            factor, first = model.pairs[link, 0], first_links[model.pairs[link, 0]]
            if model.pairs[link, 2] < 0:
                continue
            if first < 0:
                first_links[factor] = link
            else:
                partners[link], partners[first] = first, link


@inlined
def _hear_wide(model: FlatModel, core: CoreState, told: Told, variable: int) -> None:
    """Add the entries of wide factors, all else as it is. Cost: their places, for each value."""
    first = model.move_starts[variable]
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor, stride = model.wides[link, 0], model.wides[link, 1]
        entry = model.bases[factor] - core.assignment[variable] * stride
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            entry += core.assignment[model.scopes[place, 0]] * model.scopes[place, 1]
        for value in range(model.domain_sizes[variable]):
            told.beliefs[first + value] += model.log_table[entry + value * stride]


@inlined
def _hear_fixed(model: FlatModel, core: CoreState, told: Told, variable: int) -> None:
    """Add what never changes: factors of the variable alone, and of it and one that is fixed."""
    first = model.move_starts[variable]
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        other, entry = model.pairs[link, 2], model.bases[model.pairs[link, 0]]
        if other < 0 or not core.is_free[other]:
            if other >= 0:
                entry += core.assignment[other] * model.pairs[link, 3]
            for value in range(model.domain_sizes[variable]):
                told.beliefs[first + value] += model.log_table[entry + value * model.pairs[link, 1]]


@inlined
def _hear(model: FlatModel, links: Links, told: Told, variable: int, link: int) -> None:
    """Renew the message of a link to a variable; the largest entry of each message is near 0."""
    base, stride = model.bases[model.pairs[link, 0]], model.pairs[link, 1]
    other, its_stride = model.pairs[link, 2], model.pairs[link, 3]
    its_first, back = model.move_starts[other], links.starts[links.partners[link]]
    first, at, best = model.move_starts[variable], links.starts[link], -np.inf
    for value in range(model.domain_sizes[variable]):
        top = -np.inf
        for its in range(model.domain_sizes[other]):
            entry = model.log_table[base + value * stride + its * its_stride]
            top = max(top, entry + told.beliefs[its_first + its] - told.messages[back + its])
        best = max(best, top)
        told.beliefs[first + value] -= told.messages[at + value]
        told.messages[at + value] = DAMPING * told.messages[at + value] + (1 - DAMPING) * top
    for value in range(model.domain_sizes[variable]):
        told.messages[at + value] -= (1 - DAMPING) * best
        told.beliefs[first + value] += told.messages[at + value]


@inlined
def _decide(model: FlatModel, core: CoreState, told: Told, variable: int) -> bool:
    """Give a variable the value that it has heard best of; has it changed its mind?"""
    first, before = model.move_starts[variable], core.assignment[variable]
    best = before
    for value in range(model.domain_sizes[variable]):
        if told.beliefs[first + value] > told.beliefs[first + best] + EPSILON:
            best = value
    core.assignment[variable] = best
    return bool(best != before)


@kernel
def _begin_messages(model: FlatModel, core: CoreState, told: Told) -> None:
    """Tell all free variables what never changes."""
    for variable in range(len(core.assignment)):
        if core.is_free[variable]:
            _hear_fixed(model, core, told, variable)
            _hear_wide(model, core, told, variable)


@kernel
def _pass_messages(model: FlatModel, core: CoreState, links: Links, told: Told, is_back: bool) -> bool:
    """Pass messages to all free variables, on or back through them; have few changed their minds?"""
    count, num_changed = len(core.assignment), 0
    for k in range(count):
        variable = count - 1 - k if is_back else k
        if core.is_free[variable]:
            for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
                other = model.pairs[link, 2]
                if other >= 0 and core.is_free[other]:
                    _hear(model, links, told, variable, link)
            num_changed += _decide(model, core, told, variable)
    return num_changed <= SETTLED * core.counters[0]["num_free"]  # type: ignore[no-any-return]
