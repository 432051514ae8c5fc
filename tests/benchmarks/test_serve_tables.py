"""The study of the server under load shows every run of its results file."""

from __future__ import annotations

from serve_tables import PAGE, page, read

from tests.conftest import ROOT

RESULTS = ROOT / "results"


def test_the_tables_are_those_of_the_file() -> None:
    assert page(RESULTS) == PAGE.read_text(encoding="utf-8"), "run benchmarks/serve_tables.py"


def test_both_models_were_asked_by_many_connections() -> None:
    rows = [row for run in read(RESULTS) for row in run.get("throughput", [])]
    assert {row["model"] for row in rows if row["connections"] == 32} == {"BN_30", "clinic"}
    assert sum(row["failed"] for row in rows) == 0
