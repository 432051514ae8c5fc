"""Where a search begins, its clock, and when it ends: stops combine with |, the first to be met stops it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.errors import EvidenceError, UsageError, check_at_least, check_is_number, shown
from beacon.model.flat import as_fixed
from beacon.model.graphical_model import GraphicalModel
from beacon.rng import stream

if TYPE_CHECKING:
    from beacon.engine.core import Begin

START_STREAM = 7  # apart from the stream of the search itself
Start = Literal["random", "constructed"] | ArrayLike
KINDS = ("random", "constructed")


@dataclass(frozen=True)
class Stop:
    """Every limit at once; infinity where there is none. Use the named criteria below to make one."""

    steps: float = math.inf
    seconds: float = math.inf
    idle_steps: float = math.inf
    target: float = math.inf
    gap: float = 0.0
    """An upper bound no further than this above the best score is close enough."""

    def __or__(self, other: Stop) -> Stop:
        """Stop when either would."""
        check_is_stop(other)
        return Stop(
            min(self.steps, other.steps),
            min(self.seconds, other.seconds),
            min(self.idle_steps, other.idle_steps),
            min(self.target, other.target),
            max(self.gap, other.gap),
        )

    @property
    def is_bounded(self) -> bool:
        """Does it end every search? A target or gap alone may never be reached."""
        return min(self.steps, self.seconds, self.idle_steps) < math.inf


def check_is_stop(stop: object) -> None:
    """Refuse a bare number, which might be steps or seconds, and all else that is no stop."""
    if not isinstance(stop, Stop):
        raise UsageError(
            f"expected a stop, such as MaxSteps(1000) or MaxRuntime(2.0) (seconds); found {shown(stop)}"
        )


def check_bounded(stop: Stop) -> None:
    """Refuse a stop that may never come."""
    check_is_stop(stop)
    if not stop.is_bounded:
        raise UsageError("the stop would never end a search; add MaxSteps, MaxRuntime or NoImprovement")


def MaxSteps(steps: int) -> Stop:  # noqa: N802 - reads as the name of a criterion
    """Stop after this many steps (flips).

    >>> import beacon
    >>> (beacon.MaxSteps(1000) | beacon.MaxRuntime(2.0)).steps  # whichever comes first
    1000
    """
    return Stop(steps=_whole("MaxSteps", steps))


def MaxRuntime(seconds: float) -> Stop:  # noqa: N802
    """Stop after this many seconds of wall-clock time, counted from the call; loading kernels is left out.

    >>> import beacon
    >>> beacon.MaxRuntime(0.5).seconds
    0.5
    """
    return Stop(seconds=_not_negative("MaxRuntime", seconds))


def NoImprovement(steps: int) -> Stop:  # noqa: N802
    """Stop when this many steps in a row have found nothing better.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> beacon.solve(ising_grid(4, 4), strategy="gls+", stop=beacon.NoImprovement(500)).stop
    'no improvement'
    """
    check_is_number("NoImprovement", steps)
    if steps < 1:
        raise UsageError(f"NoImprovement needs at least 1 step; found {steps}")
    return Stop(idle_steps=_whole("NoImprovement", steps))


def TargetScore(score: float) -> Stop:  # noqa: N802
    """Stop when an assignment without zero factors has at least this log score.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> stop = beacon.TargetScore(0.0) | beacon.MaxSteps(1000)  # a target alone may never be reached
    >>> beacon.solve(ising_grid(4, 4), strategy="gls+", stop=stop).stop
    'target'
    """
    check_is_number("TargetScore", score)
    if math.isnan(score):
        raise UsageError("TargetScore needs a number; found nan")
    return Stop(target=score)


def MaxGap(nats: float) -> Stop:  # noqa: N802
    """Stop when the best score is proved to be at most this far below the optimum.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> stop = beacon.MaxGap(5.0) | beacon.MaxSteps(10_000)  # a gap alone may never be reached
    >>> result = beacon.solve(ising_grid(4, 4), stop=stop)
    >>> result.gap <= 5.0
    True
    """
    if not _not_negative("MaxGap", nats) < math.inf:
        raise UsageError(f"MaxGap needs a finite number of nats; found {nats}")
    return Stop(gap=nats)


DEFAULT_STOP = Stop(seconds=1.0)


def stop_or_default(stop: Stop | None) -> Stop:
    """The stop that was asked for, checked; one second where none was."""
    if stop is None:
        return DEFAULT_STOP
    check_bounded(stop)
    return stop


@dataclass(frozen=True)
class StopSettings:
    """Limits by name, as a command line or a file gives them; the first to be met ends the search."""

    steps: int | None = None
    """This many steps (flips)."""
    seconds: float | None = None
    """This many seconds; 1 unless steps, or steps without improvement, are limited."""
    idle_steps: int | None = None
    """This many steps in a row that find nothing better."""
    target: float | None = None
    """A log score that is good enough."""
    gap: float | None = None
    """A score that is proved to be at most this many nats below the optimum."""

    def __post_init__(self) -> None:
        for name, low in (("steps", 0), ("seconds", 0), ("idle_steps", 1), ("gap", 0)):
            if getattr(self, name) is not None:
                check_at_least(name, getattr(self, name), low)
        if self.target is not None and math.isnan(self.target):
            raise UsageError("target must be a number; found nan")
        if self.gap == math.inf:
            raise UsageError("gap must be a finite number of nats; found inf")
        _ = self.stop  # checks the rest

    @property
    def stop(self) -> Stop:
        """All of them; and the default where none is sure to end a search."""
        makers: tuple[tuple[Callable[[Any], Stop], float | None], ...] = (
            (MaxSteps, self.steps),
            (MaxRuntime, self.seconds),
            (NoImprovement, self.idle_steps),
            (TargetScore, self.target),
            (MaxGap, self.gap),
        )
        stop = reduce(or_, (make(limit) for make, limit in makers if limit is not None), Stop())
        if self.steps is None and self.seconds is None and self.idle_steps is None:
            return stop | DEFAULT_STOP
        if not stop.is_bounded:
            raise UsageError("a time of inf would never end; give a number of seconds, or limit the steps")
        return stop


def _whole(criterion: str, limit: float) -> float:
    """A number of steps; infinity for no limit."""
    if _not_negative(criterion, limit) == math.inf:
        return math.inf
    if limit != int(limit):
        raise UsageError(f"{criterion} needs a whole number of steps; found {limit}")
    return int(limit)


def _not_negative(criterion: str, limit: float) -> float:
    check_is_number(criterion, limit)
    if not limit >= 0:
        raise UsageError(f"{criterion} needs a limit of 0 or more; found {limit}")
    return limit


def first_assignments(
    model: GraphicalModel, start: Start, evidences: Sequence[Mapping[int, int]]
) -> Sequence[NDArray[np.int64] | None]:
    """One first assignment per query; None stands for one that :func:`kind_of` puts in place.

    ``start`` is one of ``KINDS``, one assignment for all queries, or one row for each.
    """
    if isinstance(start, str):
        if start not in KINDS:
            raise UsageError(f"start must be 'random', 'constructed' or an assignment; found {start!r}")
        return [None] * len(evidences)
    try:
        rows = np.asarray(start)
    except ValueError:
        rows = np.empty(())  # rows of different lengths
    if rows.ndim not in {1, 2}:
        raise UsageError(f"start must be 'random' or an assignment (or one for each query); found {start!r}")
    if rows.ndim == 1:
        rows = np.broadcast_to(rows, (len(evidences), len(rows)))
    if len(rows) != len(evidences):
        raise UsageError(f"expected one start for each of {len(evidences)} queries; found {len(rows)}")
    return [_checked(model, row, evidence) for row, evidence in zip(rows, evidences, strict=True)]


def kind_of(start: object) -> Begin | None:
    """What puts the first assignment of this kind in place; None: the strategy decides."""
    if not isinstance(start, str) or start not in KINDS:
        return None
    if start == "constructed":
        from beacon.engine.construct import construct_assignment  # noqa: PLC0415 - few searches need it

        return construct_assignment
    from beacon.engine.core import draw_assignment  # noqa: PLC0415 - numba is slow to import

    return draw_assignment


def random_start(model: GraphicalModel, evidence: Mapping[int, int], seed: int) -> NDArray[np.int64]:
    """A uniformly random assignment with the evidence in place; it depends on seed and evidence alone."""
    fixed = as_fixed(evidence, model.num_variables)
    rng = np.random.default_rng([START_STREAM, *stream(seed, fixed).tolist()])
    drawn = rng.integers(0, model.domain_sizes, dtype=np.int64)
    return np.where(fixed >= 0, fixed, drawn)


def _checked(model: GraphicalModel, row: NDArray[np.int64], evidence: Mapping[int, int]) -> NDArray[np.int64]:
    assignment = model.check_assignment(row)
    for variable, value in evidence.items():
        if assignment[variable] != value:
            labels = model.labels[variable]
            raise EvidenceError(
                f"the start contradicts the evidence: {model.names[variable]!r} is observed as "
                f"{labels[value]!r}, the start has {labels[assignment[variable]]!r}"
            )
    return assignment


_clock: ContextVar[Callable[[], float]] = ContextVar("_clock", default=time.perf_counter)


def perf_counter() -> float:
    """Seconds by the clock in use: that of :mod:`time`, unless told otherwise."""
    return _clock.get()()


@contextmanager
def processor_time() -> Iterator[None]:
    """Let searches that begin in here count processor time: other programs share the machine.

    For searches one at a time; of several at once, each would be charged for all of them. Searches of other
    threads keep their clock.
    """
    token = _clock.set(time.process_time)
    try:
        yield
    finally:
        _clock.reset(token)
