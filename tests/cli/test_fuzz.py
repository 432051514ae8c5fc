"""Damaged files of every kind: exit code 1 or 2 and one clear line, no traceback, nothing half-written.

``BEACON_FUZZ_CASES=20000 BEACON_FUZZ_SEED=1 pytest tests/cli/test_fuzz.py`` looks further.
"""

from __future__ import annotations

import os
import resource
import shutil
from pathlib import Path

import numpy as np
import pytest
from benchmarks.damage import damaged

from tests.cli.helpers import Outcome, run
from tests.cli.workshop import KINDS, Kind, copy_of, furnish

CASES = int(os.environ.get("BEACON_FUZZ_CASES", "126"))
SEED = int(os.environ.get("BEACON_FUZZ_SEED", "0"))
MOST_KIB = 1 << 20  # what the peak of memory may grow by, whatever a small file asks for


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an intact file of every kind."""
    folder = tmp_path_factory.mktemp("workshop")
    here = Path.cwd()
    os.chdir(folder)
    furnish(folder)
    os.chdir(here)
    return folder


@pytest.fixture
def at_work(workshop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(workshop)
    return workshop


def attempt(kind: Kind, command: str, rng: np.random.Generator) -> tuple[Outcome, list[str]]:
    """Damage a copy of a file, run a command on it, and clear away; what it left behind."""
    target = Path(kind.folder or f"damaged-{kind.file}")
    target = target.with_name(f"damaged-{target.name.removeprefix('damaged-')}")
    file = copy_of(kind, target)
    file.write_bytes(damaged(file.read_bytes(), rng))
    before = set(os.listdir())
    outcome = run(*command.replace("{}", str(target)).split())
    left = sorted(set(os.listdir()) - before)
    for name in [*left, target.name]:
        shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)
    return outcome, left


def check(outcome: Outcome, left: list[str]) -> None:
    assert outcome.code in {0, 1, 2}, outcome
    if outcome.code:
        assert "Traceback" not in outcome.err
        assert len(outcome.error) < 1000
    assert not [name for name in left if name.startswith(".")], "temporary files"
    if outcome.code:
        assert left in ([], ["OUT"], ["OUT.html"]), "half-written files"


def test_damaged_files_are_refused_in_one_line(at_work: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    codes = []
    for case in range(CASES):
        rng = np.random.default_rng([SEED, case])
        kind = KINDS[case % len(KINDS)]
        command = kind.commands[int(rng.integers(len(kind.commands)))]
        try:
            outcome, left = attempt(kind, command, rng)
            check(outcome, left)
        except Exception as error:
            raise AssertionError(f"case {case} of seed {SEED}: beacon {command} on {kind.file}") from error
        codes.append(outcome.code)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_KIB
    assert np.mean(np.array(codes) > 0) > 0.5, "the damage does no harm"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.file)
def test_the_intact_file_can_be_read(kind: Kind, at_work: Path) -> None:
    command = kind.commands[0].replace("{}", kind.folder or kind.file).replace("OUT", "made")
    outcome = run(*command.split())
    if "missing" in command:  # what is read before the file that is missing is fine
        assert ("no such f" in outcome.err, kind.file in outcome.err) == (True, False), outcome
    else:
        assert outcome.code == 0, outcome
    if os.path.exists("made"):
        shutil.rmtree("made") if os.path.isdir("made") else os.unlink("made")
