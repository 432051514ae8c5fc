"""The study of large models agrees with its results file, and the file covers what it says."""

from __future__ import annotations

from large import COLUMNS, PAGE, PLOT, RESULTS, SIDES, page
from pages import rows_of


def test_the_tables_are_those_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/large.py --page"
    assert PLOT.exists()


def test_the_sizes_are_those_of_the_script_and_every_figure_is_there() -> None:
    sides = [int(row["side"]) for row in rows_of(RESULTS)]
    assert len(sides) >= 4
    assert sides == list(SIDES[: len(sides)])
    assert all(row[name] for row in rows_of(RESULTS) for name in COLUMNS)


def test_the_conclusion_has_the_figures_of_the_largest_grid() -> None:
    *_, largest = rows_of(RESULTS)
    _, after = PAGE.read_text(encoding="utf-8").split("**Conclusion.**")
    said = " ".join(after.split("\n\n")[0].split())
    memory = float(largest["read_mb"]) / float(largest["tables_mb"])
    for figure in (
        f"is read in {largest['read_s']} s",
        f"takes {memory:.1f} times the memory of its tables",
        f"`solve --time 3` takes {largest['solve_s']} s",
        f"`info` takes {float(largest['info_s']):.0f} s",
    ):
        assert figure in said


def test_reading_a_large_grid_takes_three_times_its_tables_at_most() -> None:
    *_, largest = rows_of(RESULTS)
    assert float(largest["read_mb"]) <= 3 * float(largest["tables_mb"])
