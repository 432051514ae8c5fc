"""A search for an assignment without zero factors: min-conflicts with factor weights."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from beacon.errors import ModelError
from beacon.model.evidence import impossible_factor
from beacon.model.flat import FlatModel, compile_model
from beacon.model.graphical_model import GraphicalModel

MAX_TRIES = 3
STEPS_PER_VARIABLE = 500
MAX_STEPS = 3_000_000


def find_feasible(model: GraphicalModel, seed: int) -> NDArray[np.int64]:
    """An assignment of non-zero probability, or a ModelError if none was found.

    Each try starts at random and repairs one zero factor at a time.
    """
    never = impossible_factor(model, {})
    if never is not None:
        raise ModelError(f"no assignment has a non-zero probability: factor {never} is zero everywhere")
    flat = compile_model(model)
    rng = np.random.default_rng(seed)
    max_steps = min(MAX_STEPS, STEPS_PER_VARIABLE * model.num_variables)
    fewest = model.num_factors
    for _ in range(MAX_TRIES):
        assignment = rng.integers(0, model.domain_sizes)
        num_zeros = repair(flat, assignment, max_steps, rng)
        if num_zeros == 0:
            return assignment
        fewest = min(fewest, num_zeros)
    raise ModelError(
        f"no assignment of non-zero probability was found in {MAX_TRIES} tries of {max_steps} steps; "
        f"at best {fewest} of {model.num_factors} factors stayed zero"
    )


@njit(cache=True, nogil=True)
def repair(flat: FlatModel, assignment: NDArray[np.int64], max_steps: int, rng: np.random.Generator) -> int:
    """Change the assignment in place until no factor is zero; return how many still are.

    A step costs the factors of the variables of one zero factor, times their values.
    """
    weights = np.ones(len(flat.table_starts) - 1)
    zeros = np.empty(len(weights), dtype=np.int64)
    place = np.full(len(weights), -1)
    num_zeros = 0
    for factor in range(len(weights)):
        if flat.log_table[_entry(flat, assignment, factor)] == flat.log_zero:
            num_zeros = _insert(zeros, place, num_zeros, factor)
    for _ in range(max_steps):
        if num_zeros == 0:
            break
        factor = zeros[int(rng.random() * num_zeros)]
        variable, value, change = _best_move(flat, assignment, factor, weights, rng)
        if variable < 0:
            break
        if change >= 0:  # a local optimum: make what is zero now count more
            for k in zeros[:num_zeros]:
                weights[k] += 1.0
        num_zeros = _flip(flat, assignment, variable, value, zeros, place, num_zeros)
    return num_zeros


@njit(cache=True, nogil=True)
def _entry(flat: FlatModel, assignment: NDArray[np.int64], factor: int) -> int:
    """The entry of a factor's table at the assignment."""
    entry = flat.table_starts[factor]
    for k in range(flat.scope_starts[factor], flat.scope_starts[factor + 1]):
        entry += assignment[flat.scopes[k, 0]] * flat.scopes[k, 1]
    return entry


@njit(cache=True, nogil=True)
def _best_move(
    flat: FlatModel,
    assignment: NDArray[np.int64],
    factor: int,
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> tuple[int, int, float]:
    """The move on a factor's variables with the least weight of zero factors after it, ties at random."""
    best_variable, best_value, best_change, ties = -1, -1, np.inf, 0
    costs = np.empty(flat.domain_sizes.max())
    for k in range(flat.scope_starts[factor], flat.scope_starts[factor + 1]):
        variable = flat.scopes[k, 0]
        _zero_weights(flat, assignment, variable, weights, costs)
        for value in range(flat.domain_sizes[variable]):
            change = costs[value] - costs[assignment[variable]]
            if value == assignment[variable] or change > best_change:
                continue
            ties = ties + 1 if change == best_change else 1
            if rng.random() * ties < 1.0:
                best_variable, best_value, best_change = variable, value, change
    return best_variable, best_value, best_change


@njit(cache=True, nogil=True)
def _zero_weights(
    flat: FlatModel,
    assignment: NDArray[np.int64],
    variable: int,
    weights: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> None:
    """For each value of a variable, the weight of its factors that would be zero."""
    costs[:] = 0.0
    for links in _links(flat, variable):
        for factor, stride in links:
            entry = _entry(flat, assignment, factor) - assignment[variable] * stride
            for value in range(flat.domain_sizes[variable]):
                if flat.log_table[entry + value * stride] == flat.log_zero:
                    costs[value] += weights[factor]


@njit(cache=True, nogil=True)
def _links(
    flat: FlatModel, variable: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows (factor, stride) of the factors of a variable."""
    narrow = flat.pairs[flat.pair_starts[variable] : flat.pair_starts[variable + 1], :2]
    wide = flat.wides[flat.wide_starts[variable] : flat.wide_starts[variable + 1], :2]
    return narrow, wide


@njit(cache=True, nogil=True)
def _flip(
    flat: FlatModel,
    assignment: NDArray[np.int64],
    variable: int,
    value: int,
    zeros: NDArray[np.int64],
    place: NDArray[np.int64],
    num_zeros: int,
) -> int:
    """Make a move and update the list of zero factors."""
    assignment[variable] = value
    for links in _links(flat, variable):
        for factor in links[:, 0]:
            is_zero = flat.log_table[_entry(flat, assignment, factor)] == flat.log_zero
            if is_zero and place[factor] < 0:
                num_zeros = _insert(zeros, place, num_zeros, factor)
            elif not is_zero and place[factor] >= 0:
                num_zeros = _remove(zeros, place, num_zeros, factor)
    return num_zeros


@njit(cache=True, nogil=True)
def _insert(zeros: NDArray[np.int64], place: NDArray[np.int64], num_zeros: int, factor: int) -> int:
    zeros[num_zeros] = factor
    place[factor] = num_zeros
    return num_zeros + 1


@njit(cache=True, nogil=True)
def _remove(zeros: NDArray[np.int64], place: NDArray[np.int64], num_zeros: int, factor: int) -> int:
    last = zeros[num_zeros - 1]
    zeros[place[factor]] = last
    place[last] = place[factor]
    place[factor] = -1
    return num_zeros - 1
