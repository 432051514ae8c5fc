"""The automatic mix: who gets the work, what each arm keeps, and what the whole knows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.engine.incumbent import RUNNING, STALLED, Limits
from beacon.extend import CoreState, FlatModel, Strategy, flip, kernel, may_continue, outcome
from beacon.model import families
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import NO_LIMIT, Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.auto import Auto, OtherWeight
from beacon.strategies.auto import mix as mix_module
from beacon.strategies.auto.mix import FADING, SLIGHT, STALLED_ROUNDS, Mix
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from beacon.strategies.tree import Tree
from tests.engine.helpers import check_best, new_search, small_models, some_evidence, standing
from tests.reference import Naive
from tests.runner.test_search import check_monotone
from tests.strategies.contenders import MIXES, Turns

MODELS = small_models()
GRID = families.ising_grid(rows=6, columns=6, wrap=True, seed=1)
COLORING = families.weighted_coloring(num_vertices=60, density=0.3, num_colors=4, seed=2)
BELIEF = families.deep_belief_net(width=5, height=5, hidden=(20, 10), seed=2)
FIVE = Auto((GlsPlus(), Tree(), Greedy(), Turns(), GlsPlus(penalty_weight=9.0)), first_round=500)
OF_ANY_SIZE = {"two": Auto(first_round=500), "three": MIXES["three arms"], "five": FIVE}
COUNT = 400
STAIRS = GraphicalModel.from_tables(
    [2] * COUNT,
    [((0, 1), [0.0, -1, -1, 0.0]), ((0, 1), [-1, 0.0, 0.0, -1])] + [((i,), [0.0, 1.0]) for i in range(COUNT)],
)  # every variable set to 1 gains one nat, and two factors keep the bound out of reach


@kernel
def run_paid(model: FlatModel, core: CoreState, price: int, limits: Limits) -> int:
    """Set one variable after the other to 1, each at a price in work."""
    counters = core.counters[0]
    verdict = outcome(core, limits)
    while verdict == RUNNING and may_continue(core, limits):
        counters["work"] += price
        for variable in range(len(core.assignment)):
            if core.assignment[variable] == 0:
                flip(model, core, variable, 1)
                break
    return verdict


@dataclass(frozen=True)
class Paid(Strategy):
    """Climbs at a known rate."""

    price: int = 10
    name: ClassVar[str] = "paid"

    def advance(self, model: FlatModel, core: CoreState, own: Any, limits: Limits) -> int:
        return run_paid(model, core, self.price, limits)


@dataclass(frozen=True)
class Idle(Strategy):
    """Never finds anything, and never says so."""

    name: ClassVar[str] = "idle"

    def advance(self, model: FlatModel, core: CoreState, own: Any, limits: Limits) -> int:
        core.counters[0]["work"] += 50
        return RUNNING


@dataclass(frozen=True)
class Lame(Strategy):
    """Stalls at once."""

    name: ClassVar[str] = "lame"

    def advance(self, model: FlatModel, core: CoreState, own: Any, limits: Limits) -> int:
        return STALLED


@dataclass(frozen=True)
class Note(GlsPlus):
    """GLS+ that notes where it is first called."""

    def advance(self, model: FlatModel, core: CoreState, own: Any, limits: Limits) -> int:
        SEEN.setdefault(id(own), core.assignment.tolist())
        return super().advance(model, core, own, limits)


SEEN: dict[int, list[int]] = {}


def mix_of(search: Search) -> Mix:
    assert isinstance(search.own, Mix)
    return search.own


def call(search: Search, work: int = NO_LIMIT) -> int:
    """One call of the mix: the arm at work, up to the end of its phase."""
    limits = Limits(NO_LIMIT, work, math.inf)
    verdict = search.strategy.advance(search.model, search.core, search.own, limits)
    search.core.counters[0]["num_events"] = 0
    return verdict


def run_phase(search: Search) -> None:
    """Let the arm at work finish its phase and hand over."""
    mix = mix_of(search)
    call(search, work=1)  # the first call begins the first phase
    end = mix.phase_end
    while mix.phase_end == end:
        call(search)


# Who gets the work.


@pytest.mark.parametrize("name", OF_ANY_SIZE)
def test_shares_sum_to_one_and_none_is_below_the_floor(name: str) -> None:
    auto = OF_ANY_SIZE[name]
    for model in (GRID, COLORING):
        search = new_search(model, {}, auto)
        mix, seen = mix_of(search), set()
        for _ in range(40 * len(auto.arms)):
            run_phase(search)
            assert mix.shares.sum() == pytest.approx(1)
            assert (mix.shares >= auto.min_share - 1e-9).all()
            seen.add(tuple(mix.shares.tolist()))
        assert len(seen) > 1


@settings(max_examples=200, deadline=None)
@given(
    weights=st.lists(st.floats(0, 1), min_size=1, max_size=6).filter(any),
    part=st.sampled_from([0.01, 0.3, 0.9, 1.0]),
)
def test_a_floor_keeps_the_sum_and_the_order(weights: list[float], part: float) -> None:
    shares, floor = np.array(weights) / sum(weights), part / len(weights)
    floored = mix_module._floored(shares, floor)
    assert floored.sum() == pytest.approx(1)
    assert (floored >= floor - 1e-9).all()
    assert (np.diff(floored[np.argsort(shares)]) >= -1e-9).all()
    if (shares > floor).all():
        assert floored == pytest.approx(shares)


@pytest.mark.parametrize("arms", [(Greedy(),), (Greedy(), GlsPlus())])
def test_the_floor_may_be_all_there_is(arms: tuple[Strategy, ...]) -> None:
    search = new_search(GRID, {}, Auto(arms, min_share=1 / len(arms), first_round=200))
    with np.errstate(all="raise"):
        search.run(MaxSteps(3000))
    assert mix_of(search).shares.tolist() == pytest.approx([1 / len(arms)] * len(arms))


@pytest.mark.parametrize("arms", [2, 3, 5])
@pytest.mark.parametrize("place", [0, 1, -1])
def test_the_arm_that_gets_furthest_in_the_first_round_has_the_largest_share(arms: int, place: int) -> None:
    strategies: list[Strategy] = [Paid(20) for _ in range(arms)]
    strategies[place] = Paid(10)
    search = new_search(STAIRS, {}, Auto(tuple(strategies), first_round=arms * 200), seed=4)
    for _ in range(arms):
        run_phase(search)
    shares = mix_of(search).shares
    assert shares.argmax() == place % arms
    assert shares.max() == pytest.approx(1 - 0.05 * (arms - 1))
    assert search.own.at == 0


def test_in_the_first_round_all_arms_have_the_same_work() -> None:
    search = new_search(GRID, {}, Auto((GlsPlus(), Tree(), Turns()), first_round=6000))
    ends = [0]
    for _ in range(3):
        run_phase(search)
        ends.append(int(search.core.counters[0]["work"]))
    for spent in np.diff(ends):
        assert spent == pytest.approx(2000, abs=500)  # one region of tree moves is not interrupted


def test_later_the_work_goes_where_it_gains_most() -> None:
    search = new_search(STAIRS, {}, Auto((Idle(), Paid(1000), Paid(60)), first_round=3000))
    for _ in range(12):
        run_phase(search)
    assert mix_of(search).shares == pytest.approx([0.05, 0.05, 0.9], abs=0.02)
    work = [arm.core.counters[0]["work"] for arm in mix_of(search).arms]
    assert work[2] > work[0] + work[1]


def begun() -> Search:
    """A search of two arms whose first phase has begun but done nothing."""
    search = new_search(GRID, {}, Auto((GlsPlus(), Tree())))
    mix_module._begin_phase(search.core, mix_of(search), 1000)
    return search


def pass_phase(search: Search, gain: float = 0.0, work: int = 1000) -> None:
    """Pretend that the arm at work has gained something, and hand over."""
    mix, counters = mix_of(search), search.core.counters[0]
    counters["work"] += work
    counters["best_score"] += gain
    mix.arm.core.counters[0]["best_score"] += gain
    mix_module._hand_over(search.model, search.core, mix, 0.05, 1000)


def test_neither_the_gains_nor_the_work_of_the_first_round_count() -> None:
    search = begun()
    pass_phase(search, gain=100.0)
    pass_phase(search, gain=100.0)
    assert [arm.gain for arm in mix_of(search).arms] == [0.0, 0.0]
    assert [arm.work for arm in mix_of(search).arms] == [0.0, 0.0]
    pass_phase(search, gain=5.0, work=700)
    assert (mix_of(search).arms[0].gain, mix_of(search).arms[0].work) == (5.0, 700.0)


def test_shares_follow_the_gains_and_stay_while_there_are_none() -> None:
    search = begun()
    for gain in (9.0, 0.0, 0.0, 4.0):  # GLS+, tree, GLS+, tree
        pass_phase(search, gain=gain)
    assert mix_of(search).shares[0] == pytest.approx(0.05, abs=0.01)
    for gain in (0.0, 0.0):
        pass_phase(search, gain=gain)
    assert mix_of(search).shares[0] == pytest.approx(0.05, abs=0.01)
    assert mix_of(search).arms[1].gain == pytest.approx(4.0 * FADING)
    pass_phase(search, gain=1000.0)
    pass_phase(search)
    assert mix_of(search).shares[0] == pytest.approx(0.95)


def test_slight_gains_move_the_shares_a_little() -> None:
    search = begun()
    slight = SLIGHT * abs(search.best_score)
    for gain in (0.0, 0.0, 0.0, slight / 9):
        pass_phase(search, gain=gain)
    assert mix_of(search).shares[0] == pytest.approx(0.95 - 0.1 * 0.95, rel=1e-3)


def test_when_no_arm_gains_for_long_earlier_gains_are_forgotten() -> None:
    search = begun()
    for gain in (0.0, 0.0, 1e6, 0.0):  # GLS+ gains a lot in the second round
        pass_phase(search, gain=gain)
    for _ in range(STALLED_ROUNDS):
        pass_phase(search)
        pass_phase(search)
    assert [arm.gain for arm in mix_of(search).arms] == [0.0, 0.0]
    pass_phase(search)
    pass_phase(search, gain=1000.0)  # far less than before, but tree moves alone
    assert mix_of(search).shares[0] < 0.1


def test_equal_gains_for_equal_work_share_alike() -> None:
    search = begun()
    pass_phase(search)
    pass_phase(search)
    for arm in mix_of(search).arms:
        arm.gain, arm.work = 1e6, 1000.0
    mix_module._share_out(search.core, mix_of(search), 0.05)
    assert mix_of(search).shares == pytest.approx([0.5, 0.5], abs=0.01)


# What each arm keeps.


def test_all_arms_begin_at_the_same_assignment() -> None:
    SEEN.clear()
    search = new_search(GRID, {}, Auto((Note(), Note(3.0), Note(9.0)), first_round=600))
    first = standing(search)
    for _ in range(3):
        run_phase(search)
    assert list(SEEN.values()) == [first] * 3


@pytest.mark.parametrize(
    ("model", "arms"),
    [
        (COLORING, (GlsPlus(restart_idle=20), Tree())),
        (
            families.deep_belief_net(width=5, height=5, hidden=(20, 10), seed=2),
            (GlsPlus(restart_idle=20), Tree()),
        ),
        (COLORING, (GlsPlus(restart_idle=20), Idle(), Lame())),
        (GRID, (Turns(), Idle())),
    ],
    ids=["coloring", "dbn", "three arms", "own arm"],
)
def test_an_arm_that_leads_makes_the_steps_that_it_would_make_alone(
    model: GraphicalModel, arms: tuple[Strategy, ...]
) -> None:
    search, alone = new_search(model, {}, Auto(arms, first_round=4000)), new_search(model, {}, arms[0])
    mix = mix_of(search)
    for _ in range(20):
        run_phase(search)
        arm = mix.arms[0]
        alone.run(MaxSteps(int(arm.core.counters[0]["steps"])))
        assert arm.core.assignment.tolist() == standing(alone)
        for _ in arms[1:]:
            run_phase(search)
        assert mix.leader == 0
    assert alone.steps > 500


def test_an_arm_that_does_not_lead_goes_on_from_the_best_of_all() -> None:
    search = new_search(STAIRS, {}, Auto((GlsPlus(), Turns()), first_round=400), seed=1)
    run_phase(search)
    run_phase(search)
    best = search.best_score
    run_phase(search)
    assert search.best_score > best  # the leader has found something better
    arm = mix_of(search).arms[1]
    assert arm.core.assignment.tolist() == search.best_assignment.tolist()


def test_tree_moves_stay_on_a_fresh_start_and_work_on_the_best_otherwise() -> None:
    tree = Tree(min_region=2, max_region=8, restart_idle=3)
    search = new_search(GRID, {}, Auto((GlsPlus(), tree), first_round=2000))
    mix, fresh = mix_of(search), []
    run_phase(search)
    run_phase(search)
    for _ in range(100):
        arm = mix.arms[1]
        left = arm.core.assignment.tolist()
        run_phase(search)  # GLS+, and tree moves are entered again
        fresh.append(tree.stays(arm.own, leads=False, has_news=True))
        expected = left if fresh[-1] else search.best_assignment.tolist()
        assert arm.core.assignment.tolist() == expected
        run_phase(search)
    assert set(fresh) == {False, True}


# What the whole knows.


@pytest.mark.parametrize("name", ["two", *MIXES])
@pytest.mark.parametrize("model", ["grid", "bayes", "oddities", "pedigree"])
def test_the_best_never_gets_worse_and_is_what_it_says_at_every_moment(name: str, model: str) -> None:
    problem = MODELS[model]
    evidence = some_evidence(problem, 1, 3)
    search = new_search(problem, evidence, {**MIXES, **OF_ANY_SIZE}[name], seed=2)
    naive = Naive(problem, evidence, search.model.log_zero)
    known = (search.best_zeros, -search.best_score)
    for _ in range(60):
        search.run(MaxSteps(search.steps + 7))
        check_best(search, naive)
        assert (search.score, search.zeros) == (
            pytest.approx(naive.score(standing(search)), abs=1e-6),
            naive.zeros(standing(search)),
        )
        assert (search.best_zeros, -search.best_score) <= known
        known = (search.best_zeros, -search.best_score)
    check_monotone(search.trace)
    assert (search.trace.zero_factors[-1], search.trace.scores[-1]) == (search.best_zeros, search.best_score)


def test_the_best_of_two_arms_is_joined_part_by_part() -> None:
    """In the first round each arm knows one half of a model of two halves: the whole has both."""
    halves = [((i, i + 1), [0.0, 1.0, 1.0, 0.3]) for i in (0, 2)] + [
        ((i, i + 1), [0.1, 0.0, 0.0, 0.0]) for i in (0, 2)
    ]
    model = GraphicalModel.from_tables([2] * 4, halves)

    @dataclass(frozen=True)
    class Half(Strategy):
        first: int
        name: ClassVar[str] = "half"

        def advance(self, model: FlatModel, core: CoreState, own: Any, limits: Limits) -> int:
            core.counters[0]["work"] += 20
            if core.assignment[self.first] == 0:
                flip_from_python(model, core, self.first, 1)
            return RUNNING

    search = Search(
        new_search(model, {}, Greedy()).model,
        {},
        Auto((Half(0), Half(2)), first_round=100),
        np.zeros(4, dtype=np.int64),
    )
    for _ in range(3):
        run_phase(search)
    assert search.best_assignment.tolist() == [1, 0, 1, 0]
    assert search.best_score == pytest.approx(2.0)


@kernel
def flip_from_python(model: FlatModel, core: CoreState, variable: int, value: int) -> None:
    flip(model, core, variable, value)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_arm_that_stalls_does_not_end_the_search(place: int) -> None:
    arms: list[Strategy] = [GlsPlus(), Tree()]
    arms.insert(place, Lame())
    search = new_search(GRID, {}, Auto(tuple(arms), first_round=300))
    assert search.run(MaxSteps(5000)) == "steps"
    alone = new_search(GRID, {}, GlsPlus())
    alone.run(MaxSteps(5000))
    assert search.best_score == pytest.approx(alone.best_score)


@dataclass(frozen=True)
class Lazy(Idle):
    """Does one thing and then stalls; it counts how often it is asked."""

    def advance(self, model: FlatModel, core: CoreState, own: Any, limits: Limits) -> int:
        ASKED.append(0)
        return STALLED if len(ASKED) > 1 else super().advance(model, core, own, limits)


ASKED: list[int] = []


def test_an_arm_that_has_stalled_is_not_asked_again() -> None:
    ASKED.clear()
    new_search(GRID, {}, Auto((GlsPlus(), Lazy(), Tree()), first_round=300)).run(MaxSteps(5000))
    assert len(ASKED) == 2


@pytest.mark.parametrize("alike", [1.0, math.inf])
def test_another_weight_stands_aside_where_it_is_no_other(alike: float) -> None:
    search = new_search(COLORING, {}, Auto((GlsPlus(), Tree(), OtherWeight(alike=alike)), first_round=6000))
    search.run(MaxSteps(5000))
    arms = mix_of(search).arms
    assert arms[0].own.weight[1] > 0
    assert len(arms) == (2 if alike > 1 else 3)  # it is not even set up
    assert [arm.own.weight[0] for arm in arms[2:]] == [arms[0].own.weight[1]] * (len(arms) - 2)


def test_another_weight_that_turns_out_to_be_no_other_stalls() -> None:
    search = new_search(COLORING, {}, Auto((OtherWeight(alike=math.inf), Tree()), first_round=6000))
    search.run(MaxSteps(5000))
    assert mix_of(search).arms[0].is_stalled


def test_a_search_is_over_when_the_only_arm_that_is_left_stands_aside() -> None:
    arms = (OtherWeight(alike=math.inf), OtherWeight(alike=math.inf))
    assert new_search(COLORING, {}, Auto(arms, first_round=6000)).run(MaxSteps(5000)) == "stalled"


def test_a_search_whose_arms_have_all_stalled_is_over() -> None:
    search = new_search(GRID, {}, Auto((Lame(), Lame(), Lame()), first_round=300))
    assert search.run(MaxSteps(5000)) == "stalled"
    assert search.steps == 0


# Settings.


@pytest.mark.parametrize("arms", [(), [Greedy()], (Greedy(), "tree"), "gls+"])
def test_arms_must_be_strategies(arms: Any) -> None:
    with pytest.raises(Exception, match=r"arms needs strategies, such as \(GlsPlus\(\), Tree\(\)\); found"):
        Auto(arms)


@pytest.mark.parametrize(("count", "share"), [(2, 0.51), (3, 0.34), (5, 0.0), (2, -0.1)])
def test_the_floor_must_leave_room_for_all_arms(count: int, share: float) -> None:
    with pytest.raises(Exception, match=rf"min_share must lie in 0\.\..* for {count} arms, above 0; found"):
        Auto((Greedy(),) * count, min_share=share)


def test_every_arm_is_fitted_to_the_model() -> None:
    flat = new_search(GRID, {}, Greedy()).model
    fitted = Auto((GlsPlus(), Tree(), GlsPlus(7.0))).fitted(flat)
    assert fitted.arms == (GlsPlus().fitted(flat), Tree(), GlsPlus(7.0))
