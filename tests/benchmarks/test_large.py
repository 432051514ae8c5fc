"""The study of large models agrees with its results file, and the file covers what it says."""

from __future__ import annotations

from large import COLUMNS, PAGE, PLOT, SIDES, page, rows


def test_the_tables_are_those_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/large.py --page"
    assert PLOT.exists()


def test_the_sizes_are_those_of_the_script_and_every_figure_is_there() -> None:
    sides = [int(row["side"]) for row in rows()]
    assert len(sides) >= 4
    assert sides == list(SIDES[: len(sides)])
    assert all(row[name] for row in rows() for name in COLUMNS)
