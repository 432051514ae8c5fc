"""The study of messages at the beginning of the mix agrees with its results file."""

from __future__ import annotations

import numpy as np
import pytest
from first_messages import BASE, FIELDS, NEW, PAGE, compared, page, table


def row(query: int, limit: str, method: str, score: float) -> dict[str, str]:
    cells = ["final", "small", str(query), limit, method, str(score)]
    return dict(zip(FIELDS, cells, strict=True))


ROWS = [
    *(row(0, "0.1", method, score) for method, score in ((BASE, -102.0), (NEW, -101.0))),
    *(row(1, "0.1", method, score) for method, score in ((BASE, -50.0), (NEW, -50.0))),
    *(row(2, "0.1", method, score) for method, score in ((BASE, 10.0), (NEW, float("-inf")))),
    *(row(0, "1", method, score) for method, score in ((BASE, -100.0), (NEW, -100.0))),
]


def test_the_tables_are_those_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/first_messages.py table"


def test_gaps_are_to_the_best_score_of_a_query_and_at_most_100_percent() -> None:
    wins, gaps = compared(ROWS, "small", "0.1")
    assert wins.tolist() == [100, 50, 0]
    np.testing.assert_allclose(gaps, [[2, 0, 0], [1, 0, 100]])


def test_a_query_without_both_methods_is_left_out() -> None:
    wins, _ = compared([*ROWS, row(1, "1", NEW, -50.0)], "small", "1")
    assert wins.tolist() == [50]


@pytest.mark.parametrize("study", ["final", "trial"])
def test_a_cell_has_wins_then_both_gaps(study: str) -> None:
    lines = table(ROWS, study).splitlines()
    cells = "| small | 3 | 50 ± 29, 33.7 (0.667) | 50 ± 0, 0 (0) |"
    assert (cells in lines) == (study == "final")
