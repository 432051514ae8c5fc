"""The page on exactness quotes the results file."""

from __future__ import annotations

import csv

from tests.conftest import ROOT


def test_the_figures_of_the_page_are_those_of_the_results_file() -> None:
    page = (ROOT / "docs" / "exactness.md").read_text("utf-8")
    with (ROOT / "results" / "exact.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 22
    for row in rows:
        line = (
            f"| {row['network']} | {row['proved']} of {row['queries']} | {row['within_100_ms']} "
            f"| {row['ms']} | {row['yardstick_ms']} | {row['plan_and_eliminate_ms']} | {row['toulbar2_ms']} "
            f"| {row['per_second_on_two_threads']} |"
        )
        assert line in page


def test_the_gaps_of_the_page_are_those_of_the_results_file() -> None:
    page = (ROOT / "docs" / "exactness.md").read_text("utf-8")
    with (ROOT / "results" / "bounds.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 4
    for row in rows:
        assert row["seconds"] == "10"
        assert (
            f"| {row['network']} | {row['proved']} of {row['queries']} | {row['median_seconds_to_proof']} "
            f"| {row['mean_gap_percent']} | {row['largest_gap_percent']} |"
        ) in page
