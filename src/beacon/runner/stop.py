"""When a search ends. Criteria combine with ``|``: the first to be met stops the search."""

from __future__ import annotations

import math
from dataclasses import dataclass

from beacon.errors import UsageError, shown
from beacon.model.checks import check_is_number


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
    """Stop after so many steps (flips).

    >>> import beacon
    >>> (beacon.MaxSteps(1000) | beacon.MaxRuntime(2.0)).steps  # whichever comes first
    1000
    """
    return Stop(steps=_whole("MaxSteps", steps))


def MaxRuntime(seconds: float) -> Stop:  # noqa: N802
    """Stop after so many seconds of wall-clock time.

    >>> import beacon
    >>> beacon.MaxRuntime(0.5).seconds
    0.5
    """
    return Stop(seconds=_not_negative("MaxRuntime", seconds))


def NoImprovement(steps: int) -> Stop:  # noqa: N802
    """Stop when so many steps in a row have found nothing better.

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
