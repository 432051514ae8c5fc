"""The start of a process is told as it was measured."""

from __future__ import annotations

import json

from pages import ROOT


def test_the_seconds_told_are_those_of_the_file() -> None:
    commands = json.loads((ROOT / "results" / "start.json").read_text(encoding="utf-8"))["commands"]
    solve, numba = (commands[name]["seconds"] for name in ("beacon solve alarm", "import numba"))
    text = " ".join((ROOT / "research" / "rebuild.md").read_text(encoding="utf-8").split())
    assert f"takes {solve:.2f} s from the start of the process to its end, {numba:.2f} s of which" in text
