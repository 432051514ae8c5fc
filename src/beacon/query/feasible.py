"""A search for an assignment without zero factors: repair by weights, noise and smoothing."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import NamedTuple

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
NOISE = 0.1  # share of random moves
SMOOTHING_CHANCE = 0.05  # that all weights fade at a local optimum


def feasible_assignments(model: GraphicalModel, seeds: list[int]) -> NDArray[np.int64]:
    """One assignment of non-zero probability per seed and row; a ModelError if none was found."""
    never = impossible_factor(model, {})
    if never is not None:
        raise ModelError(f"no assignment has a non-zero probability: factor {never} is zero everywhere")
    flat = compile_model(model)
    return np.array([_find_feasible(flat, seed) for seed in seeds])


def _find_feasible(flat: FlatModel, seed: int) -> NDArray[np.int64]:
    """Each try starts at random and repairs one zero factor at a time."""
    rng = np.random.default_rng(seed)
    max_steps = min(MAX_STEPS, STEPS_PER_VARIABLE * flat.num_variables)
    fewest = flat.num_factors
    for _ in range(MAX_TRIES):
        assignment = rng.integers(0, flat.domain_sizes, dtype=np.int64)
        num_zeros = repair(flat, assignment, max_steps, rng)
        if num_zeros == 0:
            return assignment
        fewest = min(fewest, num_zeros)
    raise ModelError(
        f"no assignment of non-zero probability was found in {MAX_TRIES} tries of {max_steps} steps; "
        f"at best {fewest} of {flat.num_factors} factors stayed zero"
    )


class _ZeroFactors(NamedTuple):
    """The factors that are zero at the current assignment, as a set to draw from."""

    members: NDArray[np.int64]
    """[factors] the first ``size[0]`` are the zero factors."""
    places: NDArray[np.int64]
    """[factors] where each factor is among the members, -1 if it is not."""
    size: NDArray[np.int64]
    """[1] how many there are."""


@njit(cache=True, nogil=True)
def repair(flat: FlatModel, assignment: NDArray[np.int64], max_steps: int, rng: np.random.Generator) -> int:
    """Change the assignment in place until no factor is zero; return how many still are.

    Each step takes one zero factor and makes the move on its variables that leaves the least weight of
    zero factors, or now and then any move. At a local optimum the zero factors gain weight, and at
    times all weights fade. A step costs the factors of those variables, times their values.
    """
    num_factors = len(flat.table_starts) - 1
    weights = np.ones(num_factors)
    zeros = _ZeroFactors(
        np.empty(num_factors, dtype=np.int64), np.full(num_factors, -1), np.zeros(1, dtype=np.int64)
    )
    for factor in range(num_factors):
        _update(flat, assignment, factor, zeros)
    for _ in range(max_steps):
        if zeros.size[0] == 0:
            break
        factor = zeros.members[int(rng.random() * zeros.size[0])]
        if rng.random() < NOISE:
            variable, value = _any_move(flat, factor, rng)
        else:
            variable, value, change = _best_move(flat, assignment, factor, weights, rng)
            if change >= 0:
                weights[zeros.members[: zeros.size[0]]] += 1.0
                if rng.random() < SMOOTHING_CHANCE:
                    weights[:] = 0.5 * (weights + 1.0)
        assignment[variable] = value
        for links in _links(flat, variable):
            for changed in links[:, 0]:
                _update(flat, assignment, changed, zeros)
    return zeros.size[0]


@njit(cache=True, nogil=True)
def _update(flat: FlatModel, assignment: NDArray[np.int64], factor: int, zeros: _ZeroFactors) -> None:
    """Put a factor among the zero factors, or take it out, as its entry demands."""
    is_zero = flat.log_table[_entry(flat, assignment, factor)] == flat.log_zero
    place = zeros.places[factor]
    if is_zero and place < 0:
        zeros.members[zeros.size[0]] = factor
        zeros.places[factor] = zeros.size[0]
        zeros.size[0] += 1
    elif not is_zero and place >= 0:
        zeros.size[0] -= 1
        last = zeros.members[zeros.size[0]]
        zeros.members[place] = last
        zeros.places[last] = place
        zeros.places[factor] = -1


@njit(cache=True, nogil=True)
def _entry(flat: FlatModel, assignment: NDArray[np.int64], factor: int) -> int:
    """The entry of a factor's table at the assignment."""
    entry = flat.table_starts[factor]
    for k in range(flat.scope_starts[factor], flat.scope_starts[factor + 1]):
        entry += assignment[flat.scopes[k, 0]] * flat.scopes[k, 1]
    return entry


@njit(cache=True, nogil=True)
def _any_move(flat: FlatModel, factor: int, rng: np.random.Generator) -> tuple[int, int]:
    """A random variable of a factor with a random value, which may be its own."""
    first, end = flat.scope_starts[factor], flat.scope_starts[factor + 1]
    variable = flat.scopes[first + int(rng.random() * (end - first)), 0]
    return variable, int(rng.random() * flat.domain_sizes[variable])


@njit(cache=True, nogil=True)
def _best_move(
    flat: FlatModel,
    assignment: NDArray[np.int64],
    factor: int,
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> tuple[int, int, float]:
    """The move on a factor's variables with the least weight of zero factors after it, ties at random."""
    best_variable, best_value = flat.scopes[flat.scope_starts[factor], 0], 0
    best_change, ties = np.inf, 0
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
def _links(flat: FlatModel, variable: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows (factor, stride) of the factors of a variable."""
    narrow = flat.pairs[flat.pair_starts[variable] : flat.pair_starts[variable + 1], :2]
    wide = flat.wides[flat.wide_starts[variable] : flat.wide_starts[variable + 1], :2]
    return narrow, wide
