"""What all tests share: where the benchmark files are, and small models with known properties."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BENCHMARKS = Path(os.environ.get("BEACON_BENCHMARKS", ROOT.parent / "shared" / "benchmarks"))


@pytest.fixture(autouse=True)
def library_logger() -> None:
    """The logger as a program has it; a command of an earlier test may have changed it."""
    logger = logging.getLogger("beacon")
    logger.handlers, logger.propagate = [], True
    logger.setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def benchmark_files() -> Path:
    """The folder of published benchmark models; the test is skipped where it is absent."""
    if not (BENCHMARKS / "INDEX.tsv").exists():
        pytest.skip("benchmark files not found; set BEACON_BENCHMARKS to their folder")
    return BENCHMARKS


@pytest.fixture(scope="session")
def chromium() -> str:
    """A browser; tests of pages are skipped where there is none."""
    named = os.environ.get("BEACON_CHROMIUM")
    found = next((path for name in ([named] if named else CHROMIUMS) if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("Chromium is not installed: run `make browser`, or set BEACON_CHROMIUM to its path")
    return found
