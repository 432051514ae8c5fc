"""Gaps to Greedy by the clock are the paper's formula."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import clock_tables
import pytest
from clock_tables import FIELDS, clock_table, keep
from pages import rows_of

ROWS = """network,query,method,limit,mark,score,bound,proof,steps,seconds
wcsp_14,0,greedy,10.0,10.0,-20,,,,
wcsp_14,0,gls+,10.0,1.0,-19,,,,
wcsp_14,0,gls+,10.0,10.0,-10,,,,
wcsp_14,0,auto,10.0,10.0,-5,,bound,,
wcsp_14,0,toulbar2,10.0,10.0,,,,,
wcsp_14,0,toulbar2 vns,10.0,10.0,-30,,,,
wcsp_14,0,daoopt,10.0,10.0,-5,,daoopt,,
wcsp_14,1,greedy,10.0,10.0,-7,,,,
"""
RACE = """network,query,method,limit,mark,score,steps
wcsp_14,0,BEACON-GLS+,10.0,10.0,-15,4000
"""


def test_gaps_are_to_greedy_on_queries_that_all_were_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock_tables, "RESULTS", tmp_path / "clock.csv")
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "race.csv").write_text(RACE)
    keep(tmp_path / "rows.csv", tmp_path / "race.csv")
    rows = rows_of(tmp_path / "clock.csv")
    assert tuple(rows[0]) == FIELDS
    assert {row["query"] for row in rows} == {"0"}
    gaps = {"gls+": [3.0, 1.0], "beacon-gls+": [4.0, 1.0], "daoopt": "no solution"}
    published = {"gap_to_greedy_60s": gaps}
    suite = {"wcsp_14": SimpleNamespace(short_name="DL-5", published=published)}
    cells = clock_table(rows, suite).splitlines()[-1].strip("| ").split(" | ")
    assert cells[:2] == ["DL-5", "1"]
    assert cells[3:] == [
        "+50.00 / +3.00",
        "+25.00 / +4.00",
        "+75.00 (1)",
        "none on 1",
        "-50.00",
        "+75.00 (1) / none",
    ]
