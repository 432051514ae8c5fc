"""GLS+: climb the penalised score; at its local optima penalise the entries most worth it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import CoreState, rebuild
from beacon.engine.flip import Utilities, climb
from beacon.engine.incumbent import (
    EPSILON,
    RUNNING,
    STALLED,
    Limits,
    harvest_clusters,
    may_continue,
    outcome,
    restart,
)
from beacon.engine.max_tree import LOWEST, build_tree, collect_top, level_starts, set_leaf, tree_top
from beacon.jit import called, inlined, kernel
from beacon.model.flat import FlatModel

LANDSCAPE_SHARE = 0.25  # of the median loss
LEAST_SHARE = 1e-3  # of the weight by tables: where most variables lose nothing, the median says nothing


class GlsConstants(NamedTuple):
    """The numbers of GLS+ as its kernel takes them."""

    weight: float
    """What one unit of penalty costs, in nats."""
    by_landscape: bool
    """Is the weight found at the first local optimum? ``weight`` stands in where that says nothing."""
    smoothing: float
    """What all penalties are multiplied by now and then."""
    smoothing_interval: int
    """Local optima between two smoothings; 0: never."""
    restart_interval: int
    """Steps between two restarts; 0: never."""
    restart_idle: float
    """Restart after this many steps per free variable without a new best; 0: never."""
    harvest_share: float
    """Work on looking for better clusters, as a share of the other work; 0: none."""
    relative_utilities: bool
    """Count costs from the best entry of the same table, or from probability one as published."""


class GlsState(NamedTuple):
    """What GLS+ remembers beside the core, whose ``table`` holds the penalised log-potentials."""

    weight: NDArray[np.float64]
    """[1] what one unit of penalty costs, in nats; 0: not known before the first local optimum."""
    next_harvest: NDArray[np.int64]
    """[1] the work from which better clusters are next looked for."""
    penalties: NDArray[np.float32]
    """[entries]"""
    utilities: Utilities
    """What penalising each entry would be worth: cost / (1 + penalty)."""
    tied_factors: NDArray[np.int32]
    """[factors] room for the factors of one penalty round."""
    cluster: NDArray[np.int32]
    """[variables] room for one cluster."""


def new_gls_state(model: FlatModel, core: CoreState, constants: GlsConstants) -> GlsState:
    """A search without penalties so far."""
    levels = level_starts(model.num_factors)
    utilities = Utilities(
        of_entries=np.empty(len(model.log_table), dtype=np.float32),
        tree=np.full(levels[-1], LOWEST, dtype=np.float32),
        levels=levels,
    )
    own = GlsState(
        weight=np.array([0.0 if constants.by_landscape else constants.weight]),
        next_harvest=np.zeros(1, dtype=np.int64),
        penalties=np.empty(len(model.log_table), dtype=np.float32),
        utilities=utilities,
        tied_factors=np.empty(model.num_factors, dtype=np.int32),
        cluster=np.empty(model.num_variables, dtype=np.int32),
    )
    clear_penalties(model, core, own, constants)
    return own


@inlined
def _has_free_variable(model: FlatModel, core: CoreState, factor: int) -> bool:
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        if core.is_free[model.scopes[place, 0]]:
            return True
    return False


@inlined
def _top(model: FlatModel, core: CoreState, constants: GlsConstants, factor: int) -> float:
    """What a factor's costs are counted from."""
    if constants.relative_utilities or not _has_free_variable(model, core, factor):
        return core.tops[factor]  # type: ignore[no-any-return]
    return 0.0


@inlined
def _utility(model: FlatModel, own: GlsState, top: float, entry: int) -> np.float32:
    """Cost of an entry over 1 + its penalty, in single precision so that equal costs tie exactly."""
    cost = max(0.0, top - model.log_table[entry])
    return np.float32(cost / (1.0 + float(own.penalties[entry])))


@kernel
def clear_penalties(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants) -> None:
    """Begin without penalties. Cost: all table entries."""
    for factor in range(len(core.tops)):
        top = _top(model, core, constants, factor)
        for entry in range(model.table_starts[factor], model.table_starts[factor + 1]):
            core.table[entry] = model.log_table[entry]
            own.penalties[entry] = 0
            own.utilities.of_entries[entry] = _utility(model, own, top, entry)


@kernel
def rebuild_utilities(core: CoreState, own: GlsState) -> None:
    """Find the utility of every factor's current entry anew. Cost: the number of factors."""
    for factor in range(len(core.entries)):
        own.utilities.tree[factor] = own.utilities.of_entries[core.entries[factor]]
    build_tree(own.utilities.tree, own.utilities.levels)


@inlined
def _penalise_entry(
    model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants, factor: int
) -> None:
    """One unit more for a factor's current entry. Cost: the factor's variables."""
    entry, weight = core.entries[factor], own.weight[0]
    own.penalties[entry] += np.float32(1)
    core.table[entry] -= weight
    utility = _utility(model, own, _top(model, core, constants, factor), entry)
    own.utilities.of_entries[entry] = utility
    set_leaf(own.utilities.tree, own.utilities.levels, factor, utility)
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if core.is_free[variable]:
            core.local_scores[model.move_starts[variable] + core.assignment[variable]] -= weight
            set_leaf(core.gains, core.gain_levels, variable, core.gains[variable] + weight)


@called
def _smooth_penalties(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants) -> None:
    """Let all penalties fade a little. Cost: all table entries and links."""
    rate = np.float32(constants.smoothing)
    for factor in range(len(core.entries)):
        top = _top(model, core, constants, factor)
        for entry in range(model.table_starts[factor], model.table_starts[factor + 1]):
            if own.penalties[entry] > 0:
                own.penalties[entry] *= rate
                penalty = own.weight[0] * float(own.penalties[entry])
                core.table[entry] = model.log_table[entry] - penalty
                own.utilities.of_entries[entry] = _utility(model, own, top, entry)
    rebuild(model, core)
    rebuild_utilities(core, own)


@called
def _median_loss(core: CoreState) -> float:
    """The median, over free variables, of what the best other value loses. Cost: 40 times the variables."""
    low, high, num_free = 0.0, 0.0, core.counters[0]["num_free"]
    for i in range(len(core.assignment)):
        if core.is_free[i]:
            high = max(high, -core.gains[i])
    for _ in range(40):
        middle, below = (low + high) / 2, 0
        for i in range(len(core.assignment)):
            below += core.is_free[i] and -core.gains[i] <= middle
        if 2 * below >= num_free:
            high = middle
        else:
            low = middle
    return high


@inlined
def _find_weight(core: CoreState, own: GlsState, constants: GlsConstants) -> None:
    """At the first local optimum: a part of what leaving it takes at a typical variable."""
    weight = LANDSCAPE_SHARE * _median_loss(core)
    own.weight[0] = weight if weight > LEAST_SHARE * constants.weight else constants.weight


@inlined
def _penalise(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants) -> int:
    """Smooth when due, then penalise all entries of the largest utility; return their number."""
    counters, interval = core.counters[0], constants.smoothing_interval
    if interval > 0 and counters["local_optima"] % interval == 0:
        _smooth_penalties(model, core, own, constants)
        counters["work"] += len(model.scopes)
    num_tied = collect_top(own.utilities.tree, own.utilities.levels, own.tied_factors)
    for k in range(num_tied):
        _penalise_entry(model, core, own, constants, own.tied_factors[k])
    return num_tied


@inlined
def restart_is_due(core: CoreState, constants: GlsConstants) -> bool:
    """Is it time for a regular restart, or for one because nothing better has come?"""
    counters, interval = core.counters[0], constants.restart_interval
    if interval > 0 and counters["steps"] % interval == 0:
        return True
    idle_steps = counters["steps"] - max(counters["best_step"], counters["last_restart"])
    limit = constants.restart_idle * counters["num_free"]
    return bool(limit > 0 and idle_steps >= limit)


@inlined
def _harvest_if_due(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants) -> None:
    """At a local optimum, now and then, give the best assignment what is better here."""
    counters, share = core.counters[0], constants.harvest_share
    if share > 0 and counters["work"] >= own.next_harvest[0]:
        work = harvest_clusters(model, core, own.cluster)
        counters["work"] += work
        own.next_harvest[0] = counters["work"] + int(work / share)


@inlined
def leave_optimum(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants) -> int:
    """Penalise at a local optimum; return how many of ``tied_factors`` were, 0 if no entry is worth it."""
    counters = core.counters[0]
    counters["local_optima"] += 1
    if tree_top(own.utilities.tree, own.utilities.levels) <= 0:
        return 0
    counters["work"] += 2
    if own.weight[0] == 0.0:
        _find_weight(core, own, constants)
    _harvest_if_due(model, core, own, constants)
    return _penalise(model, core, own, constants)


@called
def _start_afresh(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants) -> None:
    """Restart at random without penalties."""
    clear_penalties(model, core, own, constants)
    restart(model, core)
    rebuild_utilities(core, own)


@kernel
def run_gls(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants, limits: Limits) -> int:
    """Climb and penalise until a limit is reached."""
    counters = core.counters[0]
    verdict = outcome(core, limits)
    while verdict == RUNNING and may_continue(core, limits):
        if tree_top(core.gains, core.gain_levels) > EPSILON:
            climb(model, core, own.utilities)
            if restart_is_due(core, constants):
                _start_afresh(model, core, own, constants)
        elif leave_optimum(model, core, own, constants) == 0:
            return STALLED
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(core, limits)
    return verdict
