"""The one place that runs searches: order, Ctrl-C, errors, and what a query is charged."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from beacon.engine import message_start
from beacon.engine.construct import construct_assignment
from beacon.engine.core import Begin
from beacon.guide.fast_guide import FastGuide
from beacon.guide.solved import SolvedGuide
from beacon.guided.guidance import GuideUse
from beacon.guided.guide import StateBatch
from beacon.model.families import ising_grid
from beacon.model.flat import FlatModel
from beacon.model.graphical_model import GraphicalModel
from beacon.runner import warm_up
from beacon.runner.pool import Cancelled
from beacon.runner.result import Outcome, Result
from beacon.runner.runner import Query, Runner
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime, MaxSteps
from beacon.solver import solve, solve_many
from beacon.strategies.auto import Auto
from beacon.strategies.gls import GlsPlus
from tests.guide.helpers import evidence_of, random_states, random_weights
from tests.runner.test_in_step import CountingGuide

GRID = ising_grid(6, 6, seed=3)
QUERIES = evidence_of(random_states(GRID, 5, seed=1, share=0.2))
ENDLESS = MaxRuntime(60)
FAR = ENDLESS | MaxSteps(20)  # an end that is not waited for
ONCE, IN_STEP = GuideUse("guide", 0.5), GuideUse("random", 0.5, refresh=10)
USES = [None, ONCE, IN_STEP]
every_way = pytest.mark.parametrize("use", USES, ids=["alone", "asked once", "in step"])


def keep(query: int, outcome: Outcome) -> Outcome:
    return outcome


def runner_of(use: GuideUse | None, guide: Any = None, **settings: Any) -> Runner:
    chosen = None if use is None else guide or CountingGuide(GRID)
    return Runner(GRID, "gls+", chosen, use, **settings)


def run(runner: Runner, *stops: Any, **settings: Any) -> dict[int, Outcome]:
    return dict(runner.run([Query(evidence) for evidence in QUERIES], stops, keep, **settings))


def same(one: dict[int, Outcome], other: dict[int, Outcome]) -> bool:
    def story(outcome: Outcome) -> list[Any]:
        return [outcome.assignment.tolist(), outcome.trace.scores.tolist(), outcome.steps, outcome.stop]

    return [story(one[k]) for k in sorted(one)] == [story(other[k]) for k in sorted(other)]


@every_way
def test_every_query_has_one_outcome_whatever_the_threads_and_batches(use: GuideUse | None) -> None:
    first = run(runner_of(use, threads=1), MaxSteps(150))
    assert sorted(first) == list(range(5))
    assert {outcome.stop for outcome in first.values()} == {"steps"}
    assert same(first, run(runner_of(use, threads=2), MaxSteps(150)))
    assert same(first, run(runner_of(use, threads=2, batch_size=2), MaxSteps(150)))


@every_way
def test_one_stop_after_the_other_is_as_the_last_alone(use: GuideUse | None) -> None:
    assert same(run(runner_of(use), MaxSteps(150)), run(runner_of(use), MaxSteps(20), MaxSteps(150)))


@every_way
def test_results_come_in_the_order_of_the_queries(use: GuideUse | None) -> None:
    guide = None if use is None else CountingGuide(GRID)
    options: dict[str, Any] = {"guide": guide, "use": use, "strategy": "gls+", "stop": MaxSteps(100)}
    results = solve_many(GRID, QUERIES, threads=2, **options)
    assert [result.evidence for result in results] == QUERIES
    for query, result in zip(QUERIES, results, strict=True):
        assert result.assignment.tolist() == solve(GRID, query, **options).assignment.tolist()


class Once:
    """A listener that presses Ctrl-C when it is first called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, *heard: Any) -> None:
        self.calls += 1
        if self.calls == 1:
            raise KeyboardInterrupt


@every_way
@pytest.mark.parametrize("listener", ["on_improvement", "on_result"])
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_in_a_listener_keeps_all_results(use: GuideUse | None, listener: str, threads: int) -> None:
    guide = None if use is None else CountingGuide(GRID)
    observed = dict.fromkeys(range(36), 1)  # its result is there at once, unless all run in step
    stop = MaxSteps(2000) if use is IN_STEP and listener == "on_result" else ENDLESS
    began = time.perf_counter()
    results = solve_many(
        GRID,
        [observed, *QUERIES],
        guide=guide,
        use=use,
        strategy="gls+",
        stop=stop,
        threads=threads,
        **{listener: Once()},
    )
    assert time.perf_counter() - began < 30
    assert len(results) == 6
    assert results[0].stop == "nothing to search"
    for query, result in zip(QUERIES, results[1:], strict=True):
        assert result.stop in {"interrupted", "steps"}
        assert {i: result.assignment[i] for i in query} == query
    if stop is ENDLESS:
        assert {result.stop for result in results[1:]} == {"interrupted"}


@every_way
def test_ctrl_c_in_the_waiting_thread_keeps_all_results(
    use: GuideUse | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        time.sleep(0.05)
        monkeypatch.undo()
        raise KeyboardInterrupt

    guide = None if use is None else CountingGuide(GRID)
    solve(GRID, guide=guide, use=use, strategy="gls+", stop=MaxSteps(10))  # kernels are ready
    monkeypatch.setattr("beacon.runner.pool.as_completed", interrupted)
    results = solve_many(GRID, QUERIES, guide=guide, use=use, strategy="gls+", stop=ENDLESS, threads=2)
    assert {result.stop for result in results} == {"interrupted"}
    assert results[0].steps > 0
    assert [result.evidence for result in results] == QUERIES


@every_way
def test_ctrl_c_goes_on_to_callers_that_do_not_want_to_keep_all(use: GuideUse | None) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(runner_of(use, threads=2), ENDLESS, on_improvement=Once())


@every_way
def test_an_error_in_one_search_ends_the_others_and_is_raised(use: GuideUse | None) -> None:
    running: set[Search] = set()

    def fail(search: Search) -> None:
        running.add(search)
        raise ZeroDivisionError

    began = time.perf_counter()
    with pytest.raises(ZeroDivisionError):
        run(runner_of(use, threads=2), ENDLESS, on_improvement=fail)
    assert time.perf_counter() - began < 30
    assert running


def test_an_error_in_what_is_made_of_an_outcome_is_raised() -> None:
    def fail(query: int, outcome: Outcome) -> Result:
        raise ZeroDivisionError

    cancelled = Cancelled()
    with pytest.raises(ZeroDivisionError):
        list(runner_of(None).run([Query({})], [MaxSteps(5)], fail, cancelled=cancelled))
    assert cancelled.is_set()


def test_who_cancels_gets_what_there_is() -> None:
    cancelled = Cancelled()
    cancelled.set()
    outcomes = run(runner_of(None), ENDLESS, cancelled=cancelled)
    assert {outcome.stop for outcome in outcomes.values()} == {"interrupted"}
    assert {outcome.steps for outcome in outcomes.values()} == {0}


class SlowGuide(CountingGuide):
    """Takes its time over every scoring."""

    def score(self, states: StateBatch) -> NDArray[np.float32]:
        time.sleep(0.05)
        return super().score(states)


@every_way
@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.2])
def test_a_search_that_ended_by_time_says_no_less_than_the_limit(
    use: GuideUse | None, seconds: float
) -> None:
    for outcome in run(runner_of(use, SlowGuide(GRID)), MaxRuntime(seconds)).values():
        assert outcome.stop == "seconds"
        assert outcome.seconds >= max(seconds, outcome.setup_seconds)
        assert outcome.trace.seconds[-1] <= outcome.seconds


@pytest.mark.parametrize("use", [ONCE, GuideUse()], ids=["heeded", "start alone"])
def test_each_query_is_charged_its_share_of_a_scoring(use: GuideUse) -> None:
    outcomes = run(runner_of(use, SlowGuide(GRID)), MaxSteps(5))
    for outcome in outcomes.values():
        assert outcome.seconds >= outcome.setup_seconds >= 0.05 / 5
        assert outcome.seconds < 0.05  # not the whole of it
    (alone,) = runner_of(use, SlowGuide(GRID)).run([Query({})], [MaxSteps(5)], keep)
    assert alone[1].setup_seconds >= 0.05


def test_setting_up_is_charged() -> None:
    outcomes = run(runner_of(None), MaxSteps(5))
    assert all(outcome.seconds > outcome.setup_seconds > 0 for outcome in outcomes.values())
    large = ising_grid(60, 60, seed=1)
    (_, outcome), *_ = Runner(large, "gls+").run([Query({})], [MaxRuntime(1e-9)], keep)
    assert (outcome.steps, outcome.stop) == (0, "seconds")


@pytest.mark.parametrize(
    ("guide", "use", "asked"),
    [
        (CountingGuide(GRID), GuideUse("random"), []),
        (CountingGuide(GRID), GuideUse(), [5]),
        (CountingGuide(GRID), ONCE, [5]),
        (CountingGuide(GRID), GuideUse("random", 0.5, refresh=50), [5, 5, 5]),
        (CountingGuide(GRID), GuideUse("guide", 0.5, refresh=50), [5, 5, 5, 5]),
    ],
    ids=["nothing", "start", "start and moves", "every 50 steps", "start, and every 50 steps"],
)
def test_a_guide_is_asked_about_all_queries_at_once_and_no_more_often_than_need_be(
    guide: CountingGuide, use: GuideUse, asked: list[int]
) -> None:
    run(runner_of(use, guide), MaxSteps(150))
    assert guide.asked == asked


def test_a_guide_is_not_asked_about_what_elimination_answers() -> None:
    guide, wide = CountingGuide(GRID), ising_grid(40, 40, seed=1)
    results = solve_many(GRID, QUERIES, guide=guide, use=GuideUse(), strategy="auto", stop=MaxSteps(50))
    assert {result.proof for result in results} == {"elimination"}
    assert guide.asked == []
    guide = CountingGuide(wide)
    mixed: list[dict[int, int]] = [{}, dict.fromkeys(range(1590), 0), {}]  # the second is nearly decided
    results = solve_many(wide, mixed, guide=guide, use=GuideUse(), strategy="auto", stop=MaxSteps(50))
    assert [result.proof for result in results] == [None, "elimination", None]
    assert guide.asked == [2]


def test_batches_of_guided_queries_keep_their_numbers() -> None:
    whole, cut = (
        dict(runner.run([Query(e) for e in QUERIES], [MaxSteps(30)], lambda _, outcome: outcome.score))
        for runner in (
            Runner(GRID, "gls+", CountingGuide(GRID), GuideUse(), batch_size=size)  # type: ignore[arg-type]
            for size in (5, 2)
        )
    )
    assert whole == cut


def test_a_guide_of_the_evidence_alone_is_asked_once_whatever_the_refresh() -> None:
    guide = FastGuide(GRID, random_weights(GRID))
    every, once = (run(runner_of(GuideUse("random", 0.5, refresh=r), guide), MaxSteps(100)) for r in (3, 0))
    assert same(every, once)


def test_a_start_that_yields_gives_way_to_what_the_evidence_implies() -> None:
    equal = GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -np.inf, -np.inf, 0.0])])
    start = np.array([1, 0])
    queries = [Query({0: 1}, start, yields=yields) for yields in (True, False)]
    found = dict(Runner(equal, "gls+").run(queries, [MaxSteps(0)], keep))
    assert [found[k].assignment.tolist() for k in (0, 1)] == [[1, 1], [1, 0]]


@pytest.mark.parametrize("use", [None, ONCE], ids=["alone", "asked once"])
def test_what_some_queries_take_beyond_their_limit_is_made_up_for_by_the_others(use: GuideUse | None) -> None:
    def slowly(query: int, outcome: Outcome) -> Outcome:
        time.sleep(0.1)
        return outcome

    queries, runner = [Query(evidence) for evidence in QUERIES], runner_of(use, threads=1)
    for spent, together in ((0.05, True), (None, False)):
        began = time.perf_counter()
        outcomes = dict(runner.run(queries, [MaxRuntime(0.2)], slowly, spent_seconds=spent))
        seconds = time.perf_counter() - began
        assert (seconds < 1.25) == together  # 5 queries with 0.2 s each; 0.1 s more is that of the last
        assert min(outcome.seconds for outcome in outcomes.values()) >= (0.1 if together else 0.2)


def test_a_guide_is_asked_only_with_the_time_limits_that_its_use_is_for() -> None:
    guide = CountingGuide(GRID)
    runner = runner_of(GuideUse(least_seconds=0.05, most_seconds=1.0), guide)
    alone = run(runner, MaxRuntime(0.02))
    assert guide.asked == []
    assert len(alone) == len(QUERIES)
    run(runner, MaxRuntime(0.06))
    assert len(guide.asked) == 1
    run(runner, MaxSteps(10))
    assert len(guide.asked) == 2, "without a limit it is"


class Timed(Auto):
    """Notes what its starts may take."""

    heard: ClassVar[list[tuple[float, float]]] = []

    def beginning(self, model: FlatModel, seconds: float, clock: Callable[[], float]) -> Begin:
        self.heard.append((seconds, clock()))
        return super().beginning(model, seconds, clock)


def test_a_start_may_take_of_the_last_limit() -> None:
    runner = Runner(GRID, Timed(exact=False))
    Timed.heard.clear()
    runner.outcome(Query({}), [MaxSteps(10), FAR])
    runner.outcome(Query({}), [FAR], spent_seconds=20)
    whole, left = (seconds for seconds, _ in Timed.heard)
    assert 50 < whole <= 60
    assert 30 < left <= 40


def test_a_search_that_is_cancelled_has_no_time_for_its_start() -> None:
    runner, cancelled = Runner(GRID, Timed(exact=False)), Cancelled()
    Timed.heard.clear()
    cancelled.set()
    runner.outcome(Query({}), [MaxRuntime(5)], cancelled=cancelled)
    assert Timed.heard == [(0.0, math.inf)]


def test_a_start_of_a_guided_search_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    heard, guide = list[tuple[float, float]](), SolvedGuide(GRID, np.zeros((1, 36), dtype=np.int64))
    runner = Runner(GRID, Auto(exact=False), guide, GuideUse("messages"), threads=1)

    def begin_in_time(model: FlatModel, seconds: float, clock: Callable[[], float]) -> Begin:
        heard.append((seconds, clock()))
        return construct_assignment

    monkeypatch.setattr(message_start, "begin_in_time", begin_in_time)
    run(runner, FAR, spent_seconds=100.0)  # 20 s for each
    assert all(30 < seconds < 41 for seconds, _ in heard)
    heard.clear()
    cancelled = Cancelled()
    cancelled.set()
    run(runner, FAR, cancelled=cancelled, keeps_all=True)
    assert heard == [(0.0, math.inf)] * len(QUERIES)


@pytest.mark.parametrize("is_cancelled", [False, True], ids=["no time", "cancelled"])
def test_a_guided_start_is_crossed_only_if_there_is_time(is_cancelled: bool) -> None:
    class Asked(SolvedGuide):
        counts: ClassVar[list[int]] = []

        def opinions(self, values: Any, observed: Any, count: int) -> Any:
            self.counts.append(count)
            return super().opinions(values, observed, count)

    guide, cancelled = Asked(GRID, np.zeros((20, 36), dtype=np.int64)), Cancelled()
    runner = runner_of(GuideUse(opinions=7), guide)
    run(runner, MaxSteps(1), FAR)
    assert guide.counts.count(7) == len(QUERIES)
    guide.counts.clear()
    if is_cancelled:
        cancelled.set()
    run(runner, MaxSteps(1), FAR if is_cancelled else MaxRuntime(1e-7), cancelled=cancelled, keeps_all=True)
    assert guide.counts.count(7) == 0


def test_a_start_that_is_given_is_crossed_later_alone() -> None:
    guide = SolvedGuide(GRID, np.zeros((20, 36), dtype=np.int64))
    use, start = GuideUse("own", later_share=0.1), np.zeros(36, dtype=np.int64)
    runner = Runner(GRID, "auto", guide, use)
    asked, given = (runner._begun(use, Query({}, s), 60.0, time.perf_counter) for s in (None, start))
    assert asked.opinions is not None
    assert len(asked.opinions) == use.opinions
    assert given.opinions is not None
    assert len(given.opinions) == 0
    assert asked.later is not None
    assert given.later is not None


def test_a_strategy_may_have_a_start_of_its_own_kind() -> None:
    @dataclass(frozen=True)
    class Listed(GlsPlus):
        start: Any = ()

    (_, outcome) = next(Runner(GRID, Listed(start=[0])).run([Query({})], [MaxSteps(5)], keep))
    assert outcome.steps == 5


def test_kernels_of_messages_are_ready_whatever_was_searched_before() -> None:
    kinds = [warm_up._kind(Auto(start=start)) for start in ("messages", "constructed", "random")]
    assert len(set(kinds)) == 2
