"""The automatic mix: GLS+ and tree moves take turns on one incumbent, and time goes to what pays.

In the first round both begin at the same assignment with the same work, and the one that gets further has
the larger share. After each later round the shares follow what each has added to the best score per unit of
work, with a floor for both. All is counted in work, not in seconds, so a seed gives the same search on every
machine.
"""

from __future__ import annotations

from typing import NamedTuple

from beacon.model.flat import FlatModel
from beacon.search.gls import GlsConstants, run_gls
from beacon.search.incumbent import floored_best, note_all_changed, save_all_best
from beacon.search.jit import inlined, kernel
from beacon.search.limits import RUNNING, Limits
from beacon.search.state import SearchState, rebuild
from beacon.search.tree import TreeConstants, run_tree

GLS, TREE = 0, 1
FADING = 0.9  # of older gains, a round


class AutoConstants(NamedTuple):
    """The numbers of the mix as its kernel takes them."""

    gls: GlsConstants
    tree: TreeConstants
    min_share: float
    """The least share of the work for each arm."""
    first_round: int
    """Work of the first round; later ones are a tenth of all work done."""


@inlined
def _begin_phase(state: SearchState, constants: AutoConstants, arm: int) -> None:
    counters = state.counters[0]
    round_work = max(constants.first_round, counters["work"] // 10)
    share = counters["share"] if arm == GLS else 1.0 - counters["share"]
    counters["arm"] = arm
    counters["phase_end"] = counters["work"] + int(share * round_work) + 1
    counters["phase_step"] = counters["steps"]
    counters["phase_work"] = counters["work"]
    counters["phase_score"] = floored_best(state)


@inlined
def _credit(state: SearchState) -> None:
    """Note what the phase that ends has gained, and let older gains fade.

    Tree moves reap what a fresh start has sown only when it is crossed with the best, many rounds later, so
    the memory is long. What the first phases gain says nothing: any search would.
    """
    counters = state.counters[0]
    arm = state.arms[counters["arm"]]
    gain = floored_best(state) - counters["phase_score"] if arm["work"] > 0 else 0.0
    arm["gain"] = FADING * arm["gain"] + gain
    arm["work"] = FADING * arm["work"] + counters["work"] - counters["phase_work"]


@inlined
def _share_out(state: SearchState, constants: AutoConstants) -> None:
    """Set GLS+'s share of the next round by the arms' gains per work, if there are any.

    By their fourth powers: an arm that rarely has its turn reaps what lies about, and would not go on so.
    """
    counters, gls, tree = state.counters[0], state.arms[GLS], state.arms[TREE]
    gls_rate = max(0.0, gls["gain"]) / gls["work"]
    tree_rate = max(0.0, tree["gain"]) / tree["work"]
    if max(gls_rate, tree_rate) > 0.0:
        if gls_rate > tree_rate:
            share = 1.0 / (1.0 + (tree_rate / gls_rate) ** 4)
        else:
            share = 1.0 - 1.0 / (1.0 + (gls_rate / tree_rate) ** 4)
        counters["share"] = min(1.0 - constants.min_share, max(constants.min_share, share))


@inlined
def _judge_first_round(state: SearchState, constants: AutoConstants) -> None:
    """Tree moves have now done as much as GLS+ from the same assignment: has it taken them further?"""
    counters = state.counters[0]
    if floored_best(state) > counters["phase_score"]:
        counters["share"] = constants.min_share
    else:
        counters["share"] = 1.0 - constants.min_share
    counters["is_fresh"] = False


@inlined
def _stands_by_itself(state: SearchState, arm: int) -> bool:
    """Does an arm go on where it was, rather than from the best? GLS+ unless the other found a better one,
    tree moves in the first round and after a fresh start."""
    counters = state.counters[0]
    if arm == GLS:
        return bool(counters["best_step"] <= counters["phase_step"])
    return bool(counters["is_fresh"])


@kernel
def _begin(state: SearchState, constants: AutoConstants) -> None:
    """GLS+ goes first, and both arms have one half and the same start."""
    state.counters[0]["share"] = 0.5
    state.counters[0]["is_fresh"] = True
    for variable in range(len(state.assignment)):
        state.arm_assignments[GLS, variable] = state.assignment[variable]
        state.arm_assignments[TREE, variable] = state.assignment[variable]
    _begin_phase(state, constants, GLS)


@kernel
def _switch(model: FlatModel, state: SearchState, constants: AutoConstants) -> None:
    """Hand over to the other arm. Cost: that of a rebuild."""
    counters = state.counters[0]
    old = counters["arm"]
    new = 1 - old
    is_first = state.arms[TREE]["work"] == 0
    _credit(state)
    save_all_best(state)
    by_itself = _stands_by_itself(state, new)
    for variable in range(len(state.assignment)):
        state.arm_assignments[old, variable] = state.assignment[variable]
        other = state.arm_assignments[new, variable] if by_itself else state.best[variable]
        state.assignment[variable] = other
    steps = counters["steps"] - counters["phase_step"]
    if old == GLS:  # the other arm's idleness does not grow meanwhile
        counters["last_gain"] += steps
    elif by_itself:
        counters["last_restart"] = max(counters["best_step"], counters["last_restart"]) + steps
    else:
        counters["last_restart"] = counters["steps"]
    if old == TREE and is_first:
        _judge_first_round(state, constants)
    elif old == TREE:
        _share_out(state, constants)
    rebuild(model, state)
    counters["work"] += len(model.scopes)
    note_all_changed(state)
    _begin_phase(state, constants, new)


def run_auto(model: FlatModel, state: SearchState, constants: AutoConstants, limits: Limits) -> int:
    """Run the arm at work, and switch at the end of its phase, until a limit is reached."""
    counters = state.counters[0]
    if counters["phase_end"] == 0:
        _begin(state, constants)
    while True:
        phase = Limits(limits.steps, min(limits.work, int(counters["phase_end"])), limits.target)
        if counters["arm"] == GLS:
            verdict = run_gls(model, state, constants.gls, phase)
        else:
            verdict = run_tree(model, state, constants.tree, phase)
        if verdict != RUNNING or counters["work"] < counters["phase_end"]:
            return verdict
        _switch(model, state, constants)
