"""A start by messages: each variable takes the value that a few passes of max-product messages prefer.

A message tells a variable, for each of its values, the best that the other side of a factor can then do, by
what that side has heard so far. On graphs with cycles that is no more than a good guess. Factors of three or
more variables count as they are at a constructed assignment.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.construct import construct_assignment
from beacon.engine.core import CoreState
from beacon.engine.cross import cross_opinions
from beacon.engine.incumbent import EPSILON
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel, once_per_model

MOST_PASSES = 20
MAX_SHARE = 0.3  # of a time limit, for all passes
SECONDS_PER_ENTRY = 3e-9
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


def begin_by_messages(model: FlatModel, core: CoreState, most: int = MOST_PASSES) -> None:
    """Put a start by messages in place, crossed with a constructed one.

    Cost: ``most`` times all table entries of factors of two variables, twice.
    """
    construct_assignment(model, core)
    links = _links(model)
    told = Told(np.zeros(links.starts[-1]), np.zeros(model.num_moves))
    _pass_messages(model, core, links, told, most)
    cross_opinions(model, core, np.empty((0, model.num_variables), dtype=np.int32))


def begin_in_time(model: FlatModel, seconds: float) -> Callable[[FlatModel, CoreState], None]:
    """A start by as many passes of messages as the time limit allows; a constructed one if that is none."""
    passes = min(MOST_PASSES, MAX_SHARE * seconds / (SECONDS_PER_ENTRY * _num_entries(model)))
    if passes < 1:
        return construct_assignment
    return partial(begin_by_messages, most=int(passes))


@once_per_model
def _num_entries(model: FlatModel) -> int:
    """The table entries that one pass looks at."""
    of_two = model.pairs[:, 2] >= 0
    owners = np.repeat(np.arange(model.num_variables), np.diff(model.pair_starts))[of_two]
    sizes = model.domain_sizes.astype(np.int64)
    return max(1, int((sizes[owners] * sizes[model.pairs[of_two, 2]]).sum()))


@once_per_model
def _links(model: FlatModel) -> Links:
    owners = np.repeat(np.arange(model.num_variables), np.diff(model.pair_starts))
    starts = np.zeros(len(owners) + 1, dtype=np.int64)
    np.cumsum(model.domain_sizes[owners], out=starts[1:])
    partners = np.full(len(owners), -1, dtype=np.int64)
    of_two = np.flatnonzero(model.pairs[:, 2] >= 0)
    by_factor = of_two[np.argsort(model.pairs[of_two, 0], kind="stable")]
    partners[by_factor[::2]], partners[by_factor[1::2]] = by_factor[1::2], by_factor[::2]
    return Links(starts, partners)


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
def _pass_messages(model: FlatModel, core: CoreState, links: Links, told: Told, most: int) -> None:
    """Pass messages to all free variables, to and fro, until few change their minds."""
    count, num_free = len(core.assignment), 0
    for variable in range(count):
        if core.is_free[variable]:
            num_free += 1
            _hear_fixed(model, core, told, variable)
            _hear_wide(model, core, told, variable)
    for turn in range(most):
        num_changed = 0
        for k in range(count):
            variable = k if turn % 2 == 0 else count - 1 - k
            if core.is_free[variable]:
                for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
                    other = model.pairs[link, 2]
                    if other >= 0 and core.is_free[other]:
                        _hear(model, links, told, variable, link)
                num_changed += _decide(model, core, told, variable)
        if num_changed <= SETTLED * num_free:
            break
