"""What goes where: results on stdout, everything else on stderr, and nothing that a terminal cannot show."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    return " ".join(["beacon", *sys.argv[1:]])


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
    """What the library logs, as notes; all but the note on compiling are warnings or say how it goes."""

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
    from rich.console import Console  # noqa: PLC0415

    return Console().width if sys.stdout.isatty() else NO_MARGIN


def say_drawn(*tables: Table) -> None:
    """Print drawn tables; one that cannot be as narrow as the terminal is wrapped by it, and not cut."""
    from rich.console import Console  # noqa: PLC0415

    for table in tables:
        _keep_words_whole(table)
        width = max(line_width(), least_width(table))
        Console(highlight=False, width=width).print(table, crop=False)


def _keep_words_whole(table: Table) -> None:
    """Left to itself, rich shortens numbers to make room for long words in other columns."""
    from rich.console import Console  # noqa: PLC0415

    console = Console(width=NO_MARGIN)
    for column in table.columns:
        widths = [console.measure(cell).minimum for cell in (column.header, *column.cells)]
        column.min_width = max(column.min_width or 0, *widths)


def least_width(table: Table) -> int:
    """Columns that a table takes when all its words are wrapped."""
    from rich.console import Console  # noqa: PLC0415

    console = Console(width=NO_MARGIN)
    return console.measure(table).minimum
