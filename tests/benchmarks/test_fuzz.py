"""Some thousands of damaged and hostile inputs, and that a fault would be seen."""

from __future__ import annotations

import os
from pathlib import Path

import fuzz
import pytest

COUNT = int(os.environ.get("BEACON_FUZZ_INPUTS", "2000"))
SEED = int(os.environ.get("BEACON_FUZZ_SEED", "1"))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> fuzz.Inputs:
    return fuzz.Inputs(tmp_path_factory.mktemp("inputs"))


def test_every_input_is_read_or_refused_in_one_line(inputs: fuzz.Inputs) -> None:
    report = fuzz.fuzz(inputs, SEED, range(COUNT))
    assert report["faults"] == []
    assert report["inputs"] == COUNT
    assert set(report["readers"]) == set(inputs.readers)
    assert min(report["read"], report["refused"]) > 0.02 * COUNT


def test_an_input_is_the_same_whatever_ran_before(inputs: fuzz.Inputs) -> None:
    def made(number: int) -> tuple[str, dict[str, bytes]]:
        for path in inputs.folder.glob("input*"):
            if path.is_file():
                path.unlink()
        name, _ = inputs.input(3, number)
        return name, {path.name: path.read_bytes() for path in inputs.folder.glob("input*") if path.is_file()}

    first = [made(number) for number in range(40)]
    assert first == [made(number) for number in reversed(range(40))][::-1]


@pytest.mark.parametrize("kind", ["error", "hang", "lines"])
def test_a_fault_is_reported(kind: str, inputs: fuzz.Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong() -> None:
        if kind == "error":
            raise KeyError("x")
        if kind == "lines":
            raise fuzz.beacon.BeaconError("one\ntwo")
        while True:
            pass

    monkeypatch.setattr(fuzz, "MOST_SECONDS", 0.05)
    monkeypatch.setattr(inputs, "input", lambda seed, number: ("uai", wrong))
    report = fuzz.new_report(0)
    fuzz.try_input(inputs, 7, report)
    (fault,) = report["faults"]
    assert (fault["input"], fault["reader"]) == (7, "uai")
    assert {"error": "KeyError", "hang": "hang", "lines": "not one line"}[kind] in fault["fault"]
    assert Path(__file__).name in fault["fault"] or kind != "error"


def test_memory_is_that_of_each_input_alone(inputs: fuzz.Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    greedy, modest = (lambda: bytearray(os.urandom(1)) * (300 << 20)), (lambda: None)
    monkeypatch.setattr(fuzz, "MOST_BYTES", 200 << 20)
    report = fuzz.new_report(0)
    for read in (modest, greedy, modest):
        monkeypatch.setattr(inputs, "input", lambda seed, number, read=read: ("uai", read))
        fuzz.try_input(inputs, report["inputs"], report)
    assert [fault["input"] for fault in report["faults"]] == [1]
    assert 290 << 20 < report["most_memory_bytes"] < 400 << 20


def test_reports_add_up(inputs: fuzz.Inputs) -> None:
    whole = fuzz.fuzz(inputs, 5, range(60))
    halves = fuzz.merged(fuzz.fuzz(inputs, 5, range(40)), fuzz.fuzz(inputs, 5, range(40, 60)))
    for key in ("inputs", "read", "refused", "faults", "readers"):
        assert halves[key] == whole[key]
