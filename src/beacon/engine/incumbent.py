"""The best assignment so far, kept without copying it at every improvement, and what ends a kernel's call.

Fewest zero factors come first, then the score, in each independent part of the query by itself. ``best`` is
brought up to date only when the search leaves a part's best assignment, and then only in the variables
flipped since the last time: the cost is part of the flips' own.

The best also takes over *clusters* of the current assignment, without the search leaving it. A cluster is a
set of variables in which the two differ and that factors join. No factor touches two of them, so each is
judged by itself: a search need not be at its best everywhere at once to be remembered where it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import MAX_EVENTS, CoreState, randomise, rebuild
from beacon.jit import called, inlined, kernel
from beacon.model.flat import FlatModel

RUNNING, OPTIMAL, STALLED, TARGET = range(4)
EPSILON = 1e-9  # a gain must exceed this to count
Members = NDArray[np.int32]
"""[variables] room for the variables of one cluster."""


class Limits(NamedTuple):
    """Where a kernel must return to its caller."""

    steps: int
    """Stop when the search has made this many steps in all."""
    work: int
    """Stop when the search has done this much work (links looked at) in all."""
    target: float
    """Stop when a feasible assignment of this floored score is known."""


@inlined
def may_continue(core: CoreState, limits: Limits) -> bool:
    """Has the kernel room for one more step?"""
    counters = core.counters[0]
    return bool(
        counters["steps"] < limits.steps
        and counters["work"] < limits.work
        and counters["num_events"] < MAX_EVENTS
    )


@inlined
def outcome(core: CoreState, limits: Limits) -> int:
    """OPTIMAL or TARGET if the best assignment is good enough to stop, else RUNNING."""
    counters = core.counters[0]
    if floored_best(core) >= counters["upper_bound"] - EPSILON:
        return OPTIMAL
    if counters["best_zeros"] == 0 and counters["best_score"] >= limits.target - EPSILON:
        return TARGET
    return RUNNING


@inlined
def is_better(part: Any) -> bool:
    """Is the current assignment of a part better than its best?"""
    if part["zeros"] != part["best_zeros"]:
        return bool(part["zeros"] < part["best_zeros"])
    return bool(part["score"] > part["best_score"] + part["tolerance"])


@inlined
def note_best(core: CoreState, part: Any) -> None:
    """Take the current assignment of a part as its best, and record the improvement."""
    counters = core.counters[0]
    counters["best_score"] += part["score"] - part["best_score"]
    counters["best_zeros"] += part["zeros"] - part["best_zeros"]
    counters["best_step"] = counters["steps"]
    part["best_score"] = part["score"]
    part["best_zeros"] = part["zeros"]
    part["best_is_current"] = True
    _record(core)


@inlined
def note_improvement(core: CoreState, part: Any, score: float, zeros: int) -> None:
    """The best assignment of a part, not the current one, has become better by so much: record it."""
    counters = core.counters[0]
    part["best_score"] += score
    part["best_zeros"] += zeros
    counters["best_score"] += score
    counters["best_zeros"] += zeros
    counters["best_step"] = counters["steps"]
    _record(core)


@inlined
def floored_best(core: CoreState) -> float:
    """The floored score of the best assignment."""
    counters = core.counters[0]
    return counters["best_score"] + counters["best_zeros"] * counters["log_zero"]  # type: ignore[no-any-return]


def floored_best_of(core: CoreState) -> float:
    """:func:`floored_best` for Python to call."""
    counters = core.counters[0]
    return float(counters["best_score"] + counters["best_zeros"] * counters["log_zero"])


@inlined
def _record(core: CoreState) -> None:
    counters = core.counters[0]
    event = min(counters["num_events"], MAX_EVENTS - 1)
    core.events[event]["step"] = counters["steps"]
    core.events[event]["score"] = floored_best(core)
    core.events[event]["zeros"] = counters["best_zeros"]
    counters["num_events"] = event + 1


@inlined
def note_change(core: CoreState, part: Any, variable: int) -> None:
    """Remember that a variable of a part has been flipped."""
    if not core.is_changed[variable]:
        core.is_changed[variable] = True
        core.changed[part["first_changed"] + part["num_changed"]] = variable
        part["num_changed"] += 1


@inlined
def save_best(core: CoreState, part: Any) -> None:
    """If a part is at its best, copy to ``best`` what has changed in it since it was last saved."""
    if part["best_is_current"]:
        for k in range(part["first_changed"], part["first_changed"] + part["num_changed"]):
            variable = core.changed[k]
            core.best[variable] = core.assignment[variable]
            core.is_changed[variable] = False
        part["num_changed"] = 0
        part["best_is_current"] = False


@kernel
def save_all_best(core: CoreState) -> None:
    """Bring ``best`` up to date in all parts. Cost: what has changed."""
    for part in range(len(core.parts)):
        save_best(core, core.parts[part])


@kernel
def note_all_changed(core: CoreState) -> None:
    """After a rebuild from another assignment: any free variable may have changed, and a part improved."""
    for variable in range(len(core.assignment)):
        if core.is_free[variable]:
            note_change(core, core.parts[core.part_of[variable]], variable)
    for part in range(len(core.parts)):
        if is_better(core.parts[part]):
            note_best(core, core.parts[part])


@kernel
def first_best(core: CoreState) -> None:
    """Begin the record with the current assignment."""
    counters = core.counters[0]
    counters["best_score"] = counters["fixed_score"]
    counters["best_zeros"] = counters["fixed_zeros"]
    for variable in range(len(core.assignment)):
        core.best[variable] = core.assignment[variable]
    for k in range(len(core.parts)):
        part = core.parts[k]
        part["best_score"] = part["score"]
        part["best_zeros"] = part["zeros"]
        counters["best_score"] += part["score"]
        counters["best_zeros"] += part["zeros"]
    _record(core)


@inlined
def _next_patience(core: CoreState) -> None:
    """The next of 1, 1, 2, 1, 1, 2, 4, 1 ...: as good as any for searches of which nothing is known."""
    counters = core.counters[0]
    turn, patience = counters["restart_turn"], counters["patience"]
    if turn & -turn == patience:
        counters["restart_turn"], counters["patience"] = turn + 1, 1
    else:
        counters["patience"] = 2 * patience


@inlined
def begin_again(model: FlatModel, core: CoreState) -> None:
    """Go on from an assignment that was put in place of the current one. Cost: that of a rebuild."""
    rebuild(model, core)
    _next_patience(core)
    core.counters[0]["last_restart"] = core.counters[0]["steps"]
    core.counters[0]["work"] += len(model.scopes)
    note_all_changed(core)


@inlined
def restart(model: FlatModel, core: CoreState) -> None:
    """Go on from a uniformly random assignment. Cost: that of a rebuild."""
    save_all_best(core)
    randomise(model, core)
    begin_again(model, core)


@inlined
def _reach(core: CoreState, members: Members, variable: int, stamp: int, length: int) -> int:
    """Put a variable into the cluster if it differs and is in none yet; return the cluster's new length."""
    if core.assignment[variable] != core.best[variable] and core.stamps[variable] != stamp:
        core.stamps[variable] = stamp
        members[length] = variable
        length += 1
    return length


@inlined
def _grow_cluster(model: FlatModel, core: CoreState, members: Members, seed: int, stamp: int) -> int:
    """Fill ``members`` with the cluster of a variable; 0 if it does not differ or was seen before."""
    head, length = 0, _reach(core, members, seed, stamp, 0)
    while head < length:
        variable = members[head]
        head += 1
        for k in range(model.neighbour_starts[variable], model.neighbour_starts[variable + 1]):
            length = _reach(core, members, model.neighbours[k], stamp, length)
    return length


@inlined
def _change(model: FlatModel, current: int, best: int) -> tuple[float, int]:
    """What a factor's current entry has over its entry in the best assignment: score, and zeros."""
    is_zero, was_zero = model.log_table[current] == model.log_zero, model.log_table[best] == model.log_zero
    score = (0.0 if is_zero else model.log_table[current]) - (0.0 if was_zero else model.log_table[best])
    return score, is_zero * 1 - was_zero * 1


@inlined
def _change_of_pair(model: FlatModel, core: CoreState, link: int, variable: int) -> tuple[float, int]:
    """The change of a pair's factor; none if the other variable, which comes first, counts it."""
    other, stride = model.pairs[link, 2], model.pairs[link, 1]
    current = model.bases[model.pairs[link, 0]] + core.assignment[variable] * stride
    best = current + (core.best[variable] - core.assignment[variable]) * stride
    if other >= 0:
        change = core.best[other] - core.assignment[other]
        if other < variable and change != 0:
            return 0.0, 0
        current += core.assignment[other] * model.pairs[link, 3]
        best += core.best[other] * model.pairs[link, 3]
    return _change(model, current, best)


@inlined
def _change_of_wide(model: FlatModel, core: CoreState, factor: int, variable: int) -> tuple[float, int]:
    """The change of a wide factor; none if another variable, first in its scope, counts it."""
    current, shift, is_first = model.bases[factor], 0, True
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        other, stride = model.scopes[place, 0], model.scopes[place, 1]
        value = core.assignment[other]
        change = core.best[other] - value
        if change != 0:
            if is_first and other != variable:
                return 0.0, 0
            is_first = False
            shift += change * stride
        current += value * stride
    return _change(model, current, current + shift)


@inlined
def _cluster_gain(model: FlatModel, core: CoreState, members: Members, length: int) -> tuple[float, int, int]:
    """What the best assignment would gain by the cluster's current values: score, zeros, and the work."""
    score, zeros, work = 0.0, 0, 0
    for k in range(length):
        variable = members[k]
        for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
            more, more_zeros = _change_of_pair(model, core, link, variable)
            score += more
            zeros += more_zeros
        for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
            more, more_zeros = _change_of_wide(model, core, model.wides[link, 0], variable)
            score += more
            zeros += more_zeros
        work += model.pair_starts[variable + 1] - model.pair_starts[variable]
        work += 2 * (model.wide_starts[variable + 1] - model.wide_starts[variable])
    return score, zeros, work


@inlined
def _harvest_part(model: FlatModel, core: CoreState, members: Members, part: Any, stamp: int) -> int:
    """Look at all clusters of a part; return the work done."""
    work = part["num_changed"]
    for k in range(part["first_changed"], part["first_changed"] + part["num_changed"]):
        length = _grow_cluster(model, core, members, core.changed[k], stamp)
        if length > 0:
            score, zeros, more_work = _cluster_gain(model, core, members, length)
            work += more_work
            if zeros < 0 or (zeros == 0 and score > part["tolerance"]):
                for place in range(length):
                    core.best[members[place]] = core.assignment[members[place]]
                note_improvement(core, part, score, zeros)
    return work  # type: ignore[no-any-return]


@called
def harvest_clusters(model: FlatModel, core: CoreState, members: Members) -> int:
    """Give the best assignment every cluster of the current one that is better; return the work done.

    Cost: the links of the variables in which the two differ, and the number of changed variables.
    """
    counters, work = core.counters[0], len(core.parts)
    counters["stamp"] += 1
    for k in range(len(core.parts)):
        part = core.parts[k]
        if part["best_is_current"]:
            save_best(core, part)
        else:
            work += _harvest_part(model, core, members, part, counters["stamp"])
    return work
