"""The note on compiling is for those who wait for it, and for nobody else."""

from __future__ import annotations

import time
from collections.abc import Callable

import numba
import pytest

from beacon.cli import kernels
from beacon.strategies.strategy import Greedy

LONG = 0.5


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "PATIENCE_SECONDS", LONG / 50)


def slow_loading(*_: object) -> None:
    time.sleep(LONG)


def slow_compiling(*_: object) -> None:
    numba.njit(lambda number: number + 1)(1)  # a new kernel, in no cache
    time.sleep(LONG)


@pytest.mark.parametrize(
    ("name", "load", "words"),
    [
        ("warm_up", lambda quiet: kernels.load_kernels(Greedy(), quiet), "the search kernels"),
        ("warm_up_guided", kernels.load_guided_kernels, "the kernels of guided search"),
    ],
)
def test_the_note_comes_once_and_only_if_kernels_are_compiled(
    name: str,
    load: Callable[[bool], None],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(f"beacon.runner.warm_up.{name}", slow_loading)
    load(False)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(f"beacon.runner.warm_up.{name}", slow_compiling)
    load(True)
    assert capsys.readouterr().err == ""
    load(False)
    assert capsys.readouterr().err == f"beacon: compiling {words} (once; cached for later runs) …\n"
