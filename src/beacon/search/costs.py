"""What each factor could still gain: costs relative to the best entry that the evidence leaves possible."""

from __future__ import annotations

import numpy as np

from beacon.model.flat import FlatModel
from beacon.search.jit import inlined, kernel
from beacon.search.state import SearchState


@inlined
def _is_observed(model: FlatModel, state: SearchState, factor: int) -> bool:
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        if not state.is_free[model.scopes[place, 0]]:
            return True
    return False


@inlined
def _is_possible(model: FlatModel, state: SearchState, factor: int, entry: int) -> bool:
    """Does an entry of a factor agree with the fixed variables?"""
    offset = entry - model.table_starts[factor]
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable, stride = model.scopes[place, 0], model.scopes[place, 1]
        value = offset // stride % model.domain_sizes[variable]
        if not state.is_free[variable] and value != state.assignment[variable]:
            return False
    return True


@inlined
def _best_possible(model: FlatModel, state: SearchState, factor: int) -> float:
    """The largest log-potential of a factor under the evidence. Cost: the size of its table."""
    top = -np.inf
    observed = _is_observed(model, state, factor)
    for entry in range(model.table_starts[factor], model.table_starts[factor + 1]):
        log_potential = model.log_table[entry]
        if log_potential > top and (not observed or _is_possible(model, state, factor, entry)):
            top = log_potential
    return top


@kernel
def set_tops(model: FlatModel, state: SearchState) -> None:
    """Find the factors' maxima; an assignment that reaches their sum is optimal. Cost: all table entries."""
    bound = 0.0
    for factor in range(len(state.entries)):
        state.tops[factor] = _best_possible(model, state, factor)
        bound += state.tops[factor]
    state.counters[0]["upper_bound"] = bound
