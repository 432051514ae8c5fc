"""The study of strategies quotes the results file of two weights."""

from __future__ import annotations

import csv

import pytest

from tests.conftest import ROOT

with (ROOT / "results" / "arms.csv").open(encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))
PAGE = (ROOT / "research" / "strategies.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['network']}-{row['method']}")
def test_the_table_of_two_weights_is_that_of_the_file(row: dict[str, str]) -> None:
    cells = [f"{row[f's_{mark}']} ({row[f'best_{mark}']})" for mark in ("0.1", "1")]
    assert f"| {row['network']} ({row['queries']}) | {row['method']} | {' | '.join(cells)} |" in PAGE
