"""The refresh loop, on a batch whose steps and clock are under the test's control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from beacon.errors import UsageError
from beacon.evaluate.guided_method import GuidedMethod
from beacon.evaluate.method import Budget, Query, Run
from beacon.search.strategy import GlsPlus
from beacon.search.trace import Trace
from tests.evaluate.helpers import EvenGuide, small_network


@dataclass
class FakeSearch:
    """Takes a millisecond a step and finds something better at every tenth."""

    last: ClassVar[int] = 10**9
    steps: int = 0

    @property
    def seconds(self) -> float:
        return self.steps / 1000

    @property
    def trace(self) -> Trace:
        steps = np.arange(0, self.steps + 1, 10)
        return Trace(steps, steps / 1000, -1000.0 + steps, np.zeros(len(steps), np.int64))


class FakeBatch:
    """Remembers how it was called."""

    made: ClassVar[list[FakeBatch]] = []

    def __init__(
        self, model: Any, evidences: Any, strategy: Any, starts: Any, seed: int, **settings: Any
    ) -> None:
        self.starts, self.settings, self.calls = starts, settings, []
        self.searches = [FakeSearch() for _ in evidences]
        FakeBatch.made.append(self)

    def run(self, steps: int, scores: Any = None, weight: float = 0.0) -> None:
        self.calls.append((steps, None if scores is None else scores.shape, weight))
        for search in self.searches:
            search.steps = min(search.last, search.steps + steps)

    @property
    def assignments(self) -> Any:
        return np.array(self.starts)

    @property
    def best_assignments(self) -> Any:
        return np.array(self.starts)

    @property
    def traces(self) -> list[Trace]:
        return [search.trace for search in self.searches]


@pytest.fixture(autouse=True)
def _forget_batches() -> None:
    FakeBatch.made.clear()


def queries(count: int) -> list[Query]:
    return [Query(k, {0: 1}, np.ones(16, dtype=np.int64)) for k in range(count)]


def guided(**settings: Any) -> tuple[GuidedMethod, EvenGuide]:
    guide = EvenGuide(32)
    method = GuidedMethod("beacon-gls+", guide, GlsPlus(), "gls+", make_batch=FakeBatch, **settings)
    return method, guide


def run(method: GuidedMethod, count: int, budget: Budget) -> list[Run]:
    return [run for _, run in method.run(small_network(), queries(count), budget, 0, 1)]


def test_moves_are_scored_every_refresh_steps() -> None:
    method, guide = guided(weight=0.7, refresh=40)
    run(method, 3, Budget(steps=(50, 100)))
    (batch,) = FakeBatch.made
    assert batch.calls == [(40, (3, 32), 0.7), (40, (3, 32), 0.7), (20, (3, 32), 0.7)]
    assert guide.scored == [3, 3, 3]


def test_a_refresh_of_zero_scores_once() -> None:
    method, guide = guided(refresh=0)
    run(method, 2, Budget(steps=(2500,)))
    assert guide.scored == [2]
    assert [steps for steps, _, _ in FakeBatch.made[0].calls] == [1000, 1000, 500]


def test_a_guide_for_the_start_alone_scores_no_moves() -> None:
    method, guide = guided(weight=None, begin=lambda states: np.zeros_like(states.assignments))
    run(method, 2, Budget(steps=(10,)))
    (batch,) = FakeBatch.made
    assert guide.scored == []
    assert batch.calls == [(10, None, 0.0)]
    assert (batch.starts == 0).all()


def test_without_a_guided_start_searches_begin_where_the_query_says() -> None:
    method, _ = guided()
    run(method, 2, Budget(steps=(10,)))
    assert (FakeBatch.made[0].starts == 1).all()


def test_queries_run_in_batches() -> None:
    method, guide = guided(batch_size=4, refresh=0)
    found = run(method, 10, Budget(steps=(10,)))
    assert [len(batch.searches) for batch in FakeBatch.made] == [4, 4, 2]
    assert len(found) == 10
    assert guide.scored == [4, 4, 2]


def test_searches_go_on_until_the_time_is_used_up() -> None:
    method, _ = guided(refresh=50)
    (found,) = run(method, 1, Budget(steps=(100,), seconds=(0.3,)))
    assert 250 <= found.steps <= 300  # 0.3 s at a millisecond a step, less set-up and scoring


def test_a_search_that_no_longer_moves_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeSearch, "last", 60)
    method, _ = guided(refresh=50)
    (found,) = run(method, 1, Budget(steps=(100_000,), seconds=(100.0,)))
    assert found.steps == 60


def test_the_clock_of_a_query_counts_its_share_of_every_scoring(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0.0, 0.0, 0.0, 0.8, 1.0, 2.6])  # set-up takes nothing, two scorings 0.8 s and 1.6 s
    monkeypatch.setattr("beacon.evaluate.guided_method.perf_counter", lambda: next(ticks))
    method, _ = guided(refresh=50)
    found = run(method, 4, Budget(steps=(100,)))[0]
    times = dict(zip(found.trace.steps.tolist(), found.trace.seconds.tolist(), strict=True))
    assert times[0] == 0.0
    assert times[10] == pytest.approx(0.01 + 0.8 / 4)
    assert times[50] == pytest.approx(0.05 + 0.8 / 4)
    assert times[60] == pytest.approx(0.06 + 2.4 / 4)
    assert found.seconds == pytest.approx(0.1 + 2.4 / 4)


def test_a_walk_scores_as_often_as_a_run() -> None:
    method, guide = guided(refresh=3)
    steps = list(method.walk(small_network(), queries(1)[0], 0, 7))
    assert len(steps) == 7
    assert guide.scored == [1, 1, 1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight": 1.5}, r"weight \(λ\) must lie in 0..1; found 1.5"),
        ({"refresh": -1}, "refresh must be 0 or more"),
        ({"batch_size": 0}, "batch_size 1 or more"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        guided(**settings)


def test_settings_are_on_the_record() -> None:
    method, _ = guided(weight=0.2, refresh=10)
    facts = method.settings()
    assert (facts["strategy"], facts["weight"], facts["refresh"], facts["start"]) == (
        "gls+",
        0.2,
        10,
        "random",
    )
