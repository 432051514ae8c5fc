"""The best assignment so far, kept without copying it at every improvement.

Fewest zero factors come first, then the score, in each independent part of the query by itself. ``best`` is
brought up to date only when the search leaves a part's best assignment, and then only in the variables
flipped since the last time: the cost is part of the flips' own.
"""

from __future__ import annotations

from typing import Any

from beacon.engine.core import MAX_EVENTS, SearchState
from beacon.jit import inlined, kernel


@inlined
def is_better(part: Any) -> bool:
    """Is the current assignment of a part better than its best?"""
    if part["zeros"] != part["best_zeros"]:
        return bool(part["zeros"] < part["best_zeros"])
    return bool(part["score"] > part["best_score"] + part["tolerance"])


@inlined
def note_best(state: SearchState, part: Any) -> None:
    """Take the current assignment of a part as its best, and record the improvement."""
    counters = state.counters[0]
    counters["best_score"] += part["score"] - part["best_score"]
    counters["best_zeros"] += part["zeros"] - part["best_zeros"]
    counters["best_step"] = counters["steps"]
    part["best_score"] = part["score"]
    part["best_zeros"] = part["zeros"]
    part["best_is_current"] = True
    _record(state)


@inlined
def note_improvement(state: SearchState, part: Any, score: float, zeros: int) -> None:
    """The best assignment of a part, not the current one, has become better by so much: record it."""
    counters = state.counters[0]
    part["best_score"] += score
    part["best_zeros"] += zeros
    counters["best_score"] += score
    counters["best_zeros"] += zeros
    counters["best_step"] = counters["steps"]
    _record(state)


@inlined
def floored_best(state: SearchState) -> float:
    """The floored score of the best assignment."""
    counters = state.counters[0]
    return counters["best_score"] + counters["best_zeros"] * counters["log_zero"]  # type: ignore[no-any-return]


@inlined
def floored_current(state: SearchState) -> float:
    """The floored score of the current assignment. Cost: the number of parts."""
    counters = state.counters[0]
    score, zeros = counters["fixed_score"], counters["fixed_zeros"]
    for part in range(len(state.parts)):
        score += state.parts[part]["score"]
        zeros += state.parts[part]["zeros"]
    return score + zeros * counters["log_zero"]  # type: ignore[no-any-return]


@inlined
def _record(state: SearchState) -> None:
    counters = state.counters[0]
    event = min(counters["num_events"], MAX_EVENTS - 1)
    state.event_steps[event] = counters["steps"]
    state.event_scores[event] = floored_best(state)
    state.event_zeros[event] = counters["best_zeros"]
    counters["num_events"] = event + 1


@inlined
def note_change(state: SearchState, part: Any, variable: int) -> None:
    """Remember that a variable of a part has been flipped."""
    if not state.is_changed[variable]:
        state.is_changed[variable] = True
        state.changed[part["first_changed"] + part["num_changed"]] = variable
        part["num_changed"] += 1


@inlined
def save_best(state: SearchState, part: Any) -> None:
    """If a part is at its best, copy to ``best`` what has changed in it since it was last saved."""
    if part["best_is_current"]:
        for k in range(part["first_changed"], part["first_changed"] + part["num_changed"]):
            variable = state.changed[k]
            state.best[variable] = state.assignment[variable]
            state.is_changed[variable] = False
        part["num_changed"] = 0
        part["best_is_current"] = False


@kernel
def save_all_best(state: SearchState) -> None:
    """Bring ``best`` up to date in all parts. Cost: what has changed."""
    for part in range(len(state.parts)):
        save_best(state, state.parts[part])


@kernel
def note_all_changed(state: SearchState) -> None:
    """After a rebuild from another assignment: any free variable may have changed, and a part improved."""
    for variable in range(len(state.assignment)):
        if state.is_free[variable]:
            note_change(state, state.parts[state.part_of[variable]], variable)
    for part in range(len(state.parts)):
        if is_better(state.parts[part]):
            note_best(state, state.parts[part])


@kernel
def first_best(state: SearchState) -> None:
    """Begin the record with the current assignment."""
    counters = state.counters[0]
    counters["best_score"] = counters["fixed_score"]
    counters["best_zeros"] = counters["fixed_zeros"]
    for variable in range(len(state.assignment)):
        state.best[variable] = state.assignment[variable]
    for k in range(len(state.parts)):
        part = state.parts[k]
        part["best_score"] = part["score"]
        part["best_zeros"] = part["zeros"]
        counters["best_score"] += part["score"]
        counters["best_zeros"] += part["zeros"]
    _record(state)
