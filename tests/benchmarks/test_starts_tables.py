"""The study of learning agrees with its results file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import starts_tables
from pages import rows_of
from starts_tables import BASES, MARKS, PAGE, RESULTS, Study, keep, page


def test_the_tables_are_those_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/starts_tables.py"


def test_every_query_of_a_study_was_asked_of_the_yardstick() -> None:
    rows = rows_of(RESULTS)
    for name in {row["study"] for row in rows}:
        study = Study(rows, name)
        for network in study.networks:
            base = set(study.of(network, study.base_name))
            assert all(set(study.of(network, method)) <= base for method in study.methods)


def row(method: str, scores: dict[str, float | None], way: list[float | None]) -> str:
    return json.dumps({"network": "a", "query": 0, "method": method, "scores": scores, "way": way})


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A search of 0.01 s, one of 1 s, and what the latter knew on its way."""
    way = [None, *[-20.0] * 20, *[-10.005] * 5, *[-10.0] * 10]
    ours = row("ours", {"0.01": -11.0, "1": -10.0}, way)
    base = row(BASES[0], {"0.01": None, "1": -10.0}, [None] * 20 + [-30.0] * 16)
    (tmp_path / "rows").write_text(f"{ours}\n{base}\n")
    monkeypatch.setattr(starts_tables, "RESULTS", tmp_path / "starts.csv")
    keep({"study": tmp_path / "rows"})
    return Study(rows_of(tmp_path / "starts.csv"), "study")


def test_who_knows_something_is_ahead_of_who_knows_nothing_and_equal_scores_tie(study: Study) -> None:
    assert study.wins("a", "ours", "0.01").tolist() == [100]
    assert study.wins("a", "ours", "1").tolist() == [50]
    assert not len(study.wins("a", "ours", "3")), "beyond the last limit nothing was measured"
    assert not len(study.wins("a", "ours", "0.003")), "nor before the first"


def test_between_limits_the_way_to_the_last_one_counts(study: Study) -> None:
    ours, base = study.of("a", "ours").values(), study.base("a", "ours").values()
    assert study.gap(ours, "0.01") == pytest.approx(10)
    assert study.gap(ours, "0.3") == pytest.approx(0.05)
    assert study.gap(base, "0.01") == 100, "of who knows nothing"
    assert study.gap(base, "0.3") == 100, "a gap counts no more than that"


def test_the_time_to_come_close_is_that_of_the_first_close_score(study: Study) -> None:
    assert study.seconds(study.of("a", "ours").values()) == pytest.approx(0.126, abs=0.001)
    assert study.seconds(study.of("a", study.base_name).values()) == 1, (
        "by the end of a search with this limit"
    )
    assert "1" in MARKS


def test_other_studies_stay_as_they_are(study: Study, tmp_path: Path) -> None:
    before = rows_of(tmp_path / "starts.csv")
    (tmp_path / "more").write_text(
        row(BASES[0], {"0.1": -1.0}, []) + "\n" + row("ours", {"0.1": -2.0}, []) + "\n"
    )
    keep({"more": tmp_path / "more"})
    after = rows_of(tmp_path / "starts.csv")
    assert after[: len(before)] == before
    more = Study(after, "more")
    assert more.wins("a", "ours", "0.1").tolist() == [0]
    assert more.seconds(more.of("a", "ours").values()) == np.inf
