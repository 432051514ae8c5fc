"""Recorded walks: half greedy, half toward a reference; the states a guide learns from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import SearchState
from beacon.engine.flip import best_value, flip
from beacon.engine.limits import EPSILON
from beacon.engine.max_tree import LOWEST, build_tree, pick_top, set_leaf, tree_top
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.runner.search import Search
from beacon.strategies.greedy import restart
from beacon.strategies.strategy import Greedy


class Goal(NamedTuple):
    """Where a walk is drawn to, and what each move there would gain."""

    assignment: NDArray[np.int32]
    """[variables] the reference."""
    gains: NDArray[np.float64]
    """Max tree over variables: what taking the reference's value gains (LOWEST if it has it or is fixed)."""


class Walks(NamedTuple):
    """Recorded runs: starts and flips."""

    starts: NDArray[np.int32]
    """[runs, variables] where each run began, evidence included."""
    flip_variables: NDArray[np.int32]
    """[runs, steps] the variable flipped; -1 where there is nothing to flip."""
    flip_values: NDArray[np.int32]
    """[runs, steps] the value it was given."""


def record_walks(
    model: FlatModel,
    evidence: Mapping[int, int],
    reference: NDArray[np.int64],
    runs: int,
    steps: int,
    seed: int,
) -> tuple[Walks, Search]:
    """Walk ``runs`` times, ``steps`` steps each, from random starts; the search is left at the end.

    Every step is, with probability one half, the greedy move (the largest gain, even if it is a loss), else
    the best of the moves that bring the state closer to the reference (greedy, too, once it is there).
    Greedy moves at a local optimum undo what leads away from it. So a walk that has steps enough to arrive
    takes only steps toward the reference once there are no more steps left than the distance needs:
    its states cover the whole way.
    """
    search = Search(model, evidence, Greedy(), seed=seed)
    walks = Walks(
        starts=np.zeros((runs, model.num_variables), dtype=np.int32),
        flip_variables=np.full((runs, steps), -1, dtype=np.int32),
        flip_values=np.zeros((runs, steps), dtype=np.int32),
    )
    goal = Goal(reference.astype(np.int32), np.full(len(search.state.gains), LOWEST))
    _walk(model, search.state, goal, walks)
    return walks, search


@inlined
def _gain_toward(model: FlatModel, state: SearchState, goal: Goal, variable: int) -> float:
    current, wanted = state.assignment[variable], goal.assignment[variable]
    if current == wanted or not state.is_free[variable]:
        return LOWEST
    first = model.move_starts[variable]
    return state.local_scores[first + wanted] - state.local_scores[first + current]  # type: ignore[no-any-return]


@inlined
def _update(model: FlatModel, state: SearchState, goal: Goal, variable: int) -> None:
    set_leaf(goal.gains, state.gain_levels, variable, _gain_toward(model, state, goal, variable))


@inlined
def _build(model: FlatModel, state: SearchState, goal: Goal) -> int:
    """Fill the tree of gains toward the reference; return the distance. Cost: the number of variables."""
    distance = 0
    for variable in range(len(state.assignment)):
        goal.gains[variable] = _gain_toward(model, state, goal, variable)
        distance += (goal.gains[variable] > LOWEST) * 1
    build_tree(goal.gains, state.gain_levels)
    return distance


@inlined
def _update_neighbours(model: FlatModel, state: SearchState, goal: Goal, variable: int) -> None:
    """After a flip: what the flip may have changed. Cost: that of the flip."""
    _update(model, state, goal, variable)
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        if model.pairs[link, 2] >= 0:
            _update(model, state, goal, model.pairs[link, 2])
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor = model.wides[link, 0]
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            _update(model, state, goal, model.scopes[place, 0])


@inlined
def _step(
    model: FlatModel, state: SearchState, goal: Goal, walks: Walks, run: int, step: int, is_late: bool
) -> int:
    """Make one step and record it; return by how much the distance has grown."""
    is_toward = random_below(state.rng, 2) == 0 or is_late
    if is_toward and tree_top(goal.gains, state.gain_levels) > LOWEST:
        variable = pick_top(goal.gains, state.gain_levels, EPSILON, state.rng)
        value = goal.assignment[variable]
    else:
        variable = pick_top(state.gains, state.gain_levels, EPSILON, state.rng)
        value = best_value(model, state, variable)
    wanted = goal.assignment[variable]
    growth = (value != wanted) * 1 - (state.assignment[variable] != wanted) * 1
    flip(model, state, variable, value, False)
    _update_neighbours(model, state, goal, variable)
    walks.flip_variables[run, step] = variable
    walks.flip_values[run, step] = value
    return growth  # type: ignore[no-any-return]


@kernel
def _walk(model: FlatModel, state: SearchState, goal: Goal, walks: Walks) -> None:
    """Record all runs. Cost: a rebuild for each run, and twice the flips."""
    for run in range(len(walks.starts)):
        restart(model, state)
        for variable in range(len(state.assignment)):
            walks.starts[run, variable] = state.assignment[variable]
        distance = _build(model, state, goal)
        num_steps = walks.flip_variables.shape[1]
        can_arrive = distance <= num_steps
        if tree_top(state.gains, state.gain_levels) > LOWEST:
            for step in range(num_steps):
                is_late = can_arrive and distance >= num_steps - step - 1  # a greedy step may add to it
                distance += _step(model, state, goal, walks, run, step, is_late)
