"""What one search carries from step to step, and how it is set up from an assignment."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.max_tree import LOWEST, build_tree, level_starts
from beacon.engine.tolerance import tolerance_of
from beacon.jit import inlined, kernel
from beacon.model.fixed import Fixed
from beacon.model.flat import FlatModel
from beacon.reduce.parts import label_parts
from beacon.rng import random_below, stream
from beacon.strategies.tree.state import TreeState, new_tree_state

MAX_EVENTS = 256

COUNTERS = np.dtype(
    [
        ("steps", np.int64),  # flips made
        ("local_optima", np.int64),  # local optima met
        ("work", np.int64),  # links looked at: what a step costs, on every machine alike
        ("sweeps", np.int64),  # tree moves over all free variables since the last fresh start
        ("arm", np.int64),  # automatic mix: which arm is at work
        ("share", np.float64),  # automatic mix: GLS+'s share of the work
        ("phase_end", np.int64),  # automatic mix: the work at which the arm gives way
        ("phase_work", np.int64),  # automatic mix: the work at which it began
        ("phase_score", np.float64),  # automatic mix: the best score at which it began
        ("idle_rounds", np.int64),  # automatic mix: rounds since the last gain
        ("gls_rebuilds", np.int64),  # automatic mix: ``num_rebuilds`` when GLS+ was last left
        ("is_fresh", np.bool_),  # tree moves: away from the best since a fresh start
        ("last_gain", np.int64),  # tree moves: the step of the last gain or fresh start
        ("lost", np.float64),  # tree moves: how far below its height at the last gain the search has strayed
        ("log_zero", np.float64),  # what a zero factor counts in floored scores
        ("fixed_score", np.float64),  # sum of the non-zero factors that the search cannot change
        ("fixed_zeros", np.int64),  # zero factors that it cannot change
        ("best_score", np.float64),  # sum of the non-zero factors of the best assignment
        ("best_zeros", np.int64),  # zero factors of the best assignment
        ("best_step", np.int64),  # when the best was found
        ("num_free", np.int64),  # variables that the search may change
        ("last_restart", np.int64),  # the step of the last restart
        ("next_harvest", np.int64),  # GLS+: the work from which better clusters are next looked for
        ("is_alone", np.bool_),  # guided search: the guide is not heeded at present
        ("turn_step", np.int64),  # guided search: the step since which it is or is not heeded
        ("guided_restarts", np.int64),  # guided search: restarts made
        ("idle_restarts", np.int64),  # restarts since the last flip
        ("num_events", np.int64),  # improvements not yet fetched
        ("stamp", np.int64),  # marks the variables touched by the current flip
        ("num_rebuilds", np.int64),  # how often everything was recomputed
        ("upper_bound", np.float64),  # sum of the factors' maxima under the evidence
    ]
)


PART = np.dtype(
    [
        ("score", np.float64),  # sum of the part's non-zero factors: deep floors would cost digits
        ("zeros", np.int64),  # number of its zero factors
        ("best_score", np.float64),
        ("best_zeros", np.int64),
        ("tolerance", np.float64),  # a score must be better by more than this to count as better
        ("best_is_current", np.bool_),  # the part's assignment is its best; `best` does not hold it yet
        ("first_changed", np.int64),  # where the part's variables begin in `changed`
        ("num_changed", np.int64),  # how many of them are listed there
    ]
)
"""A part is a set of free variables that no factor joins to the others: it has a best of its own."""


ARM = np.dtype(
    [
        ("gain", np.float64),  # what it has added to the best score, older gains fading
        ("work", np.float64),  # what that took, fading alike
        ("rng", np.uint64),  # its random stream while the other is at work
    ]
)
"""One of the two ways of searching that the automatic mix chooses between."""


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
    parts: NDArray[np.void]
    """[parts] the independent parts of the query, see PART."""
    part_of: NDArray[np.int32]
    """[variables] the part of each free variable; -1 for the others."""
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
    """[variables] by parts: the variables flipped since the part's best was last saved."""
    is_changed: NDArray[np.bool_]
    """[variables] is it in ``changed``?"""
    event_steps: NDArray[np.int64]
    """[MAX_EVENTS] when an improvement was found."""
    event_scores: NDArray[np.float64]
    """[MAX_EVENTS] its floored score."""
    event_zeros: NDArray[np.int32]
    """[MAX_EVENTS] its zero factors."""
    trees: TreeState
    """Room for tree moves."""
    arms: NDArray[np.void]
    """[2] how GLS+ and tree moves have paid, see ARM; used by the automatic mix alone."""
    arm_assignments: NDArray[np.int32]
    """[2, variables] where each of the two stood when it was last left."""


def new_state(
    model: FlatModel,
    fixed: Fixed,
    seed: int,
    *,
    penalising: bool,
    growing: bool,
    block_entries: int = 0,
) -> SearchState:
    """Room for one search that uses penalties (``penalising``) and tree moves (``growing``) or not.

    Tree moves may be blocks with tables of so many entries.
    Penalties and all that hangs on them are left for the strategy to fill in.
    """
    n, num_factors = model.num_variables, model.num_factors
    num_penalties = len(model.log_table) if penalising else 0
    gain_levels, utility_levels = level_starts(n), level_starts(num_factors if penalising else 0)
    assignment = np.maximum(fixed, 0)
    is_free = (model.domain_sizes > 1) & (fixed < 0)
    part_of, touched, changed = np.empty((3, n), dtype=np.int32)
    num_parts = label_parts(model, is_free, part_of, touched, changed)
    parts = np.zeros(num_parts, dtype=PART)
    parts["first_changed"] = changed[:num_parts]
    parts["tolerance"] = tolerance_of(model)
    counters = np.zeros(1, dtype=COUNTERS)
    counters["num_free"] = np.count_nonzero(is_free)
    counters["log_zero"] = model.log_zero
    return SearchState(
        counters=counters,
        rng=stream(seed, fixed),
        assignment=assignment,
        is_free=is_free,
        parts=parts,
        part_of=part_of,
        entries=np.zeros(num_factors, dtype=np.int32),
        tops=np.zeros(num_factors),
        local_scores=np.zeros(model.num_moves),
        gains=np.full(gain_levels[-1], LOWEST),
        gain_levels=gain_levels,
        penalised_table=np.empty_like(model.log_table) if penalising else model.log_table.copy(),
        penalties=np.empty(num_penalties, dtype=np.float32),
        utilities=np.empty(num_penalties, dtype=np.float32),
        factor_utilities=np.full(utility_levels[-1], LOWEST, dtype=np.float32),
        utility_levels=utility_levels,
        tied_factors=np.zeros(num_factors, dtype=np.int32),
        touched=touched,
        stamps=np.zeros(n, dtype=np.int64),
        best=assignment.copy(),
        changed=changed,
        is_changed=np.zeros(n, dtype=np.bool_),
        event_steps=np.zeros(MAX_EVENTS, dtype=np.int64),
        event_scores=np.zeros(MAX_EVENTS),
        event_zeros=np.zeros(MAX_EVENTS, dtype=np.int32),
        trees=new_tree_state(model, growing, block_entries),
        arms=np.zeros(2, dtype=ARM),
        arm_assignments=np.zeros((2, n if penalising and growing else 0), dtype=np.int32),
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
    return best - state.local_scores[current]  # type: ignore[no-any-return]


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


@inlined
def _add_to_part(state: SearchState, part: int, log_potential: float, is_zero: bool) -> None:
    finite = 0.0 if is_zero else log_potential
    if part >= 0:
        state.parts[part]["score"] += finite
        state.parts[part]["zeros"] += is_zero * 1
    else:
        state.counters[0]["fixed_score"] += finite
        state.counters[0]["fixed_zeros"] += is_zero * 1


@inlined
def _begin_count(state: SearchState) -> None:
    for part in range(len(state.parts)):
        state.parts[part]["score"] = 0.0
        state.parts[part]["zeros"] = 0
    state.counters[0]["fixed_score"] = 0.0
    state.counters[0]["fixed_zeros"] = 0


@kernel
def recount(model: FlatModel, state: SearchState) -> None:
    """Recompute the scores of the parts, and nothing that flips alone need. Cost: the links of the model."""
    _begin_count(state)
    for factor in range(len(state.entries)):
        entry, part = model.table_starts[factor], -1
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            variable = model.scopes[place, 0]
            entry += state.assignment[variable] * model.scopes[place, 1]
            part = max(part, state.part_of[variable])
        _add_to_part(state, part, model.log_table[entry], model.log_table[entry] == model.log_zero)


@kernel
def rebuild(model: FlatModel, state: SearchState) -> None:
    """Recompute everything that flips keep up to date. Cost: the links of the model and their domains."""
    for move in range(len(state.local_scores)):
        state.local_scores[move] = 0.0
    _begin_count(state)
    state.counters[0]["num_rebuilds"] += 1
    penalising = len(state.penalties) > 0
    for factor in range(len(state.entries)):
        begin, end = model.scope_starts[factor], model.scope_starts[factor + 1]
        entry = model.table_starts[factor]
        for place in range(begin, end):
            entry += state.assignment[model.scopes[place, 0]] * model.scopes[place, 1]
        state.entries[factor] = entry
        part = -1
        for place in range(begin, end):
            variable, stride = model.scopes[place, 0], model.scopes[place, 1]
            part = max(part, state.part_of[variable])
            base = entry - state.assignment[variable] * stride
            first = model.move_starts[variable]
            for value in range(model.domain_sizes[variable]):
                state.local_scores[first + value] += state.penalised_table[base + value * stride]
        _add_to_part(state, part, model.log_table[entry], model.log_table[entry] == model.log_zero)
        if penalising:
            state.factor_utilities[factor] = state.utilities[entry]
    for i in range(len(state.assignment)):
        state.gains[i] = best_gain(model, state, i) if state.is_free[i] else LOWEST
    build_tree(state.gains, state.gain_levels)
    if penalising:
        build_tree(state.factor_utilities, state.utility_levels)
