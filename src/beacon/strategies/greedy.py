"""Greedy: best improvement, and a fresh random assignment at every local optimum."""

from __future__ import annotations

from beacon.engine.core import SearchState, randomise, rebuild
from beacon.engine.flip import climb
from beacon.engine.incumbent import note_all_changed, save_all_best
from beacon.engine.limits import EPSILON, RUNNING, STALLED, Limits, may_continue, outcome
from beacon.engine.max_tree import tree_top
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel

MAX_IDLE_RESTARTS = 1000  # so many random starts without a single improving move: nothing to search


@inlined
def restart(model: FlatModel, state: SearchState) -> None:
    """Go on from a uniformly random assignment. Cost: that of a rebuild."""
    save_all_best(state)
    randomise(model, state)
    begin_again(model, state)


@inlined
def begin_again(model: FlatModel, state: SearchState) -> None:
    """Go on from an assignment that was put in place of the current one."""
    rebuild(model, state)
    state.counters[0]["last_restart"] = state.counters[0]["steps"]
    state.counters[0]["work"] += len(model.scopes)
    note_all_changed(state)


@kernel
def run_greedy(model: FlatModel, state: SearchState, limits: Limits) -> int:
    """Climb and restart until a limit is reached."""
    counters = state.counters[0]
    verdict = outcome(state, limits)
    while verdict == RUNNING and may_continue(state, limits):
        if tree_top(state.gains, state.gain_levels) > EPSILON:
            climb(model, state, False)
            counters["idle_restarts"] = 0
        else:
            counters["local_optima"] += 1
            counters["idle_restarts"] += 1
            if counters["idle_restarts"] > MAX_IDLE_RESTARTS:
                return STALLED
            restart(model, state)
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(state, limits)
    return verdict
