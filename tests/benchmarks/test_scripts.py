"""Benchmark scripts are run rarely: at least their imports must hold."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

SCRIPTS = sorted(path.stem for path in (Path(__file__).parents[2] / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_benchmark_script_can_be_imported(name: str) -> None:
    assert importlib.import_module(name).__doc__
