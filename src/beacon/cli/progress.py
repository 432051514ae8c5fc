"""Progress on stderr, where a person watches; silence elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from beacon.cli.console import bars, note, one_line, say

if TYPE_CHECKING:
    from rich.progress import Progress


class ProgressBar:
    """A bar over ``total`` parts of some work, or a spinner with a clock where the parts are unknown.

    A total of 0 is one that :meth:`show` will tell.
    """

    def __init__(self, work: str, total: int | None, quiet: bool = False) -> None:
        self._work = work
        self._quiet = quiet
        self._bar = None if quiet or not sys.stderr.isatty() else _new_bar(total is not None)
        self._task = self._bar.add_task(work, total=total or None) if self._bar else None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
            bars.append(self._print)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            bars.remove(self._print)
            self._bar.stop()

    def show(self, what: str, done: int, total: int) -> None:
        """Say how it goes: a callback for the library. A total of 0 is not known."""
        if self._bar and self._task is not None:
            text = f"{self._work}: {what}" if self._work else what
            self._bar.update(self._task, description=text, completed=done, total=total or None)

    def reach(self, done: int) -> None:
        """This many parts are done."""
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=done)

    def describe(self, text: str) -> None:
        """Say how it goes."""
        if self._bar and self._task is not None:
            self._bar.update(self._task, description=f"{self._work}: {text}")

    def note(self, line: str) -> None:
        """Print a line for the person at the terminal on stderr; above the bar, if there is one."""
        if self._bar:
            self._print(one_line(line))
        elif not self._quiet:
            note(line)

    def say(self, line: str) -> None:
        """Print a result line on stdout; above the bar, if both share the terminal."""
        self._print(line) if self._bar and sys.stdout.isatty() else say(line)

    def _print(self, line: str) -> None:
        if self._bar:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)


def _new_bar(is_counted: bool) -> Progress:
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    text = TextColumn("{task.description}", markup=False)
    console = Console(stderr=True)
    spinner = SpinnerColumn("line" if console.options.ascii_only else "dots")
    columns: list[ProgressColumn] = [spinner, text, TimeElapsedColumn()]
    if is_counted:
        columns = [text, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    return Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
