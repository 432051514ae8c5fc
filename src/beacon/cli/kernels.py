"""Kernels are compiled once per machine; whoever has to wait for it shall know why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beacon.cli.console import note_if_slow

if TYPE_CHECKING:
    from beacon.search.strategy import Strategy

PATIENCE_SECONDS = 1.0


def load_kernels(strategy: Strategy, quiet: bool = False) -> None:
    """Load the kernels of a strategy, with a note if they have to be compiled first."""
    from beacon.search.warm_up import warm_up  # noqa: PLC0415

    message = "compiling the search kernels (once; cached for later runs) …"
    with note_if_slow(message, PATIENCE_SECONDS, quiet):
        warm_up(strategy)
