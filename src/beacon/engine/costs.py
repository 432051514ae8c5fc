"""What each factor could still gain: costs relative to the best entry that the evidence leaves possible."""

from __future__ import annotations

from beacon.engine.core import SearchState
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel


@inlined
def _first_possible(model: FlatModel, state: SearchState, factor: int) -> tuple[int, int]:
    """A factor's first entry that agrees with the fixed variables, and the number of such entries."""
    entry, count = model.table_starts[factor], 1
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if state.is_free[variable]:
            count *= model.domain_sizes[variable]
        else:
            entry += state.assignment[variable] * model.scopes[place, 1]
    return entry, count


@inlined
def _next_possible(model: FlatModel, state: SearchState, factor: int, entry: int) -> int:
    """The next entry: the values of the free variables count up like digits, kept in ``touched``."""
    begin = model.scope_starts[factor]
    for place in range(model.scope_starts[factor + 1] - 1, begin - 1, -1):
        variable, stride = model.scopes[place, 0], model.scopes[place, 1]
        if state.is_free[variable]:
            value = state.touched[place - begin] + 1
            if value < model.domain_sizes[variable]:
                state.touched[place - begin] = value
                return entry + stride  # type: ignore[no-any-return]
            state.touched[place - begin] = 0
            entry -= (value - 1) * stride
    return entry


@inlined
def _best_possible(model: FlatModel, state: SearchState, factor: int) -> float:
    """The largest log-potential of a factor under the evidence. Cost: the entries that it leaves possible."""
    entry, count = _first_possible(model, state, factor)
    top = model.log_table[entry]
    if count == model.table_starts[factor + 1] - model.table_starts[factor]:
        for other in range(entry + 1, entry + count):
            top = max(top, model.log_table[other])
        return top  # type: ignore[no-any-return]
    for place in range(model.scope_starts[factor + 1] - model.scope_starts[factor]):
        state.touched[place] = 0
    for _ in range(count - 1):
        entry = _next_possible(model, state, factor, entry)
        top = max(top, model.log_table[entry])
    return top  # type: ignore[no-any-return]


@kernel
def set_tops(model: FlatModel, state: SearchState) -> None:
    """Find the factors' maxima; an assignment that reaches their sum is optimal. Cost: all table entries."""
    bound = 0.0
    for factor in range(len(state.entries)):
        state.tops[factor] = _best_possible(model, state, factor)
        bound += state.tops[factor]
    state.counters[0]["upper_bound"] = bound
