"""The best assignment so far, kept without copying it at every improvement.

Fewest zero factors come first, then the score, in each independent part of the query by itself. ``best`` is
brought up to date only when the search leaves a part's best assignment, and then only in the variables
flipped since the last time: the cost is part of the flips' own.
"""

from __future__ import annotations

from typing import Any

from beacon.engine.core import MAX_EVENTS, CoreState, randomise, rebuild
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel


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
def begin_again(model: FlatModel, core: CoreState) -> None:
    """Go on from an assignment that was put in place of the current one. Cost: that of a rebuild."""
    rebuild(model, core)
    core.counters[0]["last_restart"] = core.counters[0]["steps"]
    core.counters[0]["work"] += len(model.scopes)
    note_all_changed(core)


@inlined
def restart(model: FlatModel, core: CoreState) -> None:
    """Go on from a uniformly random assignment. Cost: that of a rebuild."""
    save_all_best(core)
    randomise(model, core)
    begin_again(model, core)
