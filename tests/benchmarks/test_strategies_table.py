"""What the comparison of strategies says about handwritten rows."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def _script(name: str) -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


table = _script("strategies_table")


def row(method: str, query: int, *scores: float | None) -> dict[str, Any]:
    return {"network": "net", "method": method, "query": query, "scores": list(scores), "proved": False}


ROWS = [
    row("tree", 0, 1.0, 2.0, 3.0, 4.0, 5.0),
    row("tree", 1, 1.0, 2.0, 5.0, 6.0, 7.0),
    row("gls+", 0, None, 2.0, 2.0, 2.0, 2.0),
    row("auto", 0, 1.0, 1.0, 3.0, 3.9, 5.0),
]


def test_means_are_over_the_queries_that_every_method_has_finished() -> None:
    assert {len(scores) for scores in table.scores_of(ROWS, "net").values()} == {1}
    assert "tree | 1.000 (0) | 3.000 (0) | 4.000 (0) | 5.000 (1) |" in table.score_table(ROWS)


def test_a_method_without_a_score_yet_has_no_mean() -> None:
    assert "| net | gls+ | - | 2.000 (0) | 2.000 (0) | 2.000 (0) |" in table.score_table(ROWS)


def test_the_lead_is_a_share_of_the_better_of_the_others() -> None:
    (line,) = [line for line in table.standing_table(ROWS).splitlines() if line.startswith("| net |")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2:5] == ["-", "-", "-"]  # no tree yardstick
    assert cells[5:8] == ["=", "-2.5000", "="]


def test_the_lead_is_over_those_that_were_measured() -> None:
    rows = [row("auto", 0, *[-99.0] * 5), row("gls+", 0, *[-100.0] * 5)]
    (line,) = [line for line in table.standing_table(rows).splitlines() if line.startswith("| net |")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2:] == ["-"] * 3 + ["+1.0000"] * 3 + ["-"] * 3


def test_proofs_are_counted() -> None:
    rows = [*ROWS[2:], row("toulbar2", 0, None, None, None, 5.0, 5.0) | {"proved": True}]
    assert "| net, 1 proved | toulbar2 | - | - | 5.000 (1) | 5.000 (1) |" in table.score_table(rows)


def test_a_score_above_all_that_is_possible_is_not_the_best() -> None:
    rows = [*ROWS, row("c++ tree", 0, *[5.0] * 4, 9.0)]
    assert "| c++ tree | 5.000 (1) | 5.000 (1) | 5.000 (1) | 9.000 (0) |" in table.score_table(rows)
    assert "tree | 1.000 (0) | 3.000 (0) | 4.000 (0) | 5.000 (1) |" in table.score_table(rows)


def test_a_lead_over_a_negative_score_has_the_right_sign() -> None:
    rows = [row("auto", 0, *[-99.0] * 5), row("toulbar2", 0, *[-100.0] * 5)]
    assert "+1.0000" in table.standing_table(rows)


@pytest.mark.parametrize("mark", [0.1, 10.0])
def test_the_mean_is_taken_at_the_mark(mark: float) -> None:
    scores = table.scores_of(ROWS, "net", common=False)["tree"]
    assert table.mean_at(scores, mark) == {0.1: 1.0, 10.0: 6.0}[mark]
