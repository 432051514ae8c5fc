"""The curve in the terminal: score from below, bound from above, the answer in the middle."""

from __future__ import annotations

import math

import pytest

import beacon
from beacon.cli.demo_story import BAND, BOUND, SCORE, WIDTH, Curve, Point, drawn
from beacon.model.families import ising_grid


def row_of(lines: list[str], label: str) -> str:
    (line,) = [line for line in lines if line.startswith(f"{label:>9} ")]
    return line[10:]


def test_scores_and_bounds_are_drawn_at_their_distance_from_the_answer() -> None:
    points = [Point(0.01, 90.0, math.inf), Point(0.1, 99.0, 110.0), Point(1.0, 100.0, 100.0)]
    lines = drawn(points).splitlines()
    half = WIDTH // 2
    assert row_of(lines, "-10")[: half - 1] == SCORE * (half - 1)
    assert row_of(lines, "-1")[half:-1] == SCORE * (half - 1)
    assert row_of(lines, "+10")[half:-1] == BOUND * (half - 1)
    assert row_of(lines, "+0.1")[half:-1] == BAND * (half - 1)
    assert row_of(lines, "answer")[-1] == SCORE
    assert lines[-1].split() == ["10", "ms", "1.00", "s"]


def test_a_search_is_drawn_when_it_ends(capsys: pytest.CaptureFixture[str]) -> None:
    with Curve() as curve:
        result = beacon.solve(ising_grid(30, 30), stop=beacon.MaxSteps(5_000), on_improvement=curve.hear)
        curve.end(result)
    assert len(curve.points) > 1
    assert curve.points[-1].score == result.floored_log_score
    assert capsys.readouterr().out.strip() == drawn(curve.points).strip()
