"""The one pool of threads: work in parallel, outcomes as they come, and how it is cancelled."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from beacon.errors import check_count

T = TypeVar("T")
Cancelled = threading.Event
"""Once set, searches end at the next look at the clock."""

LOOK_SECONDS = 0.1  # between two looks for signals


def num_threads(threads: int | None) -> int:
    """Threads to use: as asked, or as joblib was told, or one per core that this process may use."""
    if threads is not None:
        check_count("threads", threads, 1)
        return int(threads)
    told, cores = _told_joblib()[1], _num_cores()
    if told is None or told == 0:
        return cores
    return told if told > 0 else max(1, cores + 1 + told)


def has_workers() -> bool:
    """Was joblib told to have work done by other processes?"""
    backend, _ = _told_joblib()
    return backend is not None and not getattr(backend, "supports_sharedmem", False)


def _num_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _told_joblib() -> tuple[Any, int | None]:
    """The backend and the number of jobs in force; who has not loaded joblib has told it nothing."""
    joblib = sys.modules.get("joblib")
    if joblib is None:
        return None, None
    active = joblib.parallel.get_active_backend
    return active(prefer="threads")[0], active()[1]


def _as_completed(futures: Sequence[Future[T]]) -> Iterator[Future[T]]:
    """Futures as they complete; between them Python looks for signals now and then.

    Of two signals at a time, both may reach a thread of the pool. Then nothing wakes the main thread, which
    alone can run their handlers.
    """
    left = set(futures)
    while left:
        with suppress(TimeoutError):
            for future in as_completed(left, timeout=LOOK_SECONDS):
                left.remove(future)
                yield future


class Pool:
    """A number of threads, kept between calls. Kernels release Python's lock, so searches run in parallel."""

    def __init__(self, threads: int | None) -> None:
        self.threads = num_threads(threads)
        self._executor = ThreadPoolExecutor(self.threads)  # starts threads only when there is work

    def _submit(self, work: Callable[[int], T], k: int) -> Future[T]:
        """Work by the clock of who asks for it."""
        return self._executor.submit(copy_context().run, work, k)

    def each(self, work: Callable[[int], T], count: int, cancelled: Cancelled) -> list[T]:
        """The outcomes of ``work(0)`` .. ``work(count - 1)``; Ctrl-C and errors cancel all and are raised."""
        futures = [self._submit(work, k) for k in range(count)]
        try:
            any(future.exception() for future in _as_completed(futures))  # until the first error
        except BaseException:
            cancelled.set()
            wait(futures)
            raise
        if any(future.done() and future.exception() for future in futures):
            cancelled.set()
        return [future.result() for future in futures]

    def as_done(
        self, work: Callable[[int], T], count: int, cancelled: Cancelled, *, keeps_all: bool = False
    ) -> Iterator[tuple[int, T]]:
        """The same as an iterator, each outcome with its number as soon as it is there.

        Ctrl-C cancels what runs. With ``keeps_all`` the outcomes still come, else it goes on to the caller.
        With one thread, work waits while the caller is busy with an outcome: the two would share Python's
        lock, and a search would be charged for the time it waits.
        """
        turns = threading.Semaphore(1 if self.threads == 1 else count)

        def in_turn(k: int) -> T:
            turns.acquire()
            return work(k)

        waiting = {self._submit(in_turn, k): k for k in range(count)}
        try:
            try:
                for future in _as_completed(list(waiting)):
                    yield waiting[future], future.result()
                    del waiting[future]  # only now: Ctrl-C may come at any moment
                    turns.release()
            except KeyboardInterrupt:
                if not keeps_all:
                    raise
                cancelled.set()
                turns.release(max(1, count))
                for future, k in waiting.items():
                    yield k, future.result()
        finally:
            if waiting:  # an error, or somebody stopped listening
                cancelled.set()
                for future in waiting:
                    future.cancel()
                turns.release(count)
                wait(waiting)
