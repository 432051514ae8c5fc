"""Limits that are set from outside: time and memory."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, TypeVar

from beacon.cli.console import warn
from beacon.errors import UsageError, check_at_least

LEAVING_SECONDS = 0.2  # for the interpreter to close down, and for the shortest wait to look at the clock
ANSWERS_AT_END = 3  # one is checked, one may still be being written, and a better one may come
MOST_BUSY = 4.0
BYTES_PER_GIGABYTE = 10**9
DEFAULT_SECONDS = 20.0
LEAST_GIGABYTES = 0.5  # less, and a library that cannot get memory ends the process


Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Limits:
    """What the options say, or else the environment: the names of 2011 to 2016, then those of 2022."""

    seconds: float | None = None
    """Seconds from start to end; default: INF_TIME or TIMESEC, else 20."""
    gigabytes: float | None = None
    """Gigabytes of memory; default: INF_MEMORY, or MEMKB in kilobytes, else no limit."""
    seed: int | None = None
    """Seed of all randomness; default: INF_SEED, else 0."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None:
                check_at_least(name, value, 0)

    def filled_in(self) -> tuple[float, float | None, int]:
        """Seconds, gigabytes and seed, with the environment's where no option says."""
        seconds, gigabytes, seed = self.seconds, self.gigabytes, self.seed
        for name in ("INF_TIME", "TIMESEC"):
            seconds = _variable(name, float) if seconds is None else seconds
        if gigabytes is None:
            gigabytes = _variable("INF_MEMORY", float)
        if gigabytes is None and (kilobytes := _variable("MEMKB", float)) is not None:
            gigabytes = kilobytes / 1e6
        seed = _variable("INF_SEED", int) if seed is None else seed
        return DEFAULT_SECONDS if seconds is None else seconds, gigabytes, seed or 0


def _variable(name: str, kind: type[Number]) -> Number | None:
    """A number from the environment; None if there is none."""
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    try:
        number = kind(text)
    except ValueError:
        number = kind(-1)
    if not 0 <= number < math.inf:
        wanted = "a whole number" if kind is int else "a number"
        raise UsageError(f"the environment variable {name} must be {wanted} of at least 0; found {text!r}")
    return number


class TimeUpError(BaseException):
    """The deadline has come. As with KeyboardInterrupt, no ``except Exception`` on the way catches it."""


class Deadline:
    """The time that a process may take from its start, with a reserve for writing the answer."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._reserve = seconds, 0.0
        self._began = perf_counter() - seconds_since_start()
        self.reserve(0.0)

    @property
    def seconds_left(self) -> float:
        """Seconds that may be searched from now on."""
        return max(0.0, self._seconds - self._reserve - (perf_counter() - self._began))

    def reserve(self, answer_seconds: float) -> None:
        """Keep back what it takes to check, write and leave; an answer takes as long as measured.

        On a busy machine leaving takes longer: by as much as everything so far took longer than its
        processor time.
        """
        elapsed = perf_counter() - self._began
        busy = min(max(elapsed / max(process_time(), 0.01), 1.0), MOST_BUSY)
        self._reserve = min(LEAVING_SECONDS * busy + ANSWERS_AT_END * answer_seconds, self._seconds / 2)


def seconds_since_start() -> float:
    """Seconds since this process started, if the system tells; else the processor time it has used."""
    try:
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        uptime = float(Path("/proc/uptime").read_text(encoding="utf-8").split()[0])
        seconds = uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        seconds = 0.0
    return max(seconds, process_time())


@contextmanager
def timed_out_at(deadline: Deadline) -> Iterator[None]:
    """Raise TimeUpError when the time is up, where there are timers."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def end(number: int, frame: Any) -> None:
        raise TimeUpError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, max(deadline.seconds_left, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def memory_limit(gigabytes: float | None) -> Iterator[None]:
    """Refuse memory beyond a limit: a MemoryError can be dealt with, a kill from outside cannot."""
    try:
        import resource  # noqa: PLC0415  (not everywhere)
    except ImportError:
        gigabytes = None
    if gigabytes is not None and gigabytes < LEAST_GIGABYTES:
        warn(f"a memory limit of {gigabytes:g} GB is not heeded: Beacon itself may take {LEAST_GIGABYTES} GB")
        gigabytes = None
    if gigabytes is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = int(gigabytes * BYTES_PER_GIGABYTE)
    with suppress(ValueError, OSError):  # more than there can be
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
