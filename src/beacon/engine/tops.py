"""What each factor could be at best: the largest entry that the evidence leaves possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel


@inlined
def _first_possible(
    model: FlatModel, assignment: NDArray[np.int32], is_free: NDArray[np.bool_], factor: int
) -> tuple[int, int]:
    """A factor's first entry that agrees with the fixed variables, and the number of such entries."""
    entry, count = model.table_starts[factor], 1
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if is_free[variable]:
            count *= model.domain_sizes[variable]
        else:
            entry += assignment[variable] * model.scopes[place, 1]
    return entry, count


@inlined
def _next_possible(
    model: FlatModel, is_free: NDArray[np.bool_], factor: int, entry: int, digits: NDArray[np.int32]
) -> int:
    """The next entry: the values of the free variables count up like the digits of a number."""
    begin = model.scope_starts[factor]
    for place in range(model.scope_starts[factor + 1] - 1, begin - 1, -1):
        variable, stride = model.scopes[place, 0], model.scopes[place, 1]
        if is_free[variable]:
            value = digits[place - begin] + 1
            if value < model.domain_sizes[variable]:
                digits[place - begin] = value
                return entry + stride  # type: ignore[no-any-return]
            digits[place - begin] = 0
            entry -= (value - 1) * stride
    return entry


@inlined
def _best_possible(
    model: FlatModel,
    assignment: NDArray[np.int32],
    is_free: NDArray[np.bool_],
    factor: int,
    digits: NDArray[np.int32],
) -> float:
    """The largest log-potential of a factor under the evidence. Cost: the entries that it leaves possible."""
    entry, count = _first_possible(model, assignment, is_free, factor)
    top = model.log_table[entry]
    if count == model.table_starts[factor + 1] - model.table_starts[factor]:
        for other in range(entry + 1, entry + count):
            top = max(top, model.log_table[other])
        return top  # type: ignore[no-any-return]
    for place in range(model.scope_starts[factor + 1] - model.scope_starts[factor]):
        digits[place] = 0
    for _ in range(count - 1):
        entry = _next_possible(model, is_free, factor, entry, digits)
        top = max(top, model.log_table[entry])
    return top  # type: ignore[no-any-return]


@kernel
def set_tops(
    model: FlatModel,
    assignment: NDArray[np.int32],
    is_free: NDArray[np.bool_],
    tops: NDArray[np.float64],
    digits: NDArray[np.int32],
) -> float:
    """Find the factors' maxima and return their sum: an assignment that reaches it is optimal.

    ``digits`` is room for the values of one scope. Cost: all table entries.
    """
    bound = 0.0
    for factor in range(len(tops)):
        tops[factor] = _best_possible(model, assignment, is_free, factor, digits)
        bound += tops[factor]
    return bound
