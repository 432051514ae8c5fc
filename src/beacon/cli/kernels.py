"""Kernels are compiled once per machine; whoever has to wait for it shall know why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from beacon.cli.console import note

if TYPE_CHECKING:
    from beacon.strategies.strategy import Strategy

PATIENCE_SECONDS = 1.0
COMPILING = "numba:compile"  # what numba calls it when a kernel is not in its cache


def load_kernels(strategy: Strategy, quiet: bool = False) -> None:
    """Load the kernels of a strategy, with a note if they have to be compiled first."""
    from beacon.runner.warm_up import warm_up  # noqa: PLC0415

    with _note_if_compiling("compiling the search kernels (once; cached for later runs) …", quiet):
        warm_up(strategy)


def load_guided_kernels(quiet: bool = False) -> None:
    """The same for guided search."""
    from beacon.runner.warm_up import warm_up_guided  # noqa: PLC0415

    with _note_if_compiling("compiling the kernels of guided search (once; cached for later runs) …", quiet):
        warm_up_guided()


@contextmanager
def _note_if_compiling(text: str, quiet: bool) -> Iterator[None]:
    """Print a note if the work inside takes a while and numba compiles, instead of loading what it has."""
    from numba.core.event import install_recorder  # noqa: PLC0415

    is_done = Event()
    with install_recorder(COMPILING) as recorder:
        watcher = Thread(target=_watch, args=(text, recorder, is_done), daemon=True)
        if not quiet:
            watcher.start()
        try:
            yield
        finally:
            is_done.set()


def _watch(text: str, recorder: Any, is_done: Event) -> None:
    while not is_done.wait(PATIENCE_SECONDS):
        if recorder.buffer:
            note(text)
            return
