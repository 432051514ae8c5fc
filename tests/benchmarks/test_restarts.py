"""The study of restarts agrees with its results file."""

from __future__ import annotations

import numpy as np
import pytest
from restarts import FIELDS, PAGE, best_scores, gap, page, scores_table, times_table


def row(method: str, query: str, seconds: float, score: float, way: float | None = None) -> dict[str, str]:
    """A search of a second, with its score half way if it was not to end early."""
    cells = ["small", query, "0", method, "1", str(seconds), str(score), *[""] * 4]
    found = dict(zip(FIELDS, cells, strict=True))
    return found if way is None else found | dict.fromkeys(("0.03", "0.1", "0.3", "1.0"), str(way))


def test_the_tables_are_those_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/restarts.py table"


def test_gaps_are_to_the_best_score_of_a_query_in_percent() -> None:
    rows = [row("tree", "0", 0.1, -100.0), row("gls+", "0", 1.0, -101.0), row("gls+", "1", 1.0, 50.0)]
    best = best_scores(rows)
    assert best == {("small", "0"): -100.0, ("small", "1"): 50.0}
    np.testing.assert_allclose([gap(each, best) for each in rows], [0, 1, 0])


def test_a_time_counts_the_searches_that_have_the_best_score() -> None:
    rows = [row("tree", "0", 0.1, -100.0), row("tree", "1", 0.3, -200.0), row("gls+", "0", 1.0, -101.0)]
    rows += [row("gls+", "1", 0.2, -200.0), row("first look", "1", 0.9, -200.0)]
    lines = times_table(rows).splitlines()
    assert "| tree | 0.200 ± 0.100 (2 of 2) |" in lines
    assert "| gls+ | 0.600 ± 0.400 (1 of 2) |" in lines


def test_scores_on_the_way_are_of_searches_to_the_end() -> None:
    rows = [
        row("tree", "0", 1.0, 100.0, 98.0),
        row("tree", "1", 1.0, 99.0, 99.0),
        row("gls+", "1", 1.0, 100.0),
    ]
    (line,) = scores_table(rows, 1.0).splitlines()[2:]
    assert line == "| small | tree |" + " 1.5000 ± 0.5000 |" * 4 + " 1 of 2 |"


@pytest.mark.parametrize("until", [0.03, 1.0])
def test_marks_after_the_end_are_left_out(until: float) -> None:
    header = scores_table([], until).splitlines()[0]
    assert ("| 1 s |" in header) == (until == 1.0)
