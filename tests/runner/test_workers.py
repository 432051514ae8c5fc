"""Work that other processes do: sent once, done whoever dies, and the same everywhere."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from pathlib import Path
from typing import Any

import joblib
import pytest

from beacon.errors import BeaconError, FormatError, MissingDependencyError, ModelError, UsageError
from beacon.runner.crews import MOST_PARCELS, DaskCrew, LokyCrew, forget, keep, on_backend, opened
from beacon.runner.pool import Cancelled, has_workers, num_threads
from beacon.runner.workers import MAX_REFUSED, Workers, each, spread

ITEMS = list(range(12))


@pytest.fixture(params=["loky", *(pytest.param(name, marks=pytest.mark.slow) for name in ("dask", "ray"))])
def two_workers(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param != "loky":
        pytest.importorskip("distributed" if request.param == "dask" else "ray")
    with on_backend(request.param, 2):
        yield request.param


def doing(what: Callable[[int], Any], heavy: object = None) -> Any:
    """Work made of a function; its class travels as code, so workers need not see the tests."""

    class Doing:
        kept = (heavy,)
        opened = 0  # how often this process has been sent it

        def __init__(self) -> None:
            self.heavy = heavy

        def __setstate__(self, state: dict[str, Any]) -> None:
            self.__dict__.update(state)
            type(self).opened += 1
            type(self).kept = (self.heavy,)

        def __call__(self, items: Sequence[int]) -> list[Any]:
            return [what(item) for item in items]

    return Doing()


def results(found: Iterator[tuple[int, Any]]) -> list[Any]:
    """In the order of the items, each of which has one."""
    by_number = sorted(found, key=lambda pair: pair[0])
    assert [number for number, _ in by_number] == ITEMS
    return [result for _, result in by_number]


def test_every_item_has_one_result_from_another_process(two_workers: str) -> None:
    found = results(each(doing(lambda item: (item * item, os.getpid())), ITEMS))
    assert [square for square, _ in found] == [item * item for item in ITEMS]
    assert os.getpid() not in {process for _, process in found}


def test_threads_do_the_same_without_joblib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "joblib", None)
    assert not has_workers()
    assert results(each(doing(lambda item: (item, os.getpid())), ITEMS, 3)) == [
        (item, os.getpid()) for item in ITEMS
    ]


def test_joblib_says_how_many_threads() -> None:
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert (num_threads(None), num_threads(5), has_workers()) == (3, 5, False)
    with joblib.parallel_config(backend="threading", n_jobs=-1):
        assert num_threads(None) == joblib.cpu_count()


def test_the_work_is_sent_to_each_worker_once(two_workers: str) -> None:
    """And what results refer to does not come back at all."""
    model = ["a large model"]
    work = doing(lambda item: None, model)
    type(work).__call__ = lambda self, items: [(type(self).opened, self.heavy) for _ in items]
    with Workers(work) as workers:
        found = [row for _ in range(3) for row in results(workers.results(ITEMS))]
    assert {times for times, _ in found} == {1}
    assert all(sent is model for _, sent in found)


def test_work_after_a_death_is_done_again(
    two_workers: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    died = str(tmp_path / "died")

    def dies_once(item: int) -> int:
        if item == 5 and not os.path.exists(died):
            Path(died).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return item + 1

    with caplog.at_level(logging.WARNING, "beacon.workers"):
        assert results(each(doing(dies_once), ITEMS)) == [item + 1 for item in ITEMS]
    assert os.path.exists(died)
    if two_workers == "loky":  # the others look after it
        assert "a worker died (TerminatedWorkerError)" in caplog.text


@pytest.mark.filterwarnings("ignore")
def test_what_kills_every_worker_is_an_error(two_workers: str) -> None:
    def dies(item: int) -> int:
        if item == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    guilty = "5 to 5" if two_workers == "loky" else r"\d+ to \d+"  # others try several at a time
    with pytest.raises(
        BeaconError, match=rf"workers died 3 times or more at the same work, items {guilty} of 12"
    ):
        list(each(doing(dies), ITEMS))


def test_workers_that_take_no_work_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dead(LokyCrew):
        tries = 0

        def submit(self, items: Sequence[Any]) -> Any:
            type(self).tries += 1
            raise BrokenExecutor

    monkeypatch.setattr("beacon.runner.workers.chosen_crew", lambda parcel, jobs: Dead(1, parcel))
    with pytest.raises(BeaconError, match=r"workers die before they can be given work \(BrokenExecutor\)"):
        list(spread(doing(lambda item: item), ITEMS))
    assert Dead.tries == MAX_REFUSED


def test_the_end_of_the_work_also_ends_the_wait_for_a_result_that_was_lost() -> None:
    class Task:
        def add_done_callback(self, call: Callable[[Any], None]) -> None:
            self.call = call

        def result(self) -> bytes:  # its worker is gone: nothing comes unless it is cancelled
            crew.close(in_order=False)
            assert client.cancelled == [self]
            raise CancelledError

    class Client:
        def __init__(self) -> None:
            self.cancelled, self.task = list[Any](), Task()

        def submit(self, *_: Any, **__: Any) -> Task:
            return self.task

        def cancel(self, tasks: list[Any]) -> None:
            self.cancelled += tasks

    client, crew = Client(), DaskCrew.__new__(DaskCrew)
    crew._client, crew._key, crew._tasks = client, "work", set()
    answer = crew.submit([1])
    client.task.call(client.task)
    assert isinstance(answer.exception(), CancelledError)
    assert crew._tasks == set()


def test_no_items_need_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beacon.runner.workers.chosen_crew", None)  # nobody is called
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert list(each(doing(lambda item: item), [])) == []


def test_errors_come_home(two_workers: str) -> None:
    def fails(item: int) -> int:
        if item == 3:
            raise ModelError("no such luck")
        return item

    def fails_oddly(item: int) -> int:
        raise FormatError("a.uai", "line 3", "no number")  # cannot be pickled: it takes three arguments

    with pytest.raises(ModelError, match="no such luck"):
        list(each(doing(fails), ITEMS))
    with pytest.raises(BeaconError, match=r"a\.uai, line 3: no number"):
        list(each(doing(fails_oddly), ITEMS))


def test_cancelled_work_ends_early(two_workers: str) -> None:
    cancelled, found = Cancelled(), []
    for number, _ in spread(doing(lambda item: item), list(range(100_000)), cancelled=cancelled):
        found.append(number)
        cancelled.set()
    assert 0 < len(found) < 100_000
    assert results(each(doing(lambda item: item), ITEMS)) == ITEMS  # the workers are there for others


def test_a_worker_keeps_the_last_parcels() -> None:
    keys = [f"test-{k}" for k in range(MOST_PARCELS + 1)]
    for key in keys:
        keep(key, joblib.hash(key).encode())
    with pytest.raises(BeaconError, match="a worker was not sent its work"):
        opened(keys[0], None)
    for key in keys:
        forget(key)


def test_other_backends_are_refused() -> None:
    with (
        pytest.raises(
            UsageError, match=r"backends are threads, loky, dask, ray and addresses .* found 'spark'"
        ),
        on_backend("spark"),
    ):
        pytest.fail("it was accepted")


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_told() -> None:
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(BeaconError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"),
        on_backend("tcp://127.0.0.1:1"),
    ):
        pytest.fail("it was accepted")


def test_a_backend_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for package, command in (
        ("ray", "pip install ray"),
        ("distributed", "pip install 'beacon-mpe[cluster]'"),
    ):
        name = "ray" if package == "ray" else "dask"
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingDependencyError) as caught, on_backend(name):
            pass
        assert str(caught.value) == f"the backend {name} needs {package}; install it with: {command}"
