"""A curve in the terminal: the best score from below and the upper bound from above, while a search runs."""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from beacon.cli.console import say

if TYPE_CHECKING:
    from rich.live import Live

    from beacon.runner.result import Result
    from beacon.runner.search import Search

WIDTH, DECADES, ROWS = 64, 4, 2  # columns; powers of ten on either side of the answer, and their rows
LEAST = 0.1  # nats at which the scale begins
FRAME_SECONDS = 0.1
SCORE, BOUND, BAND, SPACE = "●", "▔", "░", " "


class Point(NamedTuple):
    """What is known at one time."""

    seconds: float
    score: float
    bound: float


class Curve:
    """Hears a search and draws it: live where a person watches, and at the end for everybody."""

    def __init__(self, quiet: bool = False) -> None:
        self.points: list[Point] = []
        self._live = None if quiet or not sys.stdout.isatty() else _new_live()
        self._drawn = -math.inf

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()
        if error is None:
            say(drawn(self.points))

    def hear(self, search: Search) -> None:
        """Note how the search stands: a callback for the library."""
        self.points.append(Point(search.seconds, search.best_score, search.upper_bound))
        if self._live and monotonic() > self._drawn + FRAME_SECONDS:
            self._drawn = monotonic()
            self._live.update(drawn(self.points), refresh=True)

    def end(self, result: Result) -> None:
        """Note how it ended."""
        bound = math.inf if result.upper_bound is None else result.upper_bound
        self.points.append(Point(result.seconds, result.floored_log_score, bound))


def drawn(points: list[Point]) -> str:
    """The curve in lines: both scales are logarithmic, and the answer lies in the middle."""
    half = DECADES * ROWS
    best, first, end = points[-1].score, points[0].seconds, points[-1].seconds
    times = [first * (end / first) ** (column / WIDTH) for column in range(1, WIDTH + 1)]
    columns = [_column(_at(points, time), best, half) for time in times]
    lines = [
        f"{_label(row - half):>9} {''.join(column[row] for column in columns)}" for row in range(2 * half + 1)
    ]
    began = f"{first * 1e3:.0f} ms"
    return "\n".join([*lines, f"{'':9} {began}{f'{end:.2f} s':>{WIDTH - len(began)}}"])


def _at(points: list[Point], time: float) -> Point:
    """What was known at a time; rounding must not lose the last point."""
    place = bisect_right(points, time * (1 + 1e-9), key=lambda point: point.seconds)
    return points[max(place - 1, 0)]


def _column(point: Point, best: float, half: int) -> list[str]:
    top, bottom = half - _rows(point.bound - best, half), half + _rows(best - point.score, half)
    column = [BAND if top <= row <= bottom else SPACE for row in range(2 * half + 1)]
    if math.isfinite(point.bound):
        column[top] = BOUND
    column[bottom] = SCORE
    return column


def _rows(nats: float, half: int) -> int:
    """How many rows from the middle a difference is drawn."""
    if nats < LEAST / 2:
        return 0
    return half if math.isinf(nats) else min(half, max(1, 1 + round(ROWS * math.log10(nats / LEAST))))


def _label(row: int) -> str:
    if row == 0:
        return "answer"
    power = (abs(row) - 1) / ROWS
    return f"{'-+'[row < 0]}{LEAST * 10**power:g}" if power == int(power) else ""


def _new_live() -> Live:
    from rich.live import Live  # noqa: PLC0415 - rich takes a moment to load

    return Live(transient=True, auto_refresh=False)
