"""GLS+: climb the penalised score; at its local optima penalise the entries most worth it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beacon.engine.core import SearchState, rebuild
from beacon.engine.flip import climb
from beacon.engine.limits import EPSILON, RUNNING, STALLED, Limits, may_continue, outcome
from beacon.engine.max_tree import collect_top, set_leaf, tree_top
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.strategies.gls.clusters import harvest_clusters
from beacon.strategies.greedy import restart


class GlsConstants(NamedTuple):
    """The numbers of GLS+ as its kernel takes them."""

    weight: float
    """What one unit of penalty costs, in nats."""
    smoothing: float
    """What all penalties are multiplied by now and then."""
    smoothing_interval: int
    """Local optima between two smoothings; 0: never."""
    restart_interval: int
    """Steps between two restarts; 0: never."""
    restart_idle: float
    """Restart after so many steps per free variable without a new best; 0: never."""
    harvest_share: float
    """Work on looking for better clusters, as a share of the other work; 0: none."""
    relative_utilities: bool
    """Count costs from the best entry of the same table, or from probability one as published."""


@inlined
def _has_free_variable(model: FlatModel, state: SearchState, factor: int) -> bool:
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        if state.is_free[model.scopes[place, 0]]:
            return True
    return False


@inlined
def _utility(
    model: FlatModel, state: SearchState, constants: GlsConstants, factor: int, entry: int
) -> np.float32:
    """Cost of an entry over 1 + its penalty, in single precision so that equal costs tie exactly."""
    top = state.tops[factor]
    if not constants.relative_utilities and _has_free_variable(model, state, factor):
        top = 0.0
    cost = max(0.0, top - model.log_table[entry])
    return np.float32(cost / (1.0 + float(state.penalties[entry])))


@kernel
def clear_penalties(model: FlatModel, state: SearchState, constants: GlsConstants) -> None:
    """Begin without penalties. Cost: all table entries."""
    for factor in range(len(state.entries)):
        for entry in range(model.table_starts[factor], model.table_starts[factor + 1]):
            state.penalised_table[entry] = model.log_table[entry]
            state.penalties[entry] = 0
            state.utilities[entry] = _utility(model, state, constants, factor, entry)


@inlined
def _penalise_entry(model: FlatModel, state: SearchState, constants: GlsConstants, factor: int) -> None:
    """One unit more for a factor's current entry. Cost: the factor's variables."""
    entry, weight = state.entries[factor], constants.weight
    state.penalties[entry] += np.float32(1)
    state.penalised_table[entry] -= weight
    utility = _utility(model, state, constants, factor, entry)
    state.utilities[entry] = utility
    set_leaf(state.factor_utilities, state.utility_levels, factor, utility)
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if state.is_free[variable]:
            state.local_scores[model.move_starts[variable] + state.assignment[variable]] -= weight
            set_leaf(state.gains, state.gain_levels, variable, state.gains[variable] + weight)


@kernel
def smooth_penalties(model: FlatModel, state: SearchState, constants: GlsConstants) -> None:
    """Let all penalties fade a little. Cost: all table entries and links."""
    rate = np.float32(constants.smoothing)
    for factor in range(len(state.entries)):
        for entry in range(model.table_starts[factor], model.table_starts[factor + 1]):
            if state.penalties[entry] > 0:
                state.penalties[entry] *= rate
                penalty = constants.weight * float(state.penalties[entry])
                state.penalised_table[entry] = model.log_table[entry] - penalty
                state.utilities[entry] = _utility(model, state, constants, factor, entry)
    rebuild(model, state)


@inlined
def _penalise(model: FlatModel, state: SearchState, constants: GlsConstants) -> int:
    """Smooth when due, then penalise all entries of the largest utility; return their number."""
    counters = state.counters[0]
    interval = constants.smoothing_interval
    if interval > 0 and counters["local_optima"] % interval == 0:
        smooth_penalties(model, state, constants)
        counters["work"] += len(model.scopes)
    num_tied = collect_top(state.factor_utilities, state.utility_levels, state.tied_factors)
    for k in range(num_tied):
        _penalise_entry(model, state, constants, state.tied_factors[k])
    return num_tied


@inlined
def restart_is_due(state: SearchState, constants: GlsConstants) -> bool:
    """Is it time for a regular restart, or for one because nothing better has come?"""
    counters, interval = state.counters[0], constants.restart_interval
    if interval > 0 and counters["steps"] % interval == 0:
        return True
    idle_steps = counters["steps"] - max(counters["best_step"], counters["last_restart"])
    limit = constants.restart_idle * counters["num_free"]
    return bool(limit > 0 and idle_steps >= limit)


@inlined
def _harvest_if_due(model: FlatModel, state: SearchState, constants: GlsConstants) -> None:
    """At a local optimum, now and then, give the best assignment what is better here."""
    counters, share = state.counters[0], constants.harvest_share
    if share > 0 and counters["work"] >= counters["next_harvest"]:
        work = harvest_clusters(model, state)
        counters["work"] += work
        counters["next_harvest"] = counters["work"] + int(work / share)


@inlined
def leave_optimum(model: FlatModel, state: SearchState, constants: GlsConstants) -> int:
    """Penalise at a local optimum; return how many of ``tied_factors`` were, 0 if no entry is worth it."""
    counters = state.counters[0]
    counters["local_optima"] += 1
    if tree_top(state.factor_utilities, state.utility_levels) <= 0:
        return 0
    counters["work"] += 2
    _harvest_if_due(model, state, constants)
    return _penalise(model, state, constants)


@kernel
def run_gls(model: FlatModel, state: SearchState, constants: GlsConstants, limits: Limits) -> int:
    """Climb and penalise until a limit is reached."""
    counters = state.counters[0]
    verdict = outcome(state, limits)
    while verdict == RUNNING and may_continue(state, limits):
        if tree_top(state.gains, state.gain_levels) > EPSILON:
            climb(model, state, True)
            if restart_is_due(state, constants):
                clear_penalties(model, state, constants)
                restart(model, state)
        elif leave_optimum(model, state, constants) == 0:
            return STALLED
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(state, limits)
    return verdict
