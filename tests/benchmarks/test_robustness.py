"""The page on robustness quotes the files of its measurements."""

from __future__ import annotations

import csv
import json
from typing import Any

from tests.conftest import ROOT

PAGE = (ROOT / "research" / "robustness.md").read_text(encoding="utf-8")


def results(name: str) -> Any:
    return json.loads((ROOT / "results" / name).read_text(encoding="utf-8"))


def test_the_fuzz_run_is_that_of_the_file() -> None:
    report = results("fuzz.json")
    assert report["inputs"] == report["read"] + report["refused"] + len(report["faults"])
    assert (
        f"| {report['inputs']:,} | {report['read']:,} | {report['refused']:,} | {len(report['faults'])} |"
        in PAGE
    )
    memory = report["most_memory_bytes"] / 2**20
    assert f"the slowest took {report['slowest_seconds']:.1f} s, the largest {memory:,.0f} MiB" in PAGE


def test_signals_are_those_of_the_file() -> None:
    report = results("hardship.json")["signals"]
    for name, count in report["signals"].items():
        codes = ", ".join(f"{code}: {n}" for code, n in sorted(report["exit_codes"][name].items()))
        assert f"| {name} | {count} | {codes} |" in PAGE
    assert f"{len(report['faults'])} faults" in PAGE


def test_the_time_limits_are_those_of_the_file() -> None:
    with (ROOT / "results" / "limits.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    assert rows
    for row in rows:
        assert f"| {' | '.join(row)} |" in PAGE
