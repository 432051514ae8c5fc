"""Greedy and GLS+ with a guide: its scores have a say in the choice of moves and of restarts."""

from __future__ import annotations

from beacon.engine.core import SearchState, randomise, rebuild
from beacon.engine.flip import REFRESH_STEPS, best_value, flip
from beacon.engine.incumbent import save_all_best
from beacon.engine.limits import EPSILON, RUNNING, STALLED, Limits, may_continue, outcome
from beacon.engine.max_tree import pick_top, tree_top
from beacon.guided.guidance import GuidanceConstants
from beacon.guided.select import select_move
from beacon.guided.state import GuideState, build_guide, follow_flip, follow_penalties
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.gls.kernel import GlsConstants, clear_penalties, leave_optimum, restart_is_due
from beacon.strategies.greedy import MAX_IDLE_RESTARTS, begin_again

CHANCES = 1 << 32


@inlined
def _draw_value(model: FlatModel, state: SearchState, guide: GuideState, variable: int) -> int:
    """A value with a probability proportional to its score; uniformly if all scores are 0."""
    start, size, total = model.move_starts[variable], model.domain_sizes[variable], 0.0
    for value in range(size):
        total += float(guide.scores[start + value])
    if total <= 0.0:
        return random_below(state.rng, size)
    left = total * random_below(state.rng, CHANCES) / CHANCES
    chosen = 0
    for value in range(size):
        score = float(guide.scores[start + value])
        if score > 0.0:
            chosen = value
            if left < score:
                break
            left -= score
    return chosen


@kernel
def draw_from_scores(model: FlatModel, state: SearchState, guide: GuideState) -> None:
    """Draw every free variable's value from its scores."""
    for i in range(len(state.assignment)):
        if state.is_free[i]:
            state.assignment[i] = _draw_value(model, state, guide, i)


@inlined
def _is_guides_turn(state: SearchState, guidance: GuidanceConstants) -> bool:
    """Does this restart follow the guide? With a fallback, every other one is uniformly random."""
    state.counters[0]["guided_restarts"] += 1
    return bool(not guidance.fallback or state.counters[0]["guided_restarts"] % 2 == 1)


@kernel
def _restart(
    model: FlatModel,
    state: SearchState,
    guide: GuideState,
    guidance: GuidanceConstants,
    constants: GlsConstants,
) -> None:
    """Go on without penalties from a fresh assignment. Cost: that of a rebuild."""
    if len(state.penalties) > 0:
        clear_penalties(model, state, constants)
    save_all_best(state)
    if guidance.restart_from_guide and _is_guides_turn(state, guidance):
        draw_from_scores(model, state, guide)
    else:
        randomise(model, state)
    begin_again(model, state)


@inlined
def _has_say(state: SearchState, guidance: GuidanceConstants) -> bool:
    """Does the guide take part in the choice of moves at present?"""
    return bool(guidance.weight > 0.0 and not state.counters[0]["is_alone"])


@inlined
def _climb(
    model: FlatModel, state: SearchState, guide: GuideState, guidance: GuidanceConstants, penalising: bool
) -> None:
    """Make the move that guide and strategy choose together, or the strategy alone."""
    variable, value, has_say = -1, -1, _has_say(state, guidance)
    if has_say:
        if guide.counters[0]["num_rebuilds"] != state.counters[0]["num_rebuilds"]:
            build_guide(model, state, guide, guidance)
        variable, value = select_move(model, state, guide, guidance)
    if variable < 0:
        variable = pick_top(state.gains, state.gain_levels, EPSILON, state.rng)
        value = best_value(model, state, variable)
    flip(model, state, variable, value, penalising)
    if has_say:
        follow_flip(model, state, guide, guidance, variable)
    if state.counters[0]["steps"] % REFRESH_STEPS == 0:
        rebuild(model, state)


@inlined
def _is_stalled(state: SearchState, guidance: GuidanceConstants) -> bool:
    counters, limit = state.counters[0], guidance.stall * state.counters[0]["num_free"]
    idle_steps = counters["steps"] - max(counters["best_step"], counters["last_restart"])
    return bool(limit > 0 and idle_steps >= limit and not counters["is_alone"])


@inlined
def _turn_is_over(state: SearchState, guidance: GuidanceConstants) -> bool:
    """Has there been nothing better for so long that it is the strategy's turn alone, or the guide's again?

    Turns grow with the search, so that each is long enough for what the other found easy.
    """
    counters, limit = state.counters[0], guidance.stall * state.counters[0]["num_free"]
    idle_steps = counters["steps"] - max(counters["best_step"], counters["turn_step"])
    patience = counters["turn_step"] / 2 if counters["is_alone"] else counters["steps"] / 4
    return bool(guidance.fallback and limit > 0 and idle_steps >= max(limit, patience))


@inlined
def _take_turns(
    model: FlatModel,
    state: SearchState,
    guide: GuideState,
    guidance: GuidanceConstants,
    constants: GlsConstants,
) -> None:
    """Go on without the guide from where it has led, or with it from a restart; without old penalties."""
    counters = state.counters[0]
    if counters["is_alone"]:
        _restart(model, state, guide, guidance, constants)
    else:
        if len(state.penalties) > 0:
            clear_penalties(model, state, constants)
        save_all_best(state)
        begin_again(model, state)
    counters["is_alone"] = not counters["is_alone"]
    counters["turn_step"] = counters["steps"]


@kernel
def run_guided(
    model: FlatModel,
    state: SearchState,
    guide: GuideState,
    guidance: GuidanceConstants,
    constants: GlsConstants,
    limits: Limits,
) -> int:
    """Run GLS+ if the state has penalties, else Greedy, until a limit is reached."""
    counters = state.counters[0]
    penalising = len(state.penalties) > 0
    verdict = outcome(state, limits)
    while verdict == RUNNING and may_continue(state, limits):
        if tree_top(state.gains, state.gain_levels) > EPSILON:
            _climb(model, state, guide, guidance, penalising)
            counters["idle_restarts"] = 0
            if _turn_is_over(state, guidance):
                _take_turns(model, state, guide, guidance, constants)
            elif _is_stalled(state, guidance) or (penalising and restart_is_due(state, constants)):
                _restart(model, state, guide, guidance, constants)
        elif penalising:
            num_tied = leave_optimum(model, state, constants)
            if num_tied == 0:
                return STALLED
            if _has_say(state, guidance):
                follow_penalties(model, state, guide, guidance, num_tied)
        else:
            counters["local_optima"] += 1
            counters["idle_restarts"] += 1
            if counters["idle_restarts"] > MAX_IDLE_RESTARTS:
                return STALLED
            _restart(model, state, guide, guidance, constants)
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(state, limits)
    return verdict
