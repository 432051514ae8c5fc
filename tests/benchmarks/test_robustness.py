"""The page on robustness quotes the files of its measurements."""

from __future__ import annotations

import json

import pytest
import robustness_tables as tables


@pytest.mark.parametrize("heading", tables.TABLES)
def test_the_page_has_the_tables_of_the_files(heading: str) -> None:
    page = tables.PAGE.read_text(encoding="utf-8")
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0] + "\n"
    table = tables.TABLES[heading]()
    assert table.count("\n") > 2
    assert table in section


def test_making_the_page_anew_changes_nothing() -> None:
    page = tables.PAGE.read_text(encoding="utf-8")
    assert tables.with_tables(page) == page


def test_all_inputs_of_the_fuzz_run_are_accounted_for() -> None:
    report = json.loads((tables.RESULTS / "fuzz.json").read_text(encoding="utf-8"))
    assert report["inputs"] == report["read"] + report["refused"] + len(report["faults"])
