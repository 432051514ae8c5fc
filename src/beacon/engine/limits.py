"""What ends one call of a kernel, and what it says when it returns."""

from __future__ import annotations

from typing import NamedTuple

from beacon.engine.core import MAX_EVENTS, CoreState
from beacon.jit import inlined

RUNNING, OPTIMAL, STALLED, TARGET = range(4)
EPSILON = 1e-9  # a gain must exceed this to count


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
    floored = counters["best_score"] + counters["best_zeros"] * counters["log_zero"]
    if floored >= counters["upper_bound"] - EPSILON:
        return OPTIMAL
    if counters["best_zeros"] == 0 and counters["best_score"] >= limits.target - EPSILON:
        return TARGET
    return RUNNING
