"""The automatic mix: GLS+ and tree moves take turns on one incumbent, and time goes to what pays.

A round is shared between the two arms; after each round the shares follow what each has lately added to the
best score per unit of work, with a floor for both, and drift back to one half while neither improves. All is
counted in work, not in seconds, so a seed gives the same search on every machine.
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
    """Note what the phase that ends has gained, and let older gains fade."""
    counters = state.counters[0]
    arm = state.arms[counters["arm"]]
    arm["gain"] = 0.5 * arm["gain"] + floored_best(state) - counters["phase_score"]
    arm["work"] = 0.5 * arm["work"] + counters["work"] - counters["phase_work"]


@inlined
def _share_out(state: SearchState, constants: AutoConstants) -> None:
    """Set GLS+'s share of the next round by the arms' gains per work."""
    counters, gls, tree = state.counters[0], state.arms[GLS], state.arms[TREE]
    gls_rate = max(0.0, gls["gain"]) / (1.0 + gls["work"])
    tree_rate = max(0.0, tree["gain"]) / (1.0 + tree["work"])
    if gls_rate + tree_rate > 1e-15:
        share = gls_rate / (gls_rate + tree_rate)
        counters["share"] = min(1.0 - constants.min_share, max(constants.min_share, share))
    else:
        counters["share"] += 0.25 * (0.5 - counters["share"])


@inlined
def _stands_by_itself(state: SearchState, arm: int) -> bool:
    """Does an arm go on where it was, rather than from the best? GLS+ unless the other found a better one,
    tree moves after a fresh start."""
    counters = state.counters[0]
    if arm == GLS:
        return bool(counters["best_step"] <= counters["phase_step"])
    return bool(counters["is_fresh"])


@kernel
def _begin(state: SearchState, constants: AutoConstants) -> None:
    """GLS+ goes first, and both arms have one half."""
    state.counters[0]["share"] = 0.5
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
    _credit(state)
    save_all_best(state)
    by_itself = _stands_by_itself(state, new)
    for variable in range(len(state.assignment)):
        state.arm_assignments[old, variable] = state.assignment[variable]
        other = state.arm_assignments[new, variable] if by_itself else state.best[variable]
        state.assignment[variable] = other
    steps = counters["steps"] - counters["phase_step"]
    if old == GLS:
        counters["last_gain"] += steps  # the other arm's idleness does not grow meanwhile
    else:
        counters["last_restart"] += steps
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
