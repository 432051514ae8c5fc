"""What goes where: results on stdout, the rest on stderr; progress where a person watches, else silence."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

NO_MARGIN = 10_000  # columns where no terminal sets a limit
bars: list[Callable[[str], None]] = []
"""How the progress bars that are shown print a line above themselves."""


def make_streams_safe() -> None:
    """Let any text be printed whatever the locale: what it cannot encode comes out as an escape."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller: print() would turn to the other stream
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def command_line() -> str:
    """What was typed, for the record."""
    return one_line(" ".join(["beacon", *sys.argv[1:]]))


def one_line(text: str) -> str:
    """The text with line breaks, control characters and broken file names written as escapes."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def say(text: str) -> None:
    """Print a result on stdout."""
    print(text)


def note(text: str) -> None:
    """Print one line for the person at the terminal on stderr; above a progress bar, if there is one."""
    line = f"beacon: {one_line(text)}"
    if bars:
        bars[-1](line)
    else:
        print(line, file=sys.stderr, flush=True)


@contextmanager
def note_if_slow(text: str, seconds: float, quiet: bool = False) -> Iterator[None]:
    """Print a note if the work inside takes longer than that."""
    timer = Timer(seconds, note, [text])
    timer.daemon = True
    if not quiet:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _Notes(logging.Handler):
    """Prints what the library logs; the note on compiling (logger ``beacon``) is not called a warning."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        is_warning = record.levelno >= logging.WARNING and record.name != "beacon"
        note(("warning: " if is_warning else "") + record.getMessage())


def show_notes(quiet: bool) -> bool:
    """Print what the library logs as notes, unless ``quiet``."""
    logger = logging.getLogger("beacon")
    logger.handlers, logger.propagate = [_Notes()], False
    logger.setLevel(logging.CRITICAL if quiet else logging.WARNING)
    return quiet


def warn(text: str) -> None:
    """Print a warning on stderr."""
    note(f"warning: {text}")


def say_json(value: dict[str, Any]) -> None:
    """Print one JSON object, all of it ASCII, on a line of stdout."""
    print(json.dumps(value, allow_nan=False))


def say_table(rows: list[tuple[str, str]]) -> None:
    """Print names and values in two columns."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        say(f"{name:<{width}}  {one_line(value)}".rstrip())


def line_width() -> int:
    """Columns that a line of stdout may have: those of the terminal, or as many as it takes."""
    return _console().width if sys.stdout.isatty() else NO_MARGIN


def say_drawn(*tables: Table) -> None:
    """Print tables; where one cannot be as narrow as the terminal, its lines are wrapped and not cut."""
    for table in tables:
        _keep_words_whole(table)
        width = max(line_width(), least_width(table))
        _console(highlight=False, width=width).print(table, crop=False)


def _keep_words_whole(table: Table) -> None:
    """Without this, rich shortens numbers to make room for long words in other columns."""
    console = _console(width=NO_MARGIN)
    for column in table.columns:
        widths = [console.measure(cell).minimum for cell in (column.header, *column.cells)]
        column.min_width = max(column.min_width or 0, *widths)


def least_width(table: Table) -> int:
    """Columns that a table takes when all its words are wrapped."""
    return _console(width=NO_MARGIN).measure(table).minimum


def _console(**settings: Any) -> Console:
    from rich.console import Console  # noqa: PLC0415 - rich takes a moment to load

    return Console(**settings)


class ProgressBar:
    """A bar over ``total`` parts of some work, or a spinner with a clock where the parts are unknown.

    With a total of 0 it is a bar, whose total :meth:`show` tells.
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

    def __exit__(self, *_: object) -> None:
        if self._bar:
            bars.remove(self._print)
            self._bar.stop()

    def show(self, what: str, done: int, total: int) -> None:
        """Say how it goes: a callback for the library. A total of 0 is not known."""
        text = f"{self._work}: {what}" if self._work else what
        self._update(description=text, completed=done, total=total or None)

    def reach(self, done: int) -> None:
        """This many parts are done."""
        self._update(completed=done)

    def describe(self, text: str) -> None:
        """Say how it goes."""
        self._update(description=f"{self._work}: {text}")

    def _update(self, **fields: Any) -> None:
        if self._bar and self._task is not None:
            self._bar.update(self._task, **fields)

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


class KeepingBar(ProgressBar):
    """A bar over queries: it says what an earlier run has done, and after Ctrl-C what is kept."""

    def __init__(self, target: str, total: int, quiet: bool) -> None:
        super().__init__("queries (Ctrl-C keeps what is done)", total, quiet)
        self._target, self._done, self._all = target, -1, total

    def hear(self, done: int, total: int) -> None:
        """How many queries are done: a callback for the library."""
        if self._done < 0 < done:
            self.note(f"going on where an earlier run stopped: {done:,} of {total:,} queries are done")
        self._done = done
        self.reach(done)

    def __exit__(self, kind: object = None, *_: object) -> None:
        super().__exit__()
        if kind is KeyboardInterrupt and self._done > 0:
            note(
                f"{self._done:,} of {self._all:,} queries are done and kept in {self._target}.parts; "
                "the same command goes on from there"
            )


def _new_bar(is_counted: bool) -> Progress:
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
    console = _console(stderr=True)
    spinner = SpinnerColumn("line" if console.options.ascii_only else "dots")
    columns: list[ProgressColumn] = [spinner, text, TimeElapsedColumn()]
    if is_counted:
        columns = [text, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    return Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
