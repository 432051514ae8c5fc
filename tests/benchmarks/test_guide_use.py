"""The tables of the study on the use of guides are those of results/scores.csv."""

from __future__ import annotations

import csv
import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "research" / "guide-use.md").read_text(encoding="utf-8")
NAMES = {
    "every step": "beacon-gls+",
    "every 50 steps": "refresh 50",
    "once": "refresh 0",
    "tuned default": "tuned",
}
Means = dict[tuple[str, str, str, float], float]


def stored_means() -> Means:
    """(network, method, unit of the budget, budget) → mean best score."""
    with (ROOT / "results" / "scores.csv").open(encoding="utf-8") as file:
        return {
            (row["network"], row["method"], row["budget_in"], float(row["budget"])): float(row["mean"])
            for row in csv.DictReader(file)
        }


def shown_means(unit: str, heading: str, scale: float) -> Means:
    """The same of the table below a heading; budgets in its header are multiplied by the scale."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("|")]
    header, rows = lines[0], lines[2:]
    budgets = [scale * float(re.sub(r"[^\d.]", "", cell)) for cell in header[2:]]
    found: Means = {}
    network = ""
    for row in rows:
        own, method, *cells = (cell.strip() for cell in row)
        network = own.strip("*") or network
        for budget, cell in zip(budgets, cells, strict=True):
            if cell:
                found[network, NAMES.get(method, method), unit, budget] = float(cell.split()[0])
    return found


@pytest.mark.parametrize(
    ("unit", "heading", "scale", "count"),
    [("step", "By steps", 1, 7 * 7 * 6), ("second", "By time", 1e-3, 280)],
)
def test_the_means_are_those_of_the_file(unit: str, heading: str, scale: float, count: int) -> None:
    stored, shown = stored_means(), shown_means(unit, heading, scale)
    assert len(shown) == count
    wrong = {key: mean for key, mean in shown.items() if abs(stored.get(key, 1e9) - mean) > 0.051}
    assert wrong == {}
