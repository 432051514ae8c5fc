"""Greedy and GLS+ with a guide: its scores have a say in the choice of moves and of restarts."""

from __future__ import annotations

from beacon.engine.core import CoreState, randomise
from beacon.engine.flip import Utilities, best_value, flip, refresh_if_due
from beacon.engine.incumbent import (
    EPSILON,
    RUNNING,
    STALLED,
    Limits,
    begin_again,
    may_continue,
    outcome,
    save_all_best,
)
from beacon.engine.max_tree import pick_top, tree_top
from beacon.guided.guidance import GuidanceConstants
from beacon.guided.select import select_move
from beacon.guided.state import GuideState, build_guide, follow_flip, follow_penalties
from beacon.jit import called, inlined, kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.gls import (
    GlsConstants,
    GlsState,
    clear_penalties,
    leave_optimum,
    rebuild_utilities,
    restart_is_due,
)
from beacon.strategies.greedy import MAX_IDLE_RESTARTS

CHANCES = 1 << 32


@inlined
def _draw_value(model: FlatModel, core: CoreState, guide: GuideState, variable: int) -> int:
    """A value with a probability proportional to its score; uniformly if all scores are 0."""
    start, size, total = model.move_starts[variable], model.domain_sizes[variable], 0.0
    for value in range(size):
        total += float(guide.scores[start + value])
    if total <= 0.0:
        return random_below(core.rng, size)
    left = total * random_below(core.rng, CHANCES) / CHANCES
    chosen = 0
    for value in range(size):
        score = float(guide.scores[start + value])
        if score > 0.0:
            chosen = value
            if left < score:
                break
            left -= score
    return chosen


@inlined
def _draw_from_scores(model: FlatModel, core: CoreState, guide: GuideState) -> None:
    """Draw every free variable's value from its scores."""
    for i in range(len(core.assignment)):
        if core.is_free[i]:
            core.assignment[i] = _draw_value(model, core, guide, i)


@inlined
def _is_guides_turn(guide: GuideState, guidance: GuidanceConstants) -> bool:
    """Does this restart follow the guide? With a fallback, every other one is uniformly random."""
    guide.counters[0]["restarts"] += 1
    return bool(not guidance.fallback or guide.counters[0]["restarts"] % 2 == 1)


@inlined
def _go_on(model: FlatModel, core: CoreState, gls: GlsState | None) -> None:
    """Go on without penalties from the assignment that is in place. Cost: that of a rebuild."""
    if gls is not None:
        clear_penalties(model, core, gls)
    begin_again(model, core)
    if gls is not None:
        rebuild_utilities(model, core, gls)


@called
def _restart(
    model: FlatModel,
    core: CoreState,
    gls: GlsState | None,
    guide: GuideState,
    guidance: GuidanceConstants,
) -> None:
    """Go on without penalties from a fresh assignment. Cost: that of a rebuild."""
    save_all_best(core)
    if guidance.restart_from_guide and _is_guides_turn(guide, guidance):
        _draw_from_scores(model, core, guide)
    else:
        randomise(model, core)
    _go_on(model, core, gls)


@inlined
def _has_say(guide: GuideState, guidance: GuidanceConstants) -> bool:
    """Does the guide take part in the choice of moves at present?"""
    return bool(guidance.weight > 0.0 and not guide.counters[0]["is_alone"])


@inlined
def _climb(
    model: FlatModel,
    core: CoreState,
    utilities: Utilities | None,
    guide: GuideState,
    guidance: GuidanceConstants,
) -> None:
    """Make the move that guide and strategy choose together, or the strategy alone."""
    variable, value, has_say = -1, -1, _has_say(guide, guidance)
    if has_say:
        if guide.counters[0]["num_rebuilds"] != core.counters[0]["num_rebuilds"]:
            build_guide(model, core, guide, guidance)
        variable, value = select_move(model, core, guide, guidance)
    if variable < 0:
        variable = pick_top(core.gains, core.gain_levels, EPSILON, core.rng)
        value = best_value(model, core, variable)
    flip(model, core, variable, value, utilities)
    if has_say:
        follow_flip(model, core, guide, guidance, variable)
    refresh_if_due(model, core)


@inlined
def _is_stalled(core: CoreState, guide: GuideState, guidance: GuidanceConstants) -> bool:
    counters, limit = core.counters[0], guidance.stall * core.counters[0]["num_free"]
    idle_steps = counters["steps"] - max(counters["best_step"], counters["last_restart"])
    return bool(limit > 0 and idle_steps >= limit and not guide.counters[0]["is_alone"])


@inlined
def _turn_is_over(core: CoreState, guide: GuideState, guidance: GuidanceConstants) -> bool:
    """Has there been nothing better for so long that it is the strategy's turn alone, or the guide's again?

    Turns grow with the search, so that each is long enough for what the other found easy.
    """
    counters, turns = core.counters[0], guide.counters[0]
    limit = guidance.stall * counters["num_free"]
    idle_steps = counters["steps"] - max(counters["best_step"], turns["turn_step"])
    patience = turns["turn_step"] / 2 if turns["is_alone"] else counters["steps"] / 4
    return bool(guidance.fallback and limit > 0 and idle_steps >= max(limit, patience))


@called
def _take_turns(
    model: FlatModel,
    core: CoreState,
    gls: GlsState | None,
    guide: GuideState,
    guidance: GuidanceConstants,
) -> None:
    """Go on without the guide from where it has led, or with it from a restart; without old penalties."""
    turns = guide.counters[0]
    if turns["is_alone"]:
        _restart(model, core, gls, guide, guidance)
    else:
        save_all_best(core)
        _go_on(model, core, gls)
    turns["is_alone"] = not turns["is_alone"]
    turns["turn_step"] = core.counters[0]["steps"]


@kernel
def run_guided_gls(
    model: FlatModel,
    core: CoreState,
    gls: GlsState,
    constants: GlsConstants,
    guide: GuideState,
    guidance: GuidanceConstants,
    limits: Limits,
) -> int:
    """Run GLS+ with a guide until a limit is reached."""
    counters = core.counters[0]
    verdict = outcome(core, limits)
    while verdict == RUNNING and may_continue(core, limits):
        if tree_top(core.gains, core.gain_levels) > EPSILON:
            _climb(model, core, gls.utilities, guide, guidance)
            if _turn_is_over(core, guide, guidance):
                _take_turns(model, core, gls, guide, guidance)
            elif _is_stalled(core, guide, guidance) or restart_is_due(core, constants):
                _restart(model, core, gls, guide, guidance)
        else:
            num_tied = leave_optimum(model, core, gls, constants)
            if num_tied == 0:
                return STALLED
            if _has_say(guide, guidance):
                follow_penalties(model, core, guide, guidance, gls.tied_factors, num_tied)
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(core, limits)
    return verdict


@kernel
def run_guided_greedy(
    model: FlatModel,
    core: CoreState,
    guide: GuideState,
    guidance: GuidanceConstants,
    limits: Limits,
) -> int:
    """Run Greedy with a guide until a limit is reached."""
    counters, turns = core.counters[0], guide.counters[0]
    verdict = outcome(core, limits)
    while verdict == RUNNING and may_continue(core, limits):
        if tree_top(core.gains, core.gain_levels) > EPSILON:
            _climb(model, core, None, guide, guidance)
            turns["idle_restarts"] = 0
            if _turn_is_over(core, guide, guidance):
                _take_turns(model, core, None, guide, guidance)
            elif _is_stalled(core, guide, guidance):
                _restart(model, core, None, guide, guidance)
        else:
            counters["local_optima"] += 1
            turns["idle_restarts"] += 1
            if turns["idle_restarts"] > MAX_IDLE_RESTARTS:
                return STALLED
            _restart(model, core, None, guide, guidance)
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(core, limits)
    return verdict
