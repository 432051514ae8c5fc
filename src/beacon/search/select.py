"""Guided selection: the move with the best mix of gain and score, found without looking at every move.

Two max trees of the same shape hold the best gain and the best score of every variable. What a node's leaves
can reach is at most the mix of its two maxima, so whole subtrees are passed over: branch and bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beacon.model.flat import FlatModel
from beacon.search.guidance import Advice, GuidanceConstants
from beacon.search.jit import inlined, kernel
from beacon.search.limits import EPSILON
from beacon.search.max_tree import LOWEST, build_tree, set_leaf, tree_top
from beacon.search.rng import random_below
from beacon.search.state import SearchState

SLACK = 1e-9  # mixes of gain and score that are so close count as tied


@inlined
def _top_score(model: FlatModel, state: SearchState, advice: Advice, variable: int) -> float:
    """The largest score among the moves of a variable. Cost: its number of values."""
    start, top = model.move_starts[variable], LOWEST
    for value in range(model.domain_sizes[variable]):
        if value != state.assignment[variable]:
            top = max(top, float(advice.scores[start + value]))
    return top


@inlined
def update_top_score(model: FlatModel, state: SearchState, advice: Advice, variable: int) -> None:
    """A variable has been flipped: its moves are others now."""
    top = _top_score(model, state, advice, variable)
    set_leaf(advice.top_scores, state.gain_levels, variable, np.float32(top))


@kernel
def build_top_scores(model: FlatModel, state: SearchState, advice: Advice) -> None:
    """Fill the tree over scores. Cost: the number of moves."""
    for i in range(len(state.assignment)):
        advice.top_scores[i] = _top_score(model, state, advice, i) if state.is_free[i] else LOWEST
    build_tree(advice.top_scores, state.gain_levels)


class _Mix(NamedTuple):
    """How gain and score are mixed at the present step."""

    scale: float
    """What one unit of gain counts."""
    weight: float
    """What one unit of score counts."""
    lowest: float
    """Moves must gain more than this."""


@inlined
def _present_mix(state: SearchState, constants: GuidanceConstants) -> _Mix:
    """Gains run from 0 for the worst move to 1 - weight for the best; where all are alike they do not count."""
    spread = tree_top(state.gains, state.gain_levels) + tree_top(state.losses, state.gain_levels)
    scale = (1.0 - constants.weight) / spread if spread > EPSILON else 0.0
    return _Mix(scale, constants.weight, EPSILON if constants.improving_only else LOWEST)


@inlined
def _bound(state: SearchState, advice: Advice, mix: _Mix, node: int) -> float:
    """No move below a node has a better mix; LOWEST if none is a candidate."""
    gain = state.gains[node]
    if gain <= mix.lowest:
        return LOWEST
    return mix.scale * gain + mix.weight * float(advice.top_scores[node])  # type: ignore[no-any-return]


@inlined
def _promising_variable(state: SearchState, advice: Advice, mix: _Mix) -> int:
    """Where one comes to by always taking the child of the largest bound. Cost: log8(n)."""
    i = 0
    for level in range(len(state.gain_levels) - 3, -1, -1):
        base = state.gain_levels[level] + 8 * i
        chosen, top = 0, LOWEST
        for k in range(8):
            bound = _bound(state, advice, mix, base + k)
            if bound > top:
                chosen, top = k, bound
        i = 8 * i + chosen
    return i


@inlined
def _value_of_move(
    model: FlatModel, state: SearchState, advice: Advice, mix: _Mix, variable: int, value: int
) -> float:
    """The mix of gain and score of one move; LOWEST if it is no candidate."""
    start, current = model.move_starts[variable], state.assignment[variable]
    gain = state.local_scores[start + value] - state.local_scores[start + current]
    if value == current or gain <= mix.lowest:
        return LOWEST
    return mix.scale * gain + mix.weight * float(advice.scores[start + value])  # type: ignore[no-any-return]


@inlined
def select_move(
    model: FlatModel, state: SearchState, advice: Advice, constants: GuidanceConstants
) -> tuple[int, int]:
    """A move with the largest mix of gain and score, ties uniformly at random; there must be a candidate.

    Cost: the nodes whose bound reaches that mix, and their children.
    """
    levels, mix = state.gain_levels, _present_mix(state, constants)
    top = LOWEST
    first = _promising_variable(state, advice, mix)
    for value in range(model.domain_sizes[first]):
        top = max(top, _value_of_move(model, state, advice, mix, first, value))
    chosen_variable, ties = first, 0
    chosen_value = (state.assignment[first] + 1) % model.domain_sizes[first]
    if top == LOWEST:
        return chosen_variable, chosen_value  # a gain of EPSILON but for rounding: any move will do
    level, i = len(levels) - 2, 0
    while True:
        if _bound(state, advice, mix, levels[level] + i) >= top - SLACK:
            if level > 0:
                level -= 1
                i *= 8
                continue
            for value in range(model.domain_sizes[i]):
                worth = _value_of_move(model, state, advice, mix, i, value)
                if worth > top + SLACK:
                    top, ties, chosen_variable, chosen_value = worth, 1, i, value
                elif worth >= top - SLACK:
                    ties += 1
                    if random_below(state.rng, ties) == 0:
                        chosen_variable, chosen_value = i, value
        while i & 7 == 7:
            i >>= 3
            level += 1
        if level >= len(levels) - 2:
            return chosen_variable, chosen_value
        i += 1
