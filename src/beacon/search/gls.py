"""GLS+: climb the penalised score; at its local optima penalise what is worth it most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beacon.model.flat import FlatModel
from beacon.search.flip import best_value, flip
from beacon.search.jit import inlined, kernel
from beacon.search.max_tree import collect_top, pick_top, set_leaf, tree_top
from beacon.search.state import MAX_EVENTS, SearchState, rebuild

EPS = 1e-9


class GlsKernelSettings(NamedTuple):
    weight: float


@kernel
def reset_penalties(model: FlatModel, state: SearchState) -> None:
    """Clear all penalties; costs are relative to the best entry that the evidence leaves possible."""
    counters = state.counters[0]
    counters["upper_bound"] = 0.0
    for factor in range(len(state.entries)):
        begin, end = model.table_starts[factor], model.table_starts[factor + 1]
        top = -np.inf
        for entry in range(begin, end):
            possible = True
            for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
                variable, stride = model.scopes[place, 0], model.scopes[place, 1]
                value = (entry - begin) // stride % model.domain_sizes[variable]
                if not state.is_free[variable] and value != state.assignment[variable]:
                    possible = False
            if possible and model.log_table[entry] > top:
                top = model.log_table[entry]
        counters["upper_bound"] += top
        for entry in range(begin, end):
            state.penalised_table[entry] = model.log_table[entry]
            state.penalties[entry] = 0
            state.utilities[entry] = max(0.0, top - model.log_table[entry])


@inlined
def _penalise(model: FlatModel, state: SearchState, weight: float) -> None:
    count = collect_top(state.factor_utilities, state.utility_levels, state.tied_factors)
    for k in range(count):
        factor = state.tied_factors[k]
        entry = state.entries[factor]
        penalty = state.penalties[entry]
        state.penalties[entry] = penalty + np.float32(1)
        state.penalised_table[entry] -= weight
        utility = state.utilities[entry] * (penalty + np.float32(1)) / (penalty + np.float32(2))
        state.utilities[entry] = utility
        set_leaf(state.factor_utilities, state.utility_levels, factor, utility)
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            variable = model.scopes[place, 0]
            if state.is_free[variable]:
                state.local_scores[model.move_starts[variable] + state.assignment[variable]] -= weight
                set_leaf(state.gains, state.gain_levels, variable, state.gains[variable] + weight)


@kernel
def run_gls(model: FlatModel, state: SearchState, weight: float, max_steps: int, max_work: int) -> int:
    counters = state.counters[0]
    work = 0
    while counters["steps"] < max_steps and work < max_work and counters["num_events"] < MAX_EVENTS:
        work += 1
        if tree_top(state.gains, state.gain_levels) > EPS:
            variable = pick_top(state.gains, state.gain_levels, EPS, state.rng)
            flip(model, state, variable, best_value(model, state, variable), True)
        else:
            counters["local_optima"] += 1
            if counters["score"] >= counters["upper_bound"] - EPS:
                return 1
            _penalise(model, state, weight)
    return 0
