"""The automatic mix: several strategies, its arms, take turns, and time goes to what pays.

In the first round every arm searches by itself from the same assignment with the same work, and the one that
gets furthest has the largest share of the next rounds. From then on all arms share the best assignment, and
after each round the shares follow what each arm has added to the best score per unit of work, with a floor
for all. When no arm finds anything for a while, what they have gained before is forgotten. All is counted in
work, not in seconds, so a seed gives the same search on every machine.

Each arm has a core state of its own: its place, random stream and clocks. An arm that goes on where it was
left makes the very steps that it would make alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import CoreState, sibling
from beacon.engine.incumbent import (
    RUNNING,
    STALLED,
    Limits,
    first_best,
    floored_best_of,
    note_all_changed,
    save_all_best,
)
from beacon.model.flat import FlatModel
from beacon.strategies.strategy import Strategy

if TYPE_CHECKING:
    from beacon.engine.cross import Crossings

FADING = 0.9  # of older gains, a round
STALLED_ROUNDS = 10  # without a gain: what was gained before no longer counts
SHARES_A_PHASE = 20  # in the first round, where each arm has a best of its own
SLIGHT = 1e-4  # gains of this part of the score move the shares half as far as large ones


@dataclass
class Arm:
    """A strategy in the mix."""

    strategy: Strategy
    core: CoreState
    own: Any
    left_at: float = -np.inf
    """The best score of all arms when it was last left."""
    gain: float = 0.0
    """What it has added to the best score, older gains fading."""
    work: float = 0.0
    """What that took, fading alike."""
    is_joined: bool = False
    """Does it share the best of all arms? Not yet in the first round."""
    is_stalled: bool = False
    """Has it nothing left to do?"""

    @property
    def best_score(self) -> float:
        """The floored score of the best assignment that it knows."""
        return floored_best_of(self.core)


@dataclass
class Mix:
    """What the mix remembers. ``core`` is that of the whole search: the best, and the sums of all clocks."""

    strategies: tuple[Strategy, ...]
    start: NDArray[np.int32]
    """[variables] where all arms begin."""
    arms: list[Arm]
    """Those that have had their turn; each is set up when its first turn comes."""
    shares: NDArray[np.float64]
    """[strategies] shares of the work."""
    at: int = 0
    """Which arm is at work."""
    phase_end: int = 0
    """The work at which it gives way; 0: the search has not begun."""
    phase_work: int = 0
    """The work at which it began."""
    phase_score: float = 0.0
    """The best score at which it began."""
    next_share: int = 0
    """In the first round: the work at which it next shares what it has found."""
    is_first: bool = True
    """Is this the first round?"""
    idle_rounds: int = 0
    """Rounds since the last gain."""
    crossings: Crossings | None = None
    """Of the best with other opinions, between phases."""

    @property
    def arm(self) -> Arm:
        """The arm at work."""
        return self.arms[self.at]

    @property
    def leader(self) -> int:
        """The arm with the largest share."""
        return int(self.shares.argmax())


def new_mix(model: FlatModel, core: CoreState, strategies: tuple[Strategy, ...]) -> Mix:
    """The first arm at the place of the core, and equal shares for all."""
    shares = np.full(len(strategies), 1 / len(strategies))
    mix = Mix(strategies, core.assignment.copy(), [], shares)
    mix.arms.append(_new_arm(model, core, mix))
    return mix


def _new_arm(model: FlatModel, core: CoreState, mix: Mix) -> Arm:
    """The next strategy at the common start, with a best of its own."""
    strategy = mix.strategies[len(mix.arms)]
    place = sibling(model, core, flips=strategy.flips)
    place.assignment[:] = mix.start
    return Arm(strategy, place, strategy.new_state(model, place))


def settle_arm(model: FlatModel, arm: Arm) -> None:
    """Bring an arm up to date with its first assignment, which is the best that it knows."""
    arm.strategy.settle(model, arm.core, arm.own)
    first_best(arm.core)
    arm.core.counters[0]["num_events"] = 0


def settle_mix(model: FlatModel, core: CoreState, mix: Mix) -> None:
    """Go on from the core's assignment, or begin there: the whole stands where the arm at work stands."""
    arm = mix.arm
    arm.core.assignment[:] = core.assignment
    if mix.phase_end == 0:
        mix.start[:] = core.assignment
        settle_arm(model, arm)
    else:
        arm.strategy.settle(model, arm.core, arm.own)
        note_all_changed(arm.core)
        arm.core.counters[0]["num_events"] = 0
    for name in ("score", "zeros"):
        core.parts[name] = arm.core.parts[name]
    for name in ("fixed_score", "fixed_zeros"):
        core.counters[0][name] = arm.core.counters[0][name]


def run_mix(
    model: FlatModel, core: CoreState, mix: Mix, min_share: float, first_round: int, limits: Limits
) -> int:
    """Run the arm at work to a limit or the end of its phase, and then hand over to the next."""
    save_all_best(core)  # before an arm moves on
    if mix.phase_end == 0:
        _join(core, mix.arm)
        if (mix.start != core.best).any():
            note_all_changed(mix.arm.core)
        _begin_phase(core, mix, first_round)
    verdict = _run_arm(model, core, mix, limits)
    mix.arm.is_stalled = verdict == STALLED
    is_over = mix.arm.is_stalled or core.counters[0]["work"] >= mix.phase_end
    if is_over:
        _drop_useless(model, mix)
    if verdict not in {RUNNING, STALLED} or sum(arm.is_stalled for arm in mix.arms) == len(mix.strategies):
        return verdict
    if is_over:
        _hand_over(model, core, mix, min_share, first_round)
    return RUNNING


def _begin_phase(core: CoreState, mix: Mix, first_round: int) -> None:
    counters = core.counters[0]
    round_work = max(first_round, int(counters["work"]) // 10)
    mix.phase_work = int(counters["work"])
    mix.phase_end = mix.phase_work + int(mix.shares[mix.at] * round_work) + 1
    mix.phase_score = floored_best_of(core)
    _plan_share(mix, mix.phase_work)


def _plan_share(mix: Mix, work: int) -> None:
    """An arm that has a best of its own shares it now and then: at the same steps however it is called."""
    mix.next_share = work + 1 + (mix.phase_end - mix.phase_work) // SHARES_A_PHASE


def _run_arm(model: FlatModel, core: CoreState, mix: Mix, limits: Limits) -> int:
    """Run the arm at work on its own clocks, and add what it did to those of the whole."""
    arm, counters = mix.arm, core.counters[0]
    its = arm.core.counters[0]
    steps, work, optima = int(its["steps"]), int(its["work"]), int(its["local_optima"])
    end = mix.phase_end if arm.is_joined else min(mix.phase_end, mix.next_share)
    own_limits = Limits(
        limits.steps - int(counters["steps"]) + steps,
        min(limits.work, end) - int(counters["work"]) + work,
        limits.target,
    )
    verdict = arm.strategy.advance(model, arm.core, arm.own, own_limits)
    save_all_best(arm.core)
    if arm.is_joined or verdict != RUNNING or its["work"] - work >= end - counters["work"]:
        _share_best(core, arm, int(counters["steps"]) - steps)
        _plan_share(mix, end)
    its["num_events"] = 0
    counters["steps"] += its["steps"] - steps
    counters["work"] += its["work"] - work
    counters["local_optima"] += its["local_optima"] - optima
    core.assignment[:] = arm.core.assignment
    core.parts["score"] = arm.core.parts["score"]
    core.parts["zeros"] = arm.core.parts["zeros"]
    return verdict


def _share_best(core: CoreState, arm: Arm, steps_elsewhere: int) -> None:
    """Take what the arm has found into the best of the whole, part by part, with the events that say so.

    The best score is never added up call by call: rounding would depend on when the clock was looked at.
    """
    counters, its, mine, whole = core.counters[0], arm.core.counters[0], arm.core.parts, core.parts
    is_tie = mine["best_zeros"] == whole["best_zeros"]
    is_better = (mine["best_zeros"] < whole["best_zeros"]) | (
        is_tie & (mine["best_score"] > whole["best_score"] + whole["tolerance"])
    )
    if not is_better.any():
        return
    # Of fixed variables, which have no part, both have the same values.
    np.copyto(core.best, arm.core.best, where=True if is_better.all() else is_better[core.part_of])
    for name in ("best_score", "best_zeros"):
        whole[name][is_better] = mine[name][is_better]
    counters["best_step"] = its["best_step" if arm.is_joined else "steps"] + steps_elsewhere
    counters["best_zeros"] = counters["fixed_zeros"] + whole["best_zeros"].sum()
    if arm.is_joined:
        counters["best_score"] = its["best_score"]
        events = core.events[: int(its["num_events"])]
        events[:] = arm.core.events[: len(events)]
        events["step"] += steps_elsewhere
    else:  # its events are about a best of its own: one for all of them
        counters["best_score"] = counters["fixed_score"] + whole["best_score"].sum()
        events = core.events[:1]
        events["step"], events["score"] = counters["best_step"], floored_best_of(core)
        events["zeros"] = counters["best_zeros"]
    counters["num_events"] = len(events)


def _hand_over(model: FlatModel, core: CoreState, mix: Mix, min_share: float, first_round: int) -> None:
    """End the phase, share out the work of the next round if this one is over, and bring the next arm."""
    _credit(core, mix)
    mix.arm.left_at = floored_best_of(core)
    if mix.crossings is not None:
        mix.crossings.cross_due(model, core)
    _go_to_next(core, mix, min_share)
    core.counters[0]["work"] += len(model.scopes)
    if mix.at == len(mix.arms):
        mix.arms.append(_new_arm(model, core, mix))
        settle_arm(model, mix.arm)
    else:
        _enter(model, core, mix)
    _begin_phase(core, mix, first_round)


def _go_to_next(core: CoreState, mix: Mix, min_share: float) -> None:
    """Pass on to the next arm that has something left to do; one round ends after the last."""
    while True:
        if mix.at == len(mix.strategies) - 1:
            _share_out(core, mix, min_share)
        mix.at = (mix.at + 1) % len(mix.strategies)
        if mix.at == len(mix.arms) or not mix.arm.is_stalled:
            return


def _drop_useless(model: FlatModel, mix: Mix) -> None:
    """Leave out the next strategies that are of no use beside those that have had a turn."""
    known = [(arm.strategy, arm.own) for arm in mix.arms]
    while (k := len(mix.arms)) < len(mix.strategies) and mix.strategies[k].stands_aside(model, known):
        mix.strategies = mix.strategies[:k] + mix.strategies[k + 1 :]
        mix.shares = np.delete(mix.shares, k)


def _credit(core: CoreState, mix: Mix) -> None:
    """Note what the phase that ends has gained, and let older gains fade.

    The memory is long, because tree moves gain from a fresh start only when it is crossed with the best, many
    rounds later. The first round says nothing: any search would have had its gains.
    """
    if mix.is_first:
        return
    gain = floored_best_of(core) - mix.phase_score
    if gain > 0.0:
        mix.idle_rounds = 0
    mix.arm.gain = FADING * mix.arm.gain + gain
    mix.arm.work = FADING * mix.arm.work + int(core.counters[0]["work"]) - mix.phase_work


def _share_out(core: CoreState, mix: Mix, min_share: float) -> None:
    """Move the shares towards what the arms' gains say, the further the larger the gains are."""
    mix.idle_rounds += 1
    if mix.idle_rounds > STALLED_ROUNDS:  # early gains are so large that they would outweigh all later ones
        for arm in mix.arms:
            arm.gain = 0.0
    gains = np.array([max(0.0, arm.gain) for arm in mix.arms])
    if mix.is_first:
        fair = np.zeros(len(mix.arms))
        fair[np.argmax([arm.best_score for arm in mix.arms])] = 1.0
        mix.shares = _floored(fair, min_share)
        mix.is_first = False
    elif gains.any():
        fair = _fair_shares(gains / np.array([max(1.0, arm.work) for arm in mix.arms]))
        pull = gains.sum() / (gains.sum() + SLIGHT * abs(floored_best_of(core)))
        mix.shares = _floored(mix.shares + pull * (fair - mix.shares), min_share)


def _fair_shares(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares by gains per work, of which one is positive.

    An arm that rarely runs collects easy gains, so its recent rate overstates what it would gain with more
    time: shares follow the fourth powers.
    """
    powers = (rates / rates.max()) ** 4
    shares: NDArray[np.float64] = powers / powers.sum()
    return shares


def _floored(shares: NDArray[np.float64], min_share: float) -> NDArray[np.float64]:
    """The same shares with a floor for all: what the small ones lack, the others give in proportion."""
    small = shares <= min_share
    left = 1.0 - min_share * np.count_nonzero(small)
    large = np.where(small, 0.0, shares)
    floored = np.where(small, min_share, large * (left / (large.sum() or 1.0)))
    return floored if (floored >= min_share - 1e-12).all() else _floored(floored, min_share)


def _join(core: CoreState, arm: Arm) -> None:
    """Let an arm share the best of the whole. Cost: the number of variables."""
    arm.is_joined = True
    arm.core.best[:] = core.best
    for name in ("best_score", "best_zeros"):
        arm.core.counters[0][name] = core.counters[0][name]
        arm.core.parts[name] = core.parts[name]


def _enter(model: FlatModel, core: CoreState, mix: Mix) -> None:
    """Tell the arm at work what is known now, and let it go on from there if it does not stay.

    Cost: the number of variables, or what the strategy takes to settle.
    """
    arm, counters = mix.arm, core.counters[0]
    its, has_news = arm.core.counters[0], floored_best_of(core) > arm.left_at
    _join(core, arm)
    since_best = int(counters["steps"] - counters["best_step"])
    if has_news:  # patience counts from the last new best, whoever found it
        its["best_step"] = max(int(its["best_step"]), int(its["steps"]) - since_best)
    if not arm.strategy.stays(arm.own, mix.leader == mix.at, has_news):
        arm.core.assignment[:] = core.best
        arm.core.parts["best_is_current"] = False
        arm.strategy.settle(model, arm.core, arm.own)
        its["last_restart"] = its["steps"]
    note_all_changed(arm.core)
