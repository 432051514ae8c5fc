"""The best assignment so far, kept without copying it at every improvement.

Fewest zero factors come first, then the score. ``best`` is brought up to date only when the search leaves
the best assignment, and then only in the variables flipped since the last time: the cost is part of the
flips' own.
"""

from __future__ import annotations

from beacon.search.jit import inlined, kernel
from beacon.search.state import MAX_EVENTS, SearchState

TOLERANCE = 1e-9


@inlined
def is_better(state: SearchState) -> bool:
    """Is the current assignment better than the best?"""
    counters = state.counters[0]
    if counters["zeros"] != counters["best_zeros"]:
        return bool(counters["zeros"] < counters["best_zeros"])
    return bool(counters["score"] > counters["best_score"] + TOLERANCE)


@inlined
def note_best(state: SearchState) -> None:
    """Take the current assignment as the best, and record the improvement."""
    counters = state.counters[0]
    counters["best_score"] = counters["score"]
    counters["best_zeros"] = counters["zeros"]
    counters["best_step"] = counters["steps"]
    counters["best_is_current"] = True
    event = min(counters["num_events"], MAX_EVENTS - 1)
    state.event_steps[event] = counters["steps"]
    state.event_scores[event] = counters["score"]
    state.event_zeros[event] = counters["zeros"]
    counters["num_events"] = event + 1


@inlined
def note_change(state: SearchState, variable: int) -> None:
    """Remember that a variable has been flipped."""
    if not state.is_changed[variable]:
        counters = state.counters[0]
        state.is_changed[variable] = True
        state.changed[counters["num_changed"]] = variable
        counters["num_changed"] += 1


@inlined
def save_best(state: SearchState) -> None:
    """If the assignment is the best, copy to ``best`` what has changed since it was last saved."""
    counters = state.counters[0]
    if counters["best_is_current"]:
        for k in range(counters["num_changed"]):
            variable = state.changed[k]
            state.best[variable] = state.assignment[variable]
            state.is_changed[variable] = False
        counters["num_changed"] = 0
        counters["best_is_current"] = False


@inlined
def note_all_changed(state: SearchState) -> None:
    """Remember that any free variable may have been changed, as by a restart."""
    for variable in range(len(state.assignment)):
        if state.is_free[variable]:
            note_change(state, variable)


@kernel
def first_best(state: SearchState) -> None:
    """Begin the record with the current assignment."""
    counters = state.counters[0]
    for variable in range(len(state.assignment)):
        state.best[variable] = state.assignment[variable]
        state.is_changed[variable] = False
    counters["num_changed"] = 0
    note_best(state)
    counters["best_is_current"] = False


@kernel
def store_best(state: SearchState) -> None:
    """:func:`save_best` for Python to call, so that ``best`` holds the best assignment.

    The assignment stays the best one, so a later call of :func:`save_best` is not needed for it.
    """
    save_best(state)
