"""The study of the server under load agrees with its results file, and says no more than that."""

from __future__ import annotations

from serve_load import PARTS
from serve_tables import PAGE, page, read

from tests.conftest import ROOT

RESULTS = ROOT / "results"


def test_the_tables_are_those_of_the_file() -> None:
    assert page(RESULTS) == PAGE.read_text(encoding="utf-8"), "run benchmarks/serve_tables.py"


def test_what_the_page_claims_is_what_was_measured() -> None:
    found = read(RESULTS)
    assert {*PARTS, "soak"} <= found.keys()
    assert found["connections"] == 32
    assert {row["model"] for row in found["throughput"]} == {"BN_30", "clinic"}
    assert all(row["failed"] == 0 for row in (*found["throughput"], found["overload"], found["soak"]))
    assert found["overload"]["later_than_1100_ms"] == 0
    assert found["overload"]["refused"] > found["overload"]["answers"]
    assert found["kill"]["workers_killed"] > 10
    assert found["kill"]["failed"] == found["kill"]["refused"] == 0
