"""The clock of searches: the wall's, or the processor's while searches are compared with each other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_clocks: list[Callable[[], float]] = [time.perf_counter]


def perf_counter() -> float:
    """Seconds by the clock in use: that of :mod:`time`, unless told otherwise."""
    return _clocks[-1]()


@contextmanager
def processor_time() -> Iterator[None]:
    """Let all searches of this process count its processor time: other programs share the machine.

    For searches one at a time; of several at once, each would be charged for all of them.
    """
    _clocks.append(time.process_time)
    try:
        yield
    finally:
        _clocks.pop()
