"""The study of exactness agrees with its results files, and they cover what it says."""

from __future__ import annotations

from common import BIF_MODELS, GRIDS, PROVABLE_MODELS
from exact_tables import PAGE, page
from pages import rows_of

from tests.conftest import ROOT

RESULTS = ROOT / "results"


def test_the_tables_are_those_of_the_files() -> None:
    assert page(RESULTS) == PAGE.read_text(encoding="utf-8"), "run benchmarks/exact_tables.py"


def test_every_network_was_measured() -> None:
    networks = {row["network"] for row in rows_of(RESULTS / "exact.csv")}
    assert networks == {*PROVABLE_MODELS, *BIF_MODELS}
    bounds = rows_of(RESULTS / "bounds.csv")
    assert set(GRIDS) <= {row["network"] for row in bounds}
    assert {row["seconds"] for row in bounds} == {"10"}
