"""The automatic mix: GLS+ and tree moves take turns on one incumbent, and time goes to what pays.

In the first round both begin at the same assignment with the same work, and the one that gets further has
the larger share. After each later round the shares follow what each has added to the best score per unit of
work, with a floor for both; when both stall, what they have added before is forgotten. All is counted in
work, not in seconds, so a seed gives the same search on every machine.

Each has its own random stream, clocks and place. While GLS+ has the larger share it makes the very steps it
would make alone, only a little later: where tree moves are of no use, they do little harm. (Its restarts
count from the last new best, whoever found it.)
"""

from __future__ import annotations

from typing import NamedTuple

from beacon.engine.core import SearchState, rebuild, recount
from beacon.engine.incumbent import floored_best, floored_current, note_all_changed, save_all_best
from beacon.engine.limits import RUNNING, Limits
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.strategies.gls.kernel import GlsConstants, run_gls
from beacon.strategies.tree.kernel import TreeConstants, run_tree

GLS, TREE = 0, 1
FADING = 0.9  # of older gains, a round
STALLED_ROUNDS = 10  # without a gain: what was gained before no longer counts
SLIGHT = 1e-4  # gains of this part of the score move the shares half as far as large ones


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
    if gain > 0.0:
        counters["idle_rounds"] = 0
    arm["gain"] = FADING * arm["gain"] + gain
    arm["work"] = FADING * arm["work"] + counters["work"] - counters["phase_work"]


@inlined
def _judge_first_round(state: SearchState, constants: AutoConstants) -> None:
    """Tree moves have now done as much as GLS+ from the same assignment: has it taken them further?

    As a whole: that they are ahead in one part of the query, by however little, says nothing. Nor does it
    if they have stagnated already and were crossed with the best, which is GLS+'s.
    """
    counters = state.counters[0]
    if counters["is_fresh"] and floored_current(state) > counters["phase_score"]:
        counters["share"] = constants.min_share
    else:
        counters["share"] = 1.0 - constants.min_share
    counters["is_fresh"] = False


@inlined
def _fair_share(gls_rate: float, tree_rate: float) -> float:
    """GLS+'s share by the arms' gains per work, of which one is positive.

    By their fourth powers: an arm that rarely has its turn reaps what lies about, and would not go on so.
    """
    if gls_rate > tree_rate:
        return 1.0 / (1.0 + (tree_rate / gls_rate) ** 4)
    return 1.0 - 1.0 / (1.0 + (gls_rate / tree_rate) ** 4)


@inlined
def _forget_if_stalled(state: SearchState) -> None:
    """Early gains are so large that they would outweigh all later ones: let the next gain decide anew."""
    state.counters[0]["idle_rounds"] += 1
    if state.counters[0]["idle_rounds"] > STALLED_ROUNDS:
        state.arms[GLS]["gain"] = 0.0
        state.arms[TREE]["gain"] = 0.0


@inlined
def _share_out(state: SearchState, constants: AutoConstants, is_first: bool) -> None:
    """Move GLS+'s share of the next round towards what the arms' gains say, the more the larger they are."""
    _forget_if_stalled(state)
    counters, gls, tree = state.counters[0], state.arms[GLS], state.arms[TREE]
    gain = max(0.0, gls["gain"]) + max(0.0, tree["gain"])
    if is_first:
        _judge_first_round(state, constants)
    elif gain > 0.0:
        fair = _fair_share(max(0.0, gls["gain"]) / gls["work"], max(0.0, tree["gain"]) / tree["work"])
        weight = gain / (gain + SLIGHT * abs(floored_best(state)))
        share = counters["share"] + weight * (fair - counters["share"])
        counters["share"] = min(1.0 - constants.min_share, max(constants.min_share, share))


@inlined
def _stands_by_itself(state: SearchState, arm: int) -> bool:
    """Does an arm go on where it was, rather than from the best?

    Tree moves in the first round and after a fresh start; GLS+ while it has the larger share, or the other
    has found nothing better.
    """
    counters = state.counters[0]
    if arm == GLS:
        return bool(counters["share"] > 0.5 or floored_best(state) <= counters["phase_score"])
    return bool(counters["is_fresh"])


@kernel
def _begin(state: SearchState, constants: AutoConstants) -> None:
    """GLS+ goes first, and both arms have one half, the same start and the same random stream."""
    state.counters[0]["share"] = 0.5
    state.counters[0]["is_fresh"] = True
    state.arms[TREE]["rng"] = state.rng[0]
    for variable in range(len(state.assignment)):
        state.arm_assignments[TREE, variable] = state.assignment[variable]
    _begin_phase(state, constants, GLS)


@inlined
def _exchange(state: SearchState, old: int, new: int, by_itself: bool) -> None:
    """Put one arm's assignment and random stream away, and bring the other's."""
    for variable in range(len(state.assignment)):
        state.arm_assignments[old, variable] = state.assignment[variable]
        other = state.arm_assignments[new, variable] if by_itself else state.best[variable]
        state.assignment[variable] = other
    state.arms[old]["rng"] = state.rng[0]
    state.rng[0] = state.arms[new]["rng"]


@inlined
def _turn_to_tree(model: FlatModel, state: SearchState, by_itself: bool) -> None:
    """Stop GLS+'s clocks, and leave all that flips need as it is: tree moves want no more than scores."""
    counters = state.counters[0]
    if not by_itself:
        counters["lost"] = 0.0  # they begin at the best
    counters["next_harvest"] -= counters["work"]
    counters["last_restart"] = max(counters["best_step"], counters["last_restart"]) - counters["steps"]
    counters["last_gain"] += counters["steps"]
    counters["gls_rebuilds"] = counters["num_rebuilds"]
    counters["work"] += len(model.scopes)
    recount(model, state)


@inlined
def _turn_to_gls(model: FlatModel, state: SearchState, by_itself: bool) -> None:
    """Let GLS+'s clocks go on; recompute what flips need only if it is not where it was left."""
    counters = state.counters[0]
    counters["work"] += len(model.scopes)
    counters["next_harvest"] += counters["work"]
    counters["last_restart"] = counters["steps"] + (counters["last_restart"] if by_itself else 0)
    counters["last_gain"] -= counters["steps"]
    if by_itself and counters["gls_rebuilds"] == counters["num_rebuilds"]:
        recount(model, state)
    else:
        rebuild(model, state)


@kernel
def _switch(model: FlatModel, state: SearchState, constants: AutoConstants) -> None:
    """Hand over to the other arm. Cost: the links of the model, or a rebuild."""
    counters = state.counters[0]
    old = counters["arm"]
    new = 1 - old
    is_first = state.arms[TREE]["work"] == 0
    _credit(state)
    save_all_best(state)
    if old == TREE:
        _share_out(state, constants, is_first)
    by_itself = _stands_by_itself(state, new)
    _exchange(state, old, new, by_itself)
    if new == TREE:
        _turn_to_tree(model, state, by_itself)
    else:
        _turn_to_gls(model, state, by_itself)
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
