"""The command line: one file per verb. Here: the process, and the signals that ask it to end.

Verbs import what they need inside their functions (``noqa: PLC0415``): numba, numpy and the file readers
take time to load, and ``beacon --help`` needs none of them.
"""

from __future__ import annotations

import gc
import math
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from time import monotonic
from typing import Any

GARBAGE_THRESHOLD = 50_000  # loading packages makes many objects and no garbage: look for it less often
SIGNALS = ("SIGINT", "SIGTERM", "SIGXCPU")  # the last: a limit of the shell on processor time
AGAIN_SECONDS = 0.01  # until a lost signal is sent again
PATIENCE_SECONDS = 5.0  # for ending the work; a signal that comes later than that stops the ending, too


def main() -> None:
    """Run ``beacon`` with the arguments of the process, and leave with its exit code."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    try:
        from beacon.cli.app import app  # noqa: PLC0415
        from beacon.cli.console import make_streams_safe  # noqa: PLC0415

        handle_signals()
        sys.unraisablehook = hear_again
        make_streams_safe()
        try:
            app(prog_name="beacon")
        finally:
            handle_signals(signal.SIG_IGN)  # all output is written
            gc.freeze()  # the interpreter would look for garbage once more before it ends
    except KeyboardInterrupt:
        print("beacon: interrupted", file=sys.stderr)
        sys.exit(130)


class _Ending:
    """Which signal asked the process to end, and when; ``listener``: the event to set instead of stopping."""

    number = 0
    since = -math.inf
    has_stopped = False
    listener: threading.Event | None = None


def _end(number: int, frame: Any) -> None:
    """The first signal ends the work; further ones are ignored for some seconds while it ends."""
    is_first = _Ending.number == 0
    if not is_first and monotonic() - _Ending.since < PATIENCE_SECONDS:
        return
    _Ending.number, _Ending.since = number, monotonic()
    if is_first and _Ending.listener is not None:
        _Ending.listener.set()
    else:
        _Ending.has_stopped = True
        raise KeyboardInterrupt


def hear_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Send a signal again that came where Python ignores errors, such as in a callback of a library."""
    if unraisable.exc_type is not KeyboardInterrupt or _Ending.number == 0:
        sys.__unraisablehook__(unraisable)
        return
    number, _Ending.number = _Ending.number, 0
    again = threading.Timer(AGAIN_SECONDS, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def handle_signals(handler: Any = _end) -> list[tuple[int, Any]]:
    """Turn signals to end the process into a KeyboardInterrupt; return the handlers before."""
    _Ending.number, _Ending.since, _Ending.has_stopped = 0, -math.inf, False
    if threading.current_thread() is not threading.main_thread():
        return []
    known = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    return [(number, signal.signal(number, handler)) for number in known]


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Within the block, signals to end the process become a KeyboardInterrupt."""
    before = handle_signals()
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def told_by_signals() -> Iterator[threading.Event]:
    """Within the block a signal sets the event and stops nothing, so that what was found is still written."""
    event = threading.Event()
    with _heard_by(event):
        yield event


def stopped_by_signals() -> AbstractContextManager[None]:
    """Within :func:`told_by_signals`: a part that a signal does stop, since it has no results to keep."""
    return _heard_by(None)


@contextmanager
def _heard_by(listener: threading.Event | None) -> Iterator[None]:
    before, _Ending.listener = _Ending.listener, listener
    try:
        yield
    finally:
        _Ending.listener = before


def was_stopped() -> bool:
    """Has a signal stopped the work? Within an import the KeyboardInterrupt can turn into any other error."""
    return _Ending.has_stopped


def exit_code() -> int:
    """What the shell expects of a process that a signal has ended."""
    return 128 + (_Ending.number or int(signal.SIGINT))
