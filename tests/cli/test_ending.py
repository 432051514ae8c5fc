"""Signals at awkward moments."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from beacon.cli.ending import TimeUpError
from beacon.engine.core import rescore

LOST = """
import signal, sys, time
from beacon.cli import exit_code, handle_signals, hear_again

class Deaf:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
        time.sleep(0)  # here the handler raises, and Python ignores it

handle_signals()
sys.unraisablehook = hear_again
try:
    Deaf()
    time.sleep(20)
    print("not heard")
except KeyboardInterrupt:
    print("heard", exit_code())
"""


def test_a_signal_is_heard_though_it_comes_where_errors_are_ignored() -> None:
    process = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, check=True)
    assert (process.stdout, process.stderr) == ("heard 143\n", "")


def test_other_errors_that_are_ignored_are_still_told() -> None:
    code = LOST.replace("signal.raise_signal(signal.SIGTERM)", "raise KeyError('x')").replace("20", "0")
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == "not heard\n"
    assert "KeyError: 'x'" in process.stderr


def test_time_that_is_up_while_a_kernel_is_loaded_is_no_damaged_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the kernel would be compiled, long after the deadline."""

    def too_late(*arguments: object) -> None:
        raise TimeUpError

    monkeypatch.setattr(pickle, "load", too_late)
    with pytest.raises(TimeUpError):
        rescore._cache._cache_file._load_index()
