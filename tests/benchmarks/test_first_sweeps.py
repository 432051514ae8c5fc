"""The pages on first sweeps and on the first descent quote their results files."""

from __future__ import annotations

import csv

from tests.conftest import ROOT


def test_the_table_is_that_of_the_file() -> None:
    page = (ROOT / "research" / "removed.md").read_text(encoding="utf-8")
    with (ROOT / "results" / "first_sweeps.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    assert len(rows) == 6
    assert all(f"| {' | '.join(row)} |" in page for row in rows)


def test_the_table_of_the_descent_is_that_of_the_file() -> None:
    page = (ROOT / "research" / "arms.md").read_text(encoding="utf-8")
    with (ROOT / "results" / "tree_descent.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    assert len(rows) == 13
    assert all(f"| {' | '.join(row)} |" in page for row in rows)
