"""What a guide adds to the state of a search: its scores, and two trees that selection needs.

A move's *worth* is the mix of its gain and its score. Gains are scaled by their spread, which changes from
step to step, if only a little; so worths are kept at the scale of an earlier step, and selection allows for
that. The trees follow the local scores of a search: after every flip, penalty round and rebuild.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import CoreState
from beacon.engine.incumbent import EPSILON
from beacon.engine.max_tree import LOWEST, build_tree, set_leaf, tree_top
from beacon.guided.guidance import GuidanceConstants
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel

COUNTERS = np.dtype(
    [
        ("scale", np.float64),  # what one unit of gain counts in the worths
        ("visits", np.int64),  # nodes visited since the worths were built, where their scale was not right
        ("num_rebuilds", np.int64),  # how often the search had recomputed everything by then
        ("is_alone", np.bool_),  # the guide is not heeded at present
        ("turn_step", np.int64),  # the step since which it is or is not heeded
        ("restarts", np.int64),  # restarts made
        ("idle_restarts", np.int64),  # restarts since the last flip
    ],
    align=True,
)


class GuideState(NamedTuple):
    """What a guide adds to the state of one search."""

    counters: NDArray[np.void]
    """[1] scalars, see COUNTERS."""
    scores: NDArray[np.float32]
    """[moves] how likely each value is the reference's, that of the current value included."""
    losses: NDArray[np.float64]
    """Max tree over variables: what the worst move of each loses (LOWEST if it is fixed)."""
    worths: NDArray[np.float64]
    """Max tree over variables: scale · gain + weight · score of the best candidate (LOWEST if none)."""
    ties: NDArray[np.int32]
    """[moves, 2] room for the moves (variable, value) among which one selection draws."""


def new_guide_state(core: CoreState) -> GuideState:
    """Room for scores and trees; :func:`build_guide` fills the trees."""
    size, num_moves = len(core.gains), len(core.local_scores)
    return GuideState(
        counters=np.zeros(1, dtype=COUNTERS),
        scores=np.empty(num_moves, dtype=np.float32),
        losses=np.full(size, LOWEST),
        worths=np.full(size, LOWEST),
        ties=np.empty((num_moves, 2), dtype=np.int32),
    )


@inlined
def lowest_gain(guidance: GuidanceConstants) -> float:
    """Candidates gain more than this."""
    return EPSILON if guidance.improving_only else LOWEST


@inlined
def present_scale(core: CoreState, guide: GuideState, guidance: GuidanceConstants) -> float:
    """What one unit of gain counts at this step: from the worst move to the best it makes 1 - weight."""
    spread = tree_top(core.gains, core.gain_levels) + tree_top(guide.losses, core.gain_levels)
    return (1.0 - guidance.weight) / spread if spread > EPSILON else 0.0


@inlined
def _loss_and_worth(
    model: FlatModel, core: CoreState, guide: GuideState, guidance: GuidanceConstants, variable: int
) -> tuple[float, float]:
    """What a variable's worst move loses, and the worth of its best. Cost: its number of values."""
    start, end = model.move_starts[variable], model.move_starts[variable + 1]
    current, scale = start + core.assignment[variable], guide.counters[0]["scale"]
    lowest, loss, worth = lowest_gain(guidance), LOWEST, LOWEST
    if end - start == 2:  # the other value is the only move
        gain = core.local_scores[start + end - 1 - current] - core.local_scores[current]
        if gain > lowest:
            worth = scale * gain + guidance.weight * float(guide.scores[start + end - 1 - current])
        return -gain, worth
    for move in range(start, end):
        if move != current:
            gain = core.local_scores[move] - core.local_scores[current]
            loss = max(loss, -gain)
            if gain > lowest:
                worth = max(worth, scale * gain + guidance.weight * float(guide.scores[move]))
    return loss, worth


@inlined
def _update(
    model: FlatModel, core: CoreState, guide: GuideState, guidance: GuidanceConstants, variable: int
) -> None:
    loss, worth = _loss_and_worth(model, core, guide, guidance, variable)
    set_leaf(guide.losses, core.gain_levels, variable, loss)
    set_leaf(guide.worths, core.gain_levels, variable, worth)


@kernel
def build_guide(model: FlatModel, core: CoreState, guide: GuideState, guidance: GuidanceConstants) -> None:
    """Fill both trees, the worths at the present scale. Cost: the number of moves."""
    counters = guide.counters[0]
    for i in range(len(core.assignment)):
        if core.is_free[i]:
            guide.losses[i], _ = _loss_and_worth(model, core, guide, guidance, i)
    build_tree(guide.losses, core.gain_levels)
    counters["scale"] = present_scale(core, guide, guidance)
    counters["visits"] = 0
    counters["num_rebuilds"] = core.counters[0]["num_rebuilds"]
    for i in range(len(core.assignment)):
        if core.is_free[i]:
            _, guide.worths[i] = _loss_and_worth(model, core, guide, guidance, i)
    build_tree(guide.worths, core.gain_levels)


@inlined
def follow_flip(
    model: FlatModel, core: CoreState, guide: GuideState, guidance: GuidanceConstants, variable: int
) -> None:
    """A variable has been flipped: update it and all that share a factor with it."""
    _update(model, core, guide, guidance, variable)
    for k in range(model.neighbour_starts[variable], model.neighbour_starts[variable + 1]):
        if core.gains[model.neighbours[k]] > LOWEST:
            _update(model, core, guide, guidance, model.neighbours[k])


@inlined
def follow_penalties(
    model: FlatModel,
    core: CoreState,
    guide: GuideState,
    guidance: GuidanceConstants,
    penalised: NDArray[np.int32],
    count: int,
) -> None:
    """This many factors have been penalised: update their variables."""
    for k in range(count):
        factor = penalised[k]
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            variable = model.scopes[place, 0]
            if core.is_free[variable]:
                _update(model, core, guide, guidance, variable)
