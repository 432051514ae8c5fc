"""The examples run and print what they are there to show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from beacon.jit import COMPILING
from tests.conftest import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SHOWN = {
    "compare_strategies.py": ["greedy", "gls+"],
    "from_pgmpy.py": ["100 queries on 14 variables", "as probable as pgmpy's answer: 100; more probable: 0"],
    "new_guide.py": ["neighbours", "saved as a guide of kind neighbours: True"],
    "new_strategy.py": ["annealing", "gls+"],
    "solve_one.py": ["'sprinkler': 'on'", "0.288"],
    "solve_table.py": [
        "patient 0: tuberculosis (",
        "patient 1: tuberculosis, prostatitis (",
        "patient 2: no disease",
    ],
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_without_a_word_on_stderr(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.replace(f"{COMPILING}\n", "")) == (0, "")
    for words in SHOWN[example.name]:
        assert words in done.stdout
    assert not list(tmp_path.iterdir()), "examples leave nothing behind"
