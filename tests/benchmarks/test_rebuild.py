"""The page on the rebuilt engine says what its results file holds."""

from __future__ import annotations

import json
import re
import statistics
from typing import Any

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "research" / "rebuild.md").read_text(encoding="utf-8")
FOUND: dict[str, Any] = json.loads((ROOT / "results" / "versions.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("strategy", ["greedy", "gls+", "tree", "auto"])
def test_the_table_is_that_of_the_file(strategy: str) -> None:
    old, new = FOUND["compilation"][strategy]
    different = sum(name.endswith(f" {strategy}") for name in FOUND["different"])
    searches = sum(name.endswith(f" {strategy}") for name in FOUND["times"])
    row = f"| {strategy} | {different} of {searches} | {old:.1f} s | {new:.1f} s | {new / old:.2f} |"
    assert row in PAGE


def test_searches_with_a_guide_are_the_same() -> None:
    assert f"{FOUND['searches']} searches by steps" in PAGE
    assert not [name for name in FOUND["different"] if "guided" in name]


@pytest.mark.parametrize(("strategy", "words"), [("greedy", "Greedy takes"), ("gls+", "one of GLS\\+")])
def test_the_medians_are_those_of_the_file(strategy: str, words: str) -> None:
    rows = [row for name, row in FOUND["times"].items() if name.endswith(f" {strategy}")]
    said = re.search(rf"{words} ([\d.]+)", PAGE)
    assert said is not None
    assert float(said[1]) == pytest.approx(statistics.median(new / old for old, _, new, _ in rows), abs=0.006)


def test_the_worst_ratios_are_said() -> None:
    worst = {
        strategy: max(
            new / old for name, (old, _, new, _) in FOUND["times"].items() if name.endswith(f" {strategy}")
        )
        for strategy in ("greedy", "gls+", "auto")
    }
    assert f"at worst {worst['greedy']:.2f} and {worst['gls+']:.2f}" in PAGE
    assert f"up to {worst['auto']:.2f} times" in PAGE
