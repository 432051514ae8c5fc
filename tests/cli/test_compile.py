"""Kernels ahead of time, and the note for whoever has to wait for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from beacon.jit import COMPILING
from tests.cli.helpers import run
from tests.conftest import ROOT

# quick to compile
SMALL_KERNEL = "import numpy as np; from beacon.rng import stream; stream(1, np.full(2, -1))"


def test_all_kernels_are_compiled_and_nothing_is_to_be_done_again() -> None:
    outcome = run("compile")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("all kernels are compiled (")
    assert run("compile", "--json").json["seconds"] < 60


@pytest.mark.slow
def test_a_note_says_once_that_kernels_are_compiled_and_none_that_they_are_loaded(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}

    def stderr_of(code: str) -> str:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert done.stdout == ""
        return done.stderr

    silenced = f"import logging; logging.getLogger('beacon').setLevel('ERROR'); {SMALL_KERNEL}"
    assert stderr_of(silenced) == ""
    assert any(tmp_path.rglob("*.nbi"))
    assert stderr_of(SMALL_KERNEL) == ""
    for file in tmp_path.rglob("*.nb*"):
        file.unlink()
    assert stderr_of(SMALL_KERNEL) == f"{COMPILING}\n"
