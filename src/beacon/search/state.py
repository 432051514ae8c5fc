"""What one search carries from step to step, and how it is set up from an assignment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.model.flat import FlatModel
from beacon.search.jit import inlined, kernel
from beacon.search.max_tree import LOWEST, build_tree, level_starts
from beacon.search.rng import random_below, stream

MAX_EVENTS = 256

COUNTERS = np.dtype(
    [
        ("steps", np.int64),  # flips made
        ("local_optima", np.int64),  # local optima met
        ("score", np.float64),  # floored score of the assignment
        ("zeros", np.int64),  # zero factors of the assignment
        ("best_score", np.float64),
        ("best_zeros", np.int64),
        ("best_step", np.int64),  # when the best was found
        ("best_is_current", np.bool_),  # the assignment is the best; `best` does not hold it yet
        ("num_free", np.int64),  # variables that the search may change
        ("last_restart", np.int64),  # the step of the last restart
        ("idle_restarts", np.int64),  # restarts since the last flip
        ("num_changed", np.int64),  # length of `changed`
        ("num_events", np.int64),  # improvements not yet fetched
        ("stamp", np.int64),  # marks the variables touched by the current flip
        ("upper_bound", np.float64),  # sum of the factors' maxima under the evidence
    ]
)


class SearchState(NamedTuple):
    """The state of one search. Penalties and utilities are used by GLS+ alone."""

    counters: NDArray[np.void]
    """[1] scalars, see COUNTERS."""
    rng: NDArray[np.uint64]
    """[1] the random stream."""
    assignment: NDArray[np.int32]
    """[variables] the current value of each variable, evidence included."""
    is_free: NDArray[np.bool_]
    """[variables] may the search change it?"""
    entries: NDArray[np.int32]
    """[factors] each factor's current entry."""
    tops: NDArray[np.float64]
    """[factors] the largest log-potential that the evidence leaves possible."""
    local_scores: NDArray[np.float64]
    """[moves] penalised score of the variable's factors with that value and all else as it is."""
    gains: NDArray[np.float64]
    """Max tree over variables: what the best move of each gains (LOWEST if it is fixed)."""
    gain_levels: NDArray[np.int32]
    """Level starts of ``gains``."""
    penalised_table: NDArray[np.float64]
    """[entries] ``log_table`` less weight x penalty."""
    penalties: NDArray[np.float32]
    """[entries]"""
    utilities: NDArray[np.float32]
    """[entries] what penalising the entry would be worth: cost / (1 + penalty)."""
    factor_utilities: NDArray[np.float32]
    """Max tree over factors: the utility of each current entry."""
    utility_levels: NDArray[np.int32]
    """Level starts of ``factor_utilities``."""
    tied_factors: NDArray[np.int32]
    """[factors] room for the factors of one penalty round."""
    touched: NDArray[np.int32]
    """[variables] room for the variables touched by one flip."""
    stamps: NDArray[np.int64]
    """[variables] the flip that last touched each."""
    best: NDArray[np.int32]
    """[variables] the best assignment, up to the variables in ``changed``."""
    changed: NDArray[np.int32]
    """[variables] variables flipped since ``best`` was last in step with ``assignment``."""
    is_changed: NDArray[np.bool_]
    """[variables] is it in ``changed``?"""
    event_steps: NDArray[np.int64]
    """[MAX_EVENTS] when an improvement was found."""
    event_scores: NDArray[np.float64]
    """[MAX_EVENTS] its floored score."""
    event_zeros: NDArray[np.int32]
    """[MAX_EVENTS] its zero factors."""


def new_state(model: FlatModel, evidence: Mapping[int, int], seed: int, penalising: bool) -> SearchState:
    """Room for one search; :func:`start_from` must follow."""
    n, num_factors = model.num_variables, model.num_factors
    num_penalties = len(model.log_table) if penalising else 0
    gain_levels, utility_levels = level_starts(n), level_starts(num_factors if penalising else 0)
    assignment = np.zeros(n, dtype=np.int32)
    is_free = model.domain_sizes > 1
    for i, value in evidence.items():
        assignment[i], is_free[i] = value, False
    counters = np.zeros(1, dtype=COUNTERS)
    counters["num_free"] = np.count_nonzero(is_free)
    return SearchState(
        counters=counters,
        rng=stream(seed, evidence),
        assignment=assignment,
        is_free=is_free,
        entries=np.zeros(num_factors, dtype=np.int32),
        tops=np.zeros(num_factors),
        local_scores=np.zeros(model.num_moves),
        gains=np.full(gain_levels[-1], LOWEST),
        gain_levels=gain_levels,
        penalised_table=model.log_table.copy(),
        penalties=np.zeros(num_penalties, dtype=np.float32),
        utilities=np.zeros(num_penalties, dtype=np.float32),
        factor_utilities=np.full(utility_levels[-1], LOWEST, dtype=np.float32),
        utility_levels=utility_levels,
        tied_factors=np.zeros(num_factors, dtype=np.int32),
        touched=np.zeros(n, dtype=np.int32),
        stamps=np.zeros(n, dtype=np.int64),
        best=assignment.copy(),
        changed=np.zeros(n, dtype=np.int32),
        is_changed=np.zeros(n, dtype=np.bool_),
        event_steps=np.zeros(MAX_EVENTS, dtype=np.int64),
        event_scores=np.zeros(MAX_EVENTS),
        event_zeros=np.zeros(MAX_EVENTS, dtype=np.int32),
    )


@inlined
def best_gain(model: FlatModel, state: SearchState, variable: int) -> float:
    """Gain of the best move of a variable. Cost: its number of values."""
    start, end = model.move_starts[variable], model.move_starts[variable + 1]
    current = start + state.assignment[variable]
    best = LOWEST
    for move in range(start, end):
        if move != current and state.local_scores[move] > best:
            best = state.local_scores[move]
    return best - state.local_scores[current]


@inlined
def randomise(model: FlatModel, state: SearchState) -> None:
    """Draw a uniform value for every free variable."""
    for i in range(len(state.assignment)):
        if state.is_free[i]:
            state.assignment[i] = random_below(state.rng, model.domain_sizes[i])


@kernel
def draw_assignment(model: FlatModel, state: SearchState) -> None:
    """:func:`randomise` for Python to call."""
    randomise(model, state)


@kernel
def rebuild(model: FlatModel, state: SearchState) -> None:
    """Recompute everything that flips keep up to date. Cost: the links of the model and their domains."""
    counters = state.counters[0]
    for move in range(len(state.local_scores)):
        state.local_scores[move] = 0.0
    score, zeros = 0.0, 0
    penalising = len(state.penalties) > 0
    for factor in range(len(state.entries)):
        begin, end = model.scope_starts[factor], model.scope_starts[factor + 1]
        entry = model.table_starts[factor]
        for place in range(begin, end):
            entry += state.assignment[model.scopes[place, 0]] * model.scopes[place, 1]
        state.entries[factor] = entry
        score += model.log_table[entry]
        zeros += model.log_table[entry] == model.log_zero
        for place in range(begin, end):
            variable, stride = model.scopes[place, 0], model.scopes[place, 1]
            base = entry - state.assignment[variable] * stride
            first = model.move_starts[variable]
            for value in range(model.domain_sizes[variable]):
                state.local_scores[first + value] += state.penalised_table[base + value * stride]
        if penalising:
            state.factor_utilities[factor] = state.utilities[entry]
    counters["score"] = score
    counters["zeros"] = zeros
    for i in range(len(state.assignment)):
        state.gains[i] = best_gain(model, state, i) if state.is_free[i] else LOWEST
    build_tree(state.gains, state.gain_levels)
    if penalising:
        build_tree(state.factor_utilities, state.utility_levels)
