"""A guide at work, measured: real searches, and a guide that remembers what it was asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from beacon.errors import UsageError
from beacon.evaluation.method import Budget, EngineMethod, GuidedMethod, Query, Run
from beacon.guide.trivial import OracleGuide
from beacon.guided.guidance import GuideUse
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.stop import MaxSteps, random_start
from beacon.solver import solve
from beacon.strategies.gls import GlsPlus
from tests.evaluation.helpers import network_of, small_network
from tests.runner.test_in_step import CountingGuide

NETWORK = small_network()
EVEN = GuideUse("random", weight=0.7, refresh=40)


def queries(count: int) -> list[Query]:
    starts = [random_start(NETWORK.model, {0: 1}, seed=k) for k in range(count)]
    return [Query(k, {0: 1}, start) for k, start in enumerate(starts)]


def guided(use: GuideUse, **settings: Any) -> tuple[GuidedMethod, CountingGuide]:
    guide = CountingGuide(NETWORK.model)
    return GuidedMethod("beacon-gls+", GlsPlus(), baseline="gls+", guide=guide, use=use, **settings), guide


def run(method: GuidedMethod, count: int, budget: Budget, threads: int = 1) -> list[Run]:
    return [run for _, run in method.run(NETWORK, queries(count), budget, 0, threads)]


def assignments(runs: list[Run]) -> list[list[int]]:
    return [run.assignment.tolist() for run in runs if run.assignment is not None]


def test_moves_are_scored_every_refresh_steps() -> None:
    method, guide = guided(EVEN)
    found = run(method, 3, Budget(steps=(50, 100)))
    assert guide.asked == [3, 3, 3]
    assert [one.steps for one in found] == [100] * 3


def test_a_refresh_of_zero_scores_once() -> None:
    method, guide = guided(replace(EVEN, refresh=0))
    run(method, 2, Budget(steps=(500,)))
    assert guide.asked == [2]


def test_queries_run_in_batches_which_change_nothing() -> None:
    budget = Budget(steps=(60,))
    method, guide = guided(EVEN, batch_size=4)
    some, whole = run(method, 10, budget), run(guided(EVEN)[0], 10, budget, threads=2)
    assert guide.asked == [4, 4, 4, 4, 2, 2]
    assert assignments(some) == assignments(whole)


def test_a_guide_that_is_asked_for_nothing_leaves_the_plain_method() -> None:
    method, guide = guided(GuideUse("random"))
    budget = Budget(steps=(80,))
    plain = dict(EngineMethod.named("gls+").run(NETWORK, queries(4), budget, 0, 1))
    assert guide.asked == []
    for query, found in method.run(NETWORK, queries(4), budget, 0, 1):
        (expected,) = (run for other, run in plain.items() if other.index == query.index)
        assert found.trace.steps.tolist() == expected.trace.steps.tolist()
        assert found.trace.scores == pytest.approx(expected.trace.scores)


def test_without_a_guided_start_searches_begin_where_the_query_says() -> None:
    method, _ = guided(EVEN)
    for query, found in method.run(NETWORK, queries(3), Budget(steps=(5,)), 0, 1):
        assert found.trace.scores[0] == pytest.approx(NETWORK.model.log_score(query.start))
        assert found.trace.seconds[0] == 0


def test_a_guides_start_is_known_as_soon_as_it_is_scored() -> None:
    best = solve(NETWORK.model, {0: 1}, stop=MaxSteps(3000))
    method = GuidedMethod(
        "start", GlsPlus(), baseline="gls+", guide=OracleGuide(NETWORK.model, best.assignment)
    )
    for query, found in method.run(NETWORK, queries(3), Budget(steps=(5,)), 0, 1):
        given = NETWORK.model.log_score(query.start)
        assert found.trace.steps.tolist() == [0, 0]
        assert found.trace.seconds[0] == 0 < found.trace.seconds[1] < found.setup_seconds
        assert found.trace.scores == pytest.approx([given, best.log_score])
        assert found.trace.best_at(0) == pytest.approx(best.log_score)


def test_a_guides_start_that_is_worse_than_the_given_one_hides_nothing() -> None:
    model = GraphicalModel.from_tables([2, 2], [((0, 1), [3.0, 0.0, -1.0, 2.0])])
    worst, network = OracleGuide(model, [1, 0]), network_of(model)
    method = GuidedMethod("start", GlsPlus(), baseline="gls+", guide=worst)
    ((_, found),) = method.run(network, [Query(0, {}, np.array([0, 1]))], Budget(steps=(9,)), 0, 1)
    assert found.trace.scores.tolist() == sorted(found.trace.scores)
    assert found.trace.scores[0] == -1.0


def test_a_start_of_its_own_takes_the_place_of_the_given_one() -> None:
    own, other = (Query(k, {0: 1}, query.start) for k, query in enumerate(queries(2)))
    assert (own.start != other.start).any()

    def scores(use: GuideUse, *seconds: float) -> list[list[float]]:
        method = GuidedMethod("beacon", GlsPlus(), guide=OracleGuide(NETWORK.model, own.start), use=use)
        runs = method.run(NETWORK, [own, other], Budget(steps=(50,), seconds=seconds or (0.02,)), 0, 1)
        return [run.trace.scores[:1].tolist() for _, run in runs]

    constructed = scores(GuideUse("constructed"))
    assert constructed[0] == constructed[1]
    given = scores(GuideUse("constructed", most_seconds=0.01))
    assert given[0] != given[1]
    for_one = scores(GuideUse("constructed", most_seconds=0.01), 0.01, 0.02)
    assert for_one[0] == for_one[1], "all budgets are read from one search"


def test_searches_go_on_until_the_time_is_used_up() -> None:
    method, guide = guided(replace(EVEN, refresh=5000))
    found = run(method, 2, Budget(steps=(10,), seconds=(0.03,)))
    assert all(one.steps > 10 and one.stop == "seconds" for one in found)
    assert all(round(one.setup_seconds + one.seconds, 9) >= 0.03 for one in found)
    assert guide.asked[0] == 2


def test_a_search_that_is_proved_optimal_ends_the_wait() -> None:
    model = GraphicalModel.from_tables([2, 2], [((0, 1), [3.0, 0.0, 0.0, 1.0])])
    method = GuidedMethod("beacon-gls+", GlsPlus(), baseline="gls+", guide=CountingGuide(model), use=EVEN)
    query = Query(0, {}, np.array([0, 1]))
    ((_, found),) = method.run(network_of(model), [query], Budget((10**6,), (1000.0,)), 0, 1)
    assert (found.stop, found.proved, found.steps) == ("optimal", True, 1)


def test_the_clock_of_a_query_counts_its_share_of_every_scoring(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(0, 10**6, 8))  # whatever lies between two looks at this clock takes 8 seconds
    monkeypatch.setattr("beacon.runner.in_step.perf_counter", lambda: next(times))
    method, _ = guided(EVEN)
    found = run(method, 4, Budget(steps=(100,)))[0]
    assert found.setup_seconds == 8 / 4
    assert 3 * 8 / 4 < found.seconds < 3 * 8 / 4 + 1
    later = found.trace.seconds[found.trace.steps > 0]
    assert ((later > 2 * 8 / 4) & (later < 4 * 8 / 4 + 1)).all()


def test_batches_of_no_query_are_refused() -> None:
    with pytest.raises(UsageError, match="batch_size must be a whole number of at least 1; found 0"):
        guided(EVEN, batch_size=0)


def test_settings_are_on_the_record() -> None:
    method, _ = guided(GuideUse("random", weight=0.2, refresh=10), facts={"folder": "a.guide"})
    facts = method.settings()
    names = ("strategy", "weight", "refresh", "start", "candidates", "batch_size", "guide")
    expected = ("gls+", 0.2, 10, "random", "improving", 100, {"folder": "a.guide"})
    assert tuple(facts[name] for name in names) == expected
    assert method.weight == 0.2
    assert guided(GuideUse())[0].weight is None
