"""Threads that run searches side by side, and the way to stop them all."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, as_completed, wait
from typing import TypeVar

from beacon.model.checks import check_count

T = TypeVar("T")
Cancelled = threading.Event
"""Once set, searches end at the next look at the clock."""


def num_threads(threads: int | None) -> int:
    """The number of threads to use: as asked, or one per core that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    check_count("threads", threads, 1)
    return int(threads)


class Pool:
    """A number of threads, kept between calls. Kernels release Python's lock, so searches run in parallel."""

    def __init__(self, threads: int | None) -> None:
        self.threads = num_threads(threads)
        self._executor = ThreadPoolExecutor(self.threads)  # starts threads only when there is work

    def each(self, work: Callable[[int], T], count: int, cancelled: Cancelled) -> list[T]:
        """The outcomes of ``work(0)`` .. ``work(count - 1)``; Ctrl-C and errors cancel all and go on."""
        futures = [self._executor.submit(work, k) for k in range(count)]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
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
        """
        waiting = {self._executor.submit(work, k): k for k in range(count)}
        try:
            try:
                for future in as_completed(list(waiting)):
                    yield waiting[future], future.result()
                    del waiting[future]  # only now: Ctrl-C may come at any moment
            except KeyboardInterrupt:
                if not keeps_all:
                    raise
                cancelled.set()
                for future, k in waiting.items():
                    yield k, future.result()
        finally:
            if waiting:  # an error, or somebody stopped listening
                cancelled.set()
                for future in waiting:
                    future.cancel()
                wait(waiting)
