"""When searches end, and how they say so."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.engine.core import CoreState
from beacon.engine.incumbent import TARGET, Limits
from beacon.errors import UsageError
from beacon.model import families
from beacon.model.flat import FlatModel
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import (
    DEFAULT_STOP,
    MaxGap,
    MaxRuntime,
    MaxSteps,
    NoImprovement,
    Stop,
    StopSettings,
    TargetScore,
    check_bounded,
    stop_or_default,
)
from beacon.solver import solve
from beacon.strategies.gls import GlsPlus, GlsState
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import Strategy
from tests.engine.helpers import new_search

GRID = families.ising_grid(rows=5, columns=5, wrap=True, seed=2)  # frustrated: its optimum is not proved
ONE_FLIP = [Greedy(), GlsPlus()]


def grid_search(strategy: Strategy | None = None, seed: int = 0) -> Search:
    return new_search(GRID, {}, strategy or GlsPlus(), seed)


@pytest.mark.parametrize("strategy", ONE_FLIP, ids=lambda s: s.name)
@pytest.mark.parametrize("steps", [0, 1, 2, 17, 500, 10_000])
def test_max_steps_is_exact(strategy: Strategy, steps: int) -> None:
    search = grid_search(strategy)
    assert search.run(MaxSteps(steps)) == "steps"
    assert search.steps == steps


def test_max_steps_counts_from_the_beginning_of_the_search() -> None:
    search = grid_search()
    for steps in (100, 250, 250, 251):
        assert search.run(MaxSteps(steps)) == "steps"
        assert search.steps == steps


def test_max_runtime_stops_a_search_that_would_go_on_for_ever() -> None:
    search = grid_search()
    assert search.run(MaxRuntime(0.05)) == "seconds"
    assert search.steps > 0
    assert 0 < search.seconds < 5


@pytest.mark.parametrize("seconds", range(1, 9))
def test_a_search_that_used_up_its_time_says_so_by_its_clock(
    monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    times = iter(range(10**6))  # a clock that moves on whenever it is looked at
    monkeypatch.setattr("beacon.runner.search.perf_counter", lambda: next(times))
    search = grid_search()
    assert search.run(MaxRuntime(seconds), on_improvement=lambda _: None) == "seconds"
    assert search.seconds >= seconds


def test_max_runtime_counts_from_the_beginning_of_the_search() -> None:
    search = grid_search()
    search.run(MaxRuntime(0.02))
    before = search.steps
    assert search.run(MaxRuntime(0.02)) == "seconds"
    assert search.steps == before
    search.run(MaxRuntime(search.seconds + 0.02))
    assert search.steps > before


def test_time_spent_elsewhere_is_charged() -> None:
    search = grid_search()
    search.charge(1.0)
    assert search.run(MaxRuntime(0.5)) == "seconds"
    assert search.steps == 0
    assert search.run(MaxSteps(10)) == "steps"
    assert search.seconds >= 1.0
    assert (search.trace.seconds[1:] >= 1.0).all()


def test_no_time_makes_no_step() -> None:
    search = grid_search()
    assert search.run(MaxRuntime(0)) == "seconds"
    assert search.steps == 0


@pytest.mark.parametrize("strategy", ONE_FLIP, ids=lambda s: s.name)
@pytest.mark.parametrize("idle", [1, 40, 3000])
def test_no_improvement_stops_exactly_so_many_steps_after_the_last_one(strategy: Strategy, idle: int) -> None:
    search = grid_search(strategy)
    assert search.run(NoImprovement(idle)) == "no improvement"
    steps = search.trace.steps.tolist()
    assert search.steps == steps[-1] + idle
    assert all(later - earlier <= idle for earlier, later in pairwise(steps))


def test_a_target_stops_the_search_as_soon_as_it_is_reached() -> None:
    reachable = grid_search()
    reachable.run(MaxSteps(2000))
    goal = float(reachable.trace.scores[len(reachable.trace) // 2])
    search = grid_search()
    assert search.run(MaxSteps(2000) | TargetScore(goal)) == "target"
    assert search.best_score >= goal - 1e-9
    assert search.steps == search.trace.steps[-1]
    assert search.trace.scores[:-1].max() < goal


def test_a_target_that_the_start_reaches_needs_no_step() -> None:
    search = grid_search()
    assert search.run(MaxSteps(100) | TargetScore(-1e6)) == "target"
    assert search.steps == 0


def test_a_target_counts_only_assignments_without_zero_factors() -> None:
    model = GraphicalModel.from_tables(
        [2, 2], [((0,), [-math.inf] * 2), ((0, 1), [0, -1, -1, 0]), ((0, 1), [-1, 0, 0, -1])]
    )
    result = solve(model, strategy="gls+", stop=MaxSteps(50) | TargetScore(-1e6))
    assert result.stop == "steps"
    assert result.zero_factors == 1


def test_the_first_criterion_to_be_met_names_the_reason() -> None:
    assert grid_search().run(MaxSteps(50) | MaxRuntime(60) | NoImprovement(10**9)) == "steps"
    assert grid_search().run(MaxSteps(10**12) | MaxRuntime(0.02)) == "seconds"
    assert grid_search().run(MaxSteps(10**12) | NoImprovement(1)) == "no improvement"


limits = st.one_of(st.floats(0, 1e9), st.just(math.inf))
stops = st.builds(Stop, limits, limits, limits, limits)


@settings(max_examples=40, deadline=None)
@given(left=stops, right=stops, third=stops)
def test_or_takes_the_earliest_of_each_limit_in_any_order(left: Stop, right: Stop, third: Stop) -> None:
    either = left | right
    assert either == right | left == either | left
    assert (left | right) | third == left | (right | third)
    assert either.steps == min(left.steps, right.steps)
    assert either.seconds == min(left.seconds, right.seconds)
    assert either.idle_steps == min(left.idle_steps, right.idle_steps)
    assert either.target == min(left.target, right.target)


def test_a_target_alone_is_not_bounded() -> None:
    assert not TargetScore(0.0).is_bounded
    assert not Stop().is_bounded
    assert not MaxRuntime(math.inf).is_bounded
    assert (TargetScore(0.0) | MaxSteps(1)).is_bounded
    assert MaxRuntime(1.0).is_bounded
    assert NoImprovement(5).is_bounded


def test_limits_by_name_make_a_stop() -> None:
    assert StopSettings(steps=10, gap=0.5).stop == MaxSteps(10) | MaxGap(0.5)
    assert StopSettings(idle_steps=7, seconds=2).stop == NoImprovement(7) | MaxRuntime(2)
    assert StopSettings(target=-3.0).stop == DEFAULT_STOP | TargetScore(-3.0)
    for wrong in ({"steps": -1}, {"seconds": math.nan}, {"idle_steps": 0}, {"gap": -0.1}):
        with pytest.raises(UsageError, match=rf"{next(iter(wrong))} must be [01] or more; found"):
            StopSettings(**wrong)
    with pytest.raises(UsageError, match="a time of inf would never end"):
        StopSettings(seconds=math.inf)


def test_a_stop_that_never_ends_a_search_is_refused() -> None:
    with pytest.raises(
        UsageError, match="would never end a search; add MaxSteps, MaxRuntime or NoImprovement"
    ):
        solve(GRID, stop=TargetScore(0.0))


@pytest.mark.parametrize("limit", [-1, -0.5, math.nan])
def test_negative_limits_are_refused(limit: float) -> None:
    with pytest.raises(UsageError, match=rf"MaxRuntime needs a limit of 0 or more; found {limit}"):
        MaxRuntime(limit)
    with pytest.raises(UsageError, match=rf"MaxSteps needs a limit of 0 or more; found {limit}"):
        MaxSteps(limit)  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", [0, -3])
def test_no_improvement_needs_at_least_one_step(steps: int) -> None:
    with pytest.raises(UsageError, match=f"NoImprovement needs at least 1 step; found {steps}"):
        NoImprovement(steps)


def test_no_improvement_in_nan_steps_is_refused() -> None:
    with pytest.raises(UsageError, match="NoImprovement needs a limit of 0 or more; found nan"):
        NoImprovement(math.nan)  # type: ignore[arg-type]


def test_a_target_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(UsageError, match="TargetScore needs a number; found nan"):
        TargetScore(math.nan)


@pytest.mark.parametrize("criterion", [MaxSteps, NoImprovement])
@pytest.mark.parametrize("steps", [10.5, np.float32(1.5)])
def test_a_part_of_a_step_is_refused(criterion: Callable[[float], Stop], steps: float) -> None:
    with pytest.raises(
        UsageError, match=f"{criterion.__name__} needs a whole number of steps; found {steps}"
    ):
        criterion(steps)


@pytest.mark.parametrize("steps", [1000, 1e3, np.int64(1000), np.float64(1000)])
def test_whole_numbers_of_any_kind_are_steps(steps: int) -> None:
    assert MaxSteps(steps) == Stop(steps=1000)
    assert NoImprovement(steps) == Stop(idle_steps=1000)
    assert type(MaxSteps(steps).steps) is int


def test_infinity_is_no_limit() -> None:
    assert MaxSteps(math.inf) == NoImprovement(math.inf) == MaxRuntime(math.inf) == Stop()  # type: ignore[arg-type]


@pytest.mark.parametrize("criterion", [MaxSteps, NoImprovement, MaxRuntime, TargetScore])
@pytest.mark.parametrize("limit", ["10", None, [10], True])
def test_what_is_no_number_is_refused(criterion: Callable[[object], Stop], limit: object) -> None:
    with pytest.raises(UsageError) as caught:
        criterion(limit)
    assert str(caught.value) == f"{criterion.__name__} needs a number; found {limit!r}"


def test_a_search_ends_even_if_a_limit_lies_within_a_step() -> None:
    search = grid_search()
    assert search.run(Stop(steps=10.5) | MaxRuntime(20)) == "steps"
    assert search.steps == 11
    idle = grid_search()
    assert idle.run(Stop(idle_steps=10.5) | MaxRuntime(20)) == "no improvement"
    assert idle.steps == idle.trace.steps[-1] + 11


@pytest.mark.parametrize("stop", [100, 2.0, "1s", MaxSteps])
def test_what_is_no_stop_is_refused(stop: Stop) -> None:
    message = r"expected a stop, such as MaxSteps\(1000\) or MaxRuntime\(2.0\) \(seconds\); found "
    for door in (check_bounded, stop_or_default, MaxSteps(5).__or__):
        with pytest.raises(UsageError, match=message):
            door(stop)


def test_without_a_stop_a_search_ends_after_a_second() -> None:
    assert stop_or_default(None) == DEFAULT_STOP == MaxRuntime(1.0)
    assert stop_or_default(MaxSteps(3)) == MaxSteps(3)


@dataclass(frozen=True)
class Watched(GlsPlus):
    """GLS+ that only notes what its kernel would be given."""

    def advance(self, model: FlatModel, core: CoreState, own: GlsState, limits: Limits) -> int:
        SEEN.append(limits)
        return TARGET


SEEN: list[Limits] = []


def test_a_whole_number_as_target_reaches_the_kernel_as_a_float() -> None:
    grid_search(Watched()).run(MaxSteps(10) | TargetScore(5))
    assert type(SEEN[-1].target) is float
