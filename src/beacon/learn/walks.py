"""Recorded walks: half greedy, half toward a reference; the states a guide learns from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import CoreState
from beacon.engine.flip import best_value, flip
from beacon.engine.incumbent import EPSILON, restart
from beacon.engine.max_tree import LOWEST, build_tree, pick_top, set_leaf, tree_top
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.runner.search import Search
from beacon.strategies.greedy import Greedy


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
    goal = Goal(reference.astype(np.int32), np.full(len(search.core.gains), LOWEST))
    _walk(model, search.core, goal, walks)
    return walks, search


@inlined
def _gain_toward(model: FlatModel, core: CoreState, goal: Goal, variable: int) -> float:
    current, wanted = core.assignment[variable], goal.assignment[variable]
    if current == wanted or not core.is_free[variable]:
        return LOWEST
    first = model.move_starts[variable]
    return core.local_scores[first + wanted] - core.local_scores[first + current]  # type: ignore[no-any-return]


@inlined
def _update(model: FlatModel, core: CoreState, goal: Goal, variable: int) -> None:
    set_leaf(goal.gains, core.gain_levels, variable, _gain_toward(model, core, goal, variable))


@inlined
def _build(model: FlatModel, core: CoreState, goal: Goal) -> int:
    """Fill the tree of gains toward the reference; return the distance. Cost: the number of variables."""
    distance = 0
    for variable in range(len(core.assignment)):
        goal.gains[variable] = _gain_toward(model, core, goal, variable)
        distance += (goal.gains[variable] > LOWEST) * 1
    build_tree(goal.gains, core.gain_levels)
    return distance


@inlined
def _update_neighbours(model: FlatModel, core: CoreState, goal: Goal, variable: int) -> None:
    """After a flip: what the flip may have changed. Cost: that of the flip."""
    _update(model, core, goal, variable)
    for k in range(model.neighbour_starts[variable], model.neighbour_starts[variable + 1]):
        _update(model, core, goal, model.neighbours[k])


@inlined
def _step(
    model: FlatModel, core: CoreState, goal: Goal, walks: Walks, run: int, step: int, is_late: bool
) -> int:
    """Make one step and record it; return by how much the distance has grown."""
    is_toward = random_below(core.rng, 2) == 0 or is_late
    if is_toward and tree_top(goal.gains, core.gain_levels) > LOWEST:
        variable = pick_top(goal.gains, core.gain_levels, EPSILON, core.rng)
        value = goal.assignment[variable]
    else:
        variable = pick_top(core.gains, core.gain_levels, EPSILON, core.rng)
        value = best_value(model, core, variable)
    wanted = goal.assignment[variable]
    growth = (value != wanted) * 1 - (core.assignment[variable] != wanted) * 1
    flip(model, core, variable, value)
    _update_neighbours(model, core, goal, variable)
    walks.flip_variables[run, step] = variable
    walks.flip_values[run, step] = value
    return growth  # type: ignore[no-any-return]


@kernel
def _walk(model: FlatModel, core: CoreState, goal: Goal, walks: Walks) -> None:
    """Record all runs. Cost: a rebuild for each run, and twice the flips."""
    for run in range(len(walks.starts)):
        restart(model, core)
        for variable in range(len(core.assignment)):
            walks.starts[run, variable] = core.assignment[variable]
        distance = _build(model, core, goal)
        num_steps = walks.flip_variables.shape[1]
        can_arrive = distance <= num_steps
        if tree_top(core.gains, core.gain_levels) > LOWEST:
            for step in range(num_steps):
                is_late = can_arrive and distance >= num_steps - step - 1  # a greedy step may add to it
                distance += _step(model, core, goal, walks, run, step, is_late)
