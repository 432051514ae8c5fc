"""The automatic mix: who gets the work, and what each arm keeps while the other has its turn."""

from __future__ import annotations

import math

import pytest

from beacon.engine.limits import Limits
from beacon.model import families
from beacon.runner.search import NO_LIMIT, Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.auto import Auto
from beacon.strategies.auto.mix import FADING, GLS, SLIGHT, STALLED_ROUNDS, TREE, _begin, _switch, run_auto
from beacon.strategies.gls import GlsPlus
from tests.engine.helpers import new_search

MODEL = families.ising_grid(rows=6, columns=6, wrap=True, seed=1)


def begun(strategy: Auto | None = None) -> tuple[Search, Auto]:
    """A search whose first phase has begun but done nothing."""
    auto = (strategy or Auto()).fitted(new_search(MODEL, {}, Auto()).model)
    search = new_search(MODEL, {}, auto)
    _begin(search.state, auto.constants(search.model))
    return search, auto


def pass_phase(search: Search, auto: Auto, gain: float = 0.0, work: int = 1000, steps: int = 10) -> None:
    """Pretend that the arm at work has gained something, and hand over."""
    counters = search.state.counters[0]
    counters["work"] += work
    counters["steps"] += steps
    counters["best_score"] += gain
    if gain > 0:
        counters["best_step"] = counters["steps"]
    _switch(search.model, search.state, auto.constants(search.model))


def share(search: Search) -> float:
    return float(search.state.counters[0]["share"])


def test_both_arms_begin_at_the_same_assignment() -> None:
    search, auto = begun()
    first = search.state.assignment.tolist()
    search.state.assignment[:] = 1 - search.state.assignment  # GLS+ goes elsewhere
    pass_phase(search, auto, gain=1.0)
    assert search.state.counters[0]["arm"] == TREE
    assert search.state.assignment.tolist() == first


@pytest.mark.parametrize(("lead", "expected"), [(1.0, 0.05), (-1.0, 0.95)])
def test_the_arm_that_gets_further_in_the_first_round_has_the_larger_share(
    lead: float, expected: float
) -> None:
    search, auto = begun()
    pass_phase(search, auto, gain=100.0)
    search.state.parts["score"][0] += search.best_score - search.score + lead  # where tree moves have come to
    pass_phase(search, auto)
    assert share(search) == pytest.approx(expected)


def test_a_lead_in_one_part_alone_does_not_win_the_first_round() -> None:
    search, auto = begun()
    pass_phase(search, auto, gain=100.0)
    pass_phase(search, auto, gain=0.001)  # some part of the best, while the whole is far behind
    assert share(search) == pytest.approx(0.95)


def test_what_the_first_phases_gain_is_not_credited() -> None:
    search, auto = begun()
    pass_phase(search, auto, gain=100.0)
    pass_phase(search, auto, gain=100.0)
    assert search.state.arms["gain"].tolist() == [0.0, 0.0]
    assert (search.state.arms["work"] > 0).all()


def test_later_shares_follow_the_gains_and_stay_while_there_are_none() -> None:
    search, auto = begun()
    for gain in (9.0, 0.0, 0.0, 4.0):  # GLS+, tree, GLS+, tree
        pass_phase(search, auto, gain=gain)
    assert share(search) == pytest.approx(0.05, abs=0.01)
    for gain in (0.0, 0.0):
        pass_phase(search, auto, gain=gain)
    assert share(search) == pytest.approx(0.05, abs=0.01)
    assert search.state.arms["gain"][TREE] == pytest.approx(4.0 * FADING)
    pass_phase(search, auto, gain=1000.0)
    pass_phase(search, auto)
    assert share(search) == pytest.approx(0.95)


def test_slight_gains_move_the_shares_a_little() -> None:
    search, auto = begun()
    slight = SLIGHT * abs(search.best_score)
    for gain in (0.0, 0.0, 0.0, slight / 9):
        pass_phase(search, auto, gain=gain)
    assert share(search) == pytest.approx(0.95 - 0.1 * 0.95, rel=1e-3)


def test_when_both_stall_earlier_gains_are_forgotten_and_the_next_decides() -> None:
    search, auto = begun()
    for gain in (0.0, 0.0, 1e6, 0.0):  # GLS+ gains a lot in the second round
        pass_phase(search, auto, gain=gain)
    for _ in range(STALLED_ROUNDS - 1):
        pass_phase(search, auto)
        pass_phase(search, auto)
    assert search.state.arms["gain"][GLS] > 1e5
    pass_phase(search, auto)
    pass_phase(search, auto)
    assert (search.state.arms["gain"].tolist(), share(search)) == ([0.0, 0.0], 0.95)
    pass_phase(search, auto)
    pass_phase(search, auto, gain=1000.0)  # far less than before, but tree moves alone
    assert share(search) < 0.1


def test_equal_gains_for_equal_work_share_alike() -> None:
    search, auto = begun()
    search.state.arms["work"] = 1000.0
    search.state.arms["gain"] = 3.0
    search.state.counters[0]["arm"] = TREE
    search.state.counters[0]["phase_work"] = 0
    search.state.counters[0]["work"] = 0
    _switch(search.model, search.state, auto.constants(search.model))
    assert share(search) == pytest.approx(0.5, abs=0.05)


def test_the_steps_of_tree_moves_do_not_make_gls_idle() -> None:
    search, auto = begun()
    pass_phase(search, auto, gain=1.0, steps=10)  # GLS+ finds a best in its last step
    pass_phase(search, auto, steps=500)
    counters = search.state.counters[0]
    assert counters["arm"] == GLS
    assert counters["steps"] - max(counters["best_step"], counters["last_restart"]) == 0


@pytest.mark.parametrize("family", ["coloring", "dbn"])
def test_where_it_has_the_larger_share_gls_makes_the_steps_it_would_make_alone(family: str) -> None:
    model = {
        "coloring": families.weighted_coloring(num_vertices=60, density=0.3, num_colors=4, seed=2),
        "dbn": families.deep_belief_net(width=5, height=5, hidden=(20, 10), seed=2),
    }[family]
    gls = GlsPlus(restart_idle=20)
    search, alone = new_search(model, {}, Auto(gls=gls, first_round=4000)), new_search(model, {}, gls)
    for _ in range(20):
        steps = run_phase(search)
        assert search.state.counters[0]["arm"] == TREE
        alone.run(MaxSteps(alone.steps + steps))
        assert search.state.arm_assignments[GLS].tolist() == alone.state.assignment.tolist()
        run_phase(search)
        assert share(search) > 0.5
    assert alone.state.counters[0]["last_restart"] > 0  # its restarts come at the same steps, too


def run_phase(search: Search) -> int:
    """Let the arm at work finish its phase and hand over; return its steps."""
    assert isinstance(search.strategy, Auto)
    constants, counters = search.strategy.constants(search.model), search.state.counters[0]
    before = search.steps
    if counters["phase_end"] == 0:
        _begin(search.state, constants)
    end = int(counters["phase_end"])
    while counters["phase_end"] == end:
        run_auto(search.model, search.state, constants, Limits(NO_LIMIT, end, math.inf))
        counters["num_events"] = 0
    return search.steps - before
