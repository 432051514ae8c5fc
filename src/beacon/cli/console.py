"""What goes where: results on stdout, everything else on stderr, and nothing that a terminal cannot show."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any


def make_streams_safe() -> None:
    """Let any text be printed whatever the locale: what it cannot encode comes out as an escape."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller: print() would turn to the other stream
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def one_line(text: str) -> str:
    """The text with line breaks, control characters and broken file names written as escapes."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def say(text: str) -> None:
    """Print a result on stdout."""
    print(text)


def note(text: str) -> None:
    """Print one line for the person at the terminal on stderr."""
    print(f"beacon: {one_line(text)}", file=sys.stderr, flush=True)


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
