"""Threads that run work side by side, errors, and the way to stop them all."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from beacon.runner.pool import Cancelled, Pool

PATIENCE = 20.0  # seconds: what waits longer hangs


def until_cancelled(cancelled: Cancelled, outcome: int) -> int:
    assert cancelled.wait(PATIENCE)
    return outcome


@pytest.mark.parametrize("threads", [1, 3])
def test_outcomes_come_in_the_order_of_the_work(threads: int) -> None:
    assert Pool(threads).each(lambda k: k * k, 20, Cancelled()) == [k * k for k in range(20)]


@pytest.mark.parametrize("threads", [1, 3])
def test_as_they_are_done_every_outcome_comes_once_with_its_number(threads: int) -> None:
    cancelled = Cancelled()
    found = list(Pool(threads).as_done(lambda k: k * k, 20, cancelled))
    assert sorted(found) == [(k, k * k) for k in range(20)]
    assert not cancelled.is_set()  # there may be more to run


def test_quick_work_does_not_wait_for_slow_work() -> None:
    cancelled = Cancelled()
    done = Pool(2).as_done(lambda k: until_cancelled(cancelled, k) if k == 0 else k, 5, cancelled)
    assert [next(done)[0] for _ in range(4)] == [1, 2, 3, 4]
    cancelled.set()
    assert list(done) == [(0, 0)]


def fail_after(cancelled: Cancelled, error: BaseException) -> Callable[[int], int]:
    """Work whose first piece fails, and whose others end when they are cancelled."""

    def work(k: int) -> int:
        if k == 0:
            raise error
        return until_cancelled(cancelled, k)

    return work


@pytest.mark.parametrize("error", [ZeroDivisionError(), KeyboardInterrupt()])
def test_an_error_cancels_the_rest_and_is_raised(error: BaseException) -> None:
    for run in ("each", "as_done"):
        cancelled = Cancelled()
        with pytest.raises(type(error)):
            list(getattr(Pool(2), run)(fail_after(cancelled, error), 4, cancelled))
        assert cancelled.is_set()


def test_who_stops_listening_cancels_the_rest_and_nothing_runs_on() -> None:
    cancelled, running = Cancelled(), []

    def work(k: int) -> int:
        running.append(k)
        return k if k == 0 else until_cancelled(cancelled, k)

    done = Pool(2).as_done(work, 50, cancelled)
    next(done)
    done.close()  # type: ignore[attr-defined]
    assert cancelled.is_set()
    count = len(running)
    time.sleep(0.05)
    assert len(running) == count < 50


def test_ctrl_c_cancels_and_keeps_all_outcomes_if_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beacon.runner.pool.as_completed", interrupted_at_once)
    cancelled = Cancelled()
    done = Pool(2).as_done(lambda k: until_cancelled(cancelled, k), 4, cancelled, keeps_all=True)
    assert sorted(done) == [(k, k) for k in range(4)]


def interrupted_at_once(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_goes_on_to_the_caller_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beacon.runner.pool.as_completed", interrupted_at_once)
    cancelled = Cancelled()
    with pytest.raises(KeyboardInterrupt):
        list(Pool(2).as_done(lambda k: until_cancelled(cancelled, k), 4, cancelled))
    assert cancelled.is_set()


def test_with_one_thread_work_waits_while_the_caller_is_busy() -> None:
    begun: list[int] = []
    done = Pool(1).as_done(begun.append, 3, Cancelled())
    next(done)
    time.sleep(0.05)
    assert begun == [0]
    assert len(list(done)) == 2
    assert begun == [0, 1, 2]


def test_with_one_thread_too_nothing_runs_on_when_nobody_listens() -> None:
    cancelled = Cancelled()
    done = Pool(1).as_done(lambda k: k if k == 0 else until_cancelled(cancelled, k), 5, cancelled)
    next(done)
    done.close()  # type: ignore[attr-defined]
    assert cancelled.is_set()
