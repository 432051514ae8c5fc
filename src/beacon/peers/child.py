"""Another solver in a process of its own, killed when it overruns; what it printed until then is kept."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from beacon.errors import BeaconError

GRACE_SECONDS = 2.0  # for a child that was asked to finish
LOOK_SECONDS = 0.05  # between looks at whether it is cancelled


class ChildRun(NamedTuple):
    """How a child process ended."""

    output: str
    """What it printed on stdout, complete or not."""
    exit_code: int | None
    """None if it was killed for overrunning."""
    seconds: float
    complaint: str
    """The last line that it printed on stderr."""

    @property
    def failure(self) -> str:
        """What went wrong, in a few words; empty if it ended by itself and well."""
        if self.exit_code is None:
            return f"killed after {self.seconds:.1f} s"
        if self.exit_code < 0:
            return f"died of {signal.Signals(-self.exit_code).name}"
        return f"failed with exit code {self.exit_code}: {self.complaint}" if self.exit_code else ""


def run_child(
    command: Sequence[str],
    folder: Path,
    seconds: float,
    finish: signal.Signals | None = None,
    cancelled: threading.Event | None = None,
) -> ChildRun:
    """Run a command in ``folder`` for at most this many seconds of wall-clock time.

    Its output goes to a file, so that what a killed child has printed is not lost, and its helpers are
    killed with it. A child that understands the signal ``finish`` is first asked, and given a moment, to come
    to an end; one that is ``cancelled`` from another thread is not.
    """
    began = perf_counter()
    printed, complaints = folder / "output.txt", folder / "errors.txt"
    with printed.open("wb") as output, complaints.open("wb") as errors:
        try:
            child = subprocess.Popen(
                list(command),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                process_group=0,
            )
        except OSError as error:
            raise BeaconError(f"cannot run {command[0]}: {(error.strerror or str(error)).lower()}") from None
        exit_code = _wait(child, seconds, finish, cancelled)
    said = complaints.read_text("utf-8", "replace").split("\n")
    complaint = next((line.strip() for line in reversed(said) if line.strip()), "")
    return ChildRun(printed.read_text("utf-8", "replace"), exit_code, perf_counter() - began, complaint)


def _wait(
    child: subprocess.Popen[bytes],
    seconds: float,
    finish: signal.Signals | None,
    cancelled: threading.Event | None,
) -> int | None:
    end = perf_counter() + seconds
    try:
        while (left := end - perf_counter()) > 0 and not (cancelled and cancelled.is_set()):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return child.wait(min(LOOK_SECONDS, left))
        if finish is not None and left <= 0:
            child.send_signal(finish)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return child.wait(GRACE_SECONDS)
        return None
    finally:  # also on Ctrl-C
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
