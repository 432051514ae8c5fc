"""Guided selection: the move with the best mix of gain and score, found without looking at every move.

The tree of worths has the answer, but for the scale of its gains, which may be that of an earlier step. The
trees of gains and losses say by how much the worths below a node can be off, so whole subtrees are passed
over: branch and bound. With the right scale only ties are visited. Where the scale has changed, visits beyond
that are counted, and once they have cost as much as building the worths anew, that is done.
"""

from __future__ import annotations

from beacon.engine.core import CoreState
from beacon.engine.max_tree import LOWEST, tree_top
from beacon.guided.guidance import GuidanceConstants
from beacon.guided.state import GuideState, build_guide, lowest_gain, present_scale
from beacon.jit import inlined
from beacon.model.flat import FlatModel
from beacon.rng import random_below

SLACK = 1e-9  # worths that are so close count as tied


@inlined
def _bound(core: CoreState, guide: GuideState, change: float, most_loss: float, node: int) -> float:
    """No candidate below a node is worth more, the scale having changed by so much; LOWEST if it has none."""
    worth = guide.worths[node]
    if worth == LOWEST:
        return LOWEST
    if change >= 0.0:
        return worth + change * core.gains[node]  # type: ignore[no-any-return]
    return worth - change * min(guide.losses[node], most_loss)  # type: ignore[no-any-return]


@inlined
def _promising_variable(core: CoreState, guide: GuideState, change: float, most_loss: float) -> int:
    """Where one comes to by always taking the child of the largest bound. Cost: log8(n)."""
    i = 0
    for level in range(len(core.gain_levels) - 3, -1, -1):
        base = core.gain_levels[level] + 8 * i
        chosen, top = 0, LOWEST
        for k in range(8):
            bound = _bound(core, guide, change, most_loss, base + k)
            if bound > top:
                chosen, top = k, bound
        i = 8 * i + chosen
    return i


@inlined
def _worth(
    model: FlatModel,
    core: CoreState,
    guide: GuideState,
    guidance: GuidanceConstants,
    scale: float,
    variable: int,
    value: int,
) -> float:
    """The mix of gain and score of one move; LOWEST if it is no candidate."""
    start, current = model.move_starts[variable], core.assignment[variable]
    gain = core.local_scores[start + value] - core.local_scores[start + current]
    if value == current or gain <= lowest_gain(guidance):
        return LOWEST
    return scale * gain + guidance.weight * float(guide.scores[start + value])  # type: ignore[no-any-return]


@inlined
def _first_top(
    model: FlatModel, core: CoreState, guide: GuideState, guidance: GuidanceConstants, scale: float
) -> float:
    """A worth that some candidate reaches, the largest if the tree has the right scale; LOWEST: none has."""
    change, top = scale - guide.counters[0]["scale"], LOWEST
    if change == 0.0:
        return tree_top(guide.worths, core.gain_levels)  # type: ignore[no-any-return]
    first = _promising_variable(core, guide, change, -lowest_gain(guidance))
    for value in range(model.domain_sizes[first]):
        top = max(top, _worth(model, core, guide, guidance, scale, first, value))
    return top


@inlined
def _gather_from(
    model: FlatModel,
    core: CoreState,
    guide: GuideState,
    guidance: GuidanceConstants,
    scale: float,
    variable: int,
    top: float,
    count: int,
) -> tuple[float, int]:
    """Add a variable's moves to the ties if they are worth as much as the best so far, or more."""
    for value in range(model.domain_sizes[variable]):
        worth = _worth(model, core, guide, guidance, scale, variable, value)
        if worth > top + SLACK:
            count = 0
        if worth >= top - SLACK:
            guide.ties[count, 0] = variable
            guide.ties[count, 1] = value
            count += 1
            top = max(top, worth)
    return top, count


@inlined
def _gather(
    model: FlatModel,
    core: CoreState,
    guide: GuideState,
    guidance: GuidanceConstants,
    scale: float,
    top: float,
) -> tuple[float, int]:
    """Gather the ties, beginning with a worth known to be reached; return the largest and their number."""
    levels, change, most_loss = core.gain_levels, scale - guide.counters[0]["scale"], -lowest_gain(guidance)
    level, i, count = len(levels) - 2, 0, 0
    visits = -8 * level  # what it takes to come down to one leaf
    while True:
        visits += 1
        if _bound(core, guide, change, most_loss, levels[level] + i) >= top - SLACK:
            if level > 0:
                level -= 1  # descend to the first child
                i *= 8
                continue
            top, count = _gather_from(model, core, guide, guidance, scale, i, top, count)
        while i & 7 == 7:  # the last child: climb
            i >>= 3
            level += 1
        if level >= len(levels) - 2:
            break
        i += 1
    if change != 0.0:
        guide.counters[0]["visits"] += visits
    return top, count


@inlined
def select_move(
    model: FlatModel, core: CoreState, guide: GuideState, guidance: GuidanceConstants
) -> tuple[int, int]:
    """A candidate of the largest worth, ties uniformly at random; (-1, -1) if there is none.

    Which moves are tied, and so the draw, does not depend on the scale of the tree. Cost: log8(n) for each
    tie, and the nodes whose bound is not low enough where the scale has changed.
    """
    counters, scale = guide.counters[0], present_scale(core, guide, guidance)
    if scale != counters["scale"] and counters["visits"] > core.gain_levels[1]:
        build_guide(model, core, guide, guidance)
    top = _first_top(model, core, guide, guidance, scale)
    if top == LOWEST:
        return -1, -1
    top, num_gathered = _gather(model, core, guide, guidance, scale, top)
    if num_gathered == 1:
        return guide.ties[0, 0], guide.ties[0, 1]
    num_ties = 0
    for k in range(num_gathered):  # some may have been gathered before the best was known
        variable, value = guide.ties[k, 0], guide.ties[k, 1]
        if _worth(model, core, guide, guidance, scale, variable, value) >= top - SLACK:
            guide.ties[num_ties, 0] = variable
            guide.ties[num_ties, 1] = value
            num_ties += 1
    drawn = random_below(core.rng, num_ties) if num_ties > 1 else 0
    return guide.ties[drawn, 0], guide.ties[drawn, 1]
