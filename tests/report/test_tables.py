from __future__ import annotations

import csv
import io
import math

import pytest
from rich.console import Console

from beacon.report.tables import (
    Cell,
    Table,
    as_csv,
    as_latex,
    as_markdown,
    as_rich,
    duration,
    label,
    mark_best,
    number,
    written,
)

TABLE = Table(
    "speed",
    "Speed & more, %",
    ("net|work", "a_b", "α"),
    (
        (label("BN|30"), Cell("1.50", 1.5, is_best=True, detail="[1, 2]"), number(-2.0)),
        (label("50 % of {x}"), number(math.nan), number(-math.inf)),
    ),
    "A note.",
)


def test_numbers_are_written_for_readers() -> None:
    assert written(1234.567) == "1,234.57"
    assert written(-0.5, 1) == "−0.5"
    assert written(-0.0001) == "0.00"
    assert [written(x) for x in (math.nan, math.inf, -math.inf)] == ["–", "∞", "−∞"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (4.5e-6, "4.5 µs"), (3e-8, "0.03 µs"), (math.inf, "∞")],
)
def test_times_have_a_unit_that_suits_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_markdown_has_a_title_alignment_emphasis_and_a_note() -> None:
    assert as_markdown(TABLE).splitlines() == [
        "### Speed & more, %",
        "",
        r"| net\|work | a_b | α |",
        "| --- | ---: | ---: |",
        r"| BN\|30 | **1.50** [1, 2] | −2.00 |",
        "| 50 % of {x} | – | −∞ |",
        "",
        "A note.",
    ]


def test_csv_holds_full_numbers() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(TABLE))))
    assert rows == [["net|work", "a_b", "α"], ["BN|30", "1.5", "-2.0"], ["50 % of {x}", "nan", "-inf"]]


def test_latex_escapes_what_latex_would_read() -> None:
    text = as_latex(TABLE)
    assert r"\caption{Speed \& more, \%}" in text
    assert r"BN|30 & \textbf{1.50} {\small [1, 2]} & $-$2.00 \\" in text
    assert r"50 \% of \{x\} & -- & $-$$\infty$ \\" in text
    assert r"\begin{tabular}{lrr}" in text
    assert text.isascii()


def test_the_terminal_shows_every_cell() -> None:
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(as_rich(TABLE))
    shown = console.export_text()
    assert all(cell.full_text in shown for row in TABLE.rows for cell in row)
    assert "A note." in shown


def test_the_best_and_what_reads_the_same_is_marked() -> None:
    marked = mark_best(
        [number(1.0), number(3.001), number(3.0), number(math.nan), number(-math.inf)], largest=True
    )
    assert [cell.is_best for cell in marked] == [False, True, True, False, False]
    marked = mark_best([number(1.0), number(3.0)])
    assert [cell.is_best for cell in marked] == [True, False]
    assert not mark_best([number(1.0)])[0].is_best  # nothing to be better than


def test_a_row_with_a_cell_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="speed: expected 3 cells, found 1"):
        Table("speed", "", TABLE.columns, ((label("x"),),))
