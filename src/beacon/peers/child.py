"""Another solver in a process of its own, killed when it overruns; what it printed until then is kept."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from beacon.errors import BeaconError


class ChildRun(NamedTuple):
    """How a child process ended."""

    output: str
    """What it printed on stdout, complete or not."""
    exit_code: int | None
    """None if it was killed for overrunning."""
    seconds: float

    @property
    def failure(self) -> str:
        """What went wrong, in a few words; empty if it ended by itself and well."""
        if self.exit_code is None:
            return f"killed after {self.seconds:.1f} s"
        if self.exit_code < 0:
            return f"died of {signal.Signals(-self.exit_code).name}"
        return f"failed with exit code {self.exit_code}" if self.exit_code else ""


def run_child(command: Sequence[str], folder: Path, seconds: float) -> ChildRun:
    """Run a command in ``folder`` for at most so many seconds of wall-clock time.

    Its output goes to a file, so that what a killed child has printed is not lost, and its helpers are
    killed with it.
    """
    began = perf_counter()
    printed = folder / "output.txt"
    with printed.open("wb") as output:
        try:
            child = subprocess.Popen(
                list(command),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )
        except OSError as error:
            raise BeaconError(f"cannot run {command[0]}: {(error.strerror or str(error)).lower()}") from None
        exit_code = _wait(child, seconds)
    return ChildRun(printed.read_text("utf-8", "replace"), exit_code, perf_counter() - began)


def _wait(child: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:  # also on Ctrl-C
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
