"""The tables of the reproduction agree with results/, and say what the files say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from pages import MARKS, rows_of, updated
from reproduce_results import Result
from reproduce_stages import BUDGETS, Job
from reproduce_tables import PAGES, improvement_table, tables

from tests.conftest import ROOT

RESULTS = ROOT / "results"
JOBS = sorted((RESULTS / "guided").glob("*.json"))


@pytest.mark.parametrize("page", PAGES)
def test_the_tables_of_a_page_are_those_of_the_files(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert MARKS.search(text)
    assert updated(text, tables(RESULTS)) == text, "run benchmarks/reproduce_tables.py"


def test_every_table_is_shown_somewhere() -> None:
    text = "".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    assert {mark[2] for mark in MARKS.finditer(text)} == set(tables(RESULTS))


def test_the_speed_that_is_told_is_that_of_the_files() -> None:
    times = [
        json.loads(path.read_text())["test"] for path in JOBS if path.stem.endswith(".0")
    ]  # in the table
    alone = [float(row["microseconds"]) for row in rows_of(RESULTS / "unguided_steps.csv")]
    guided = [time["seconds_per_step"] * 1e6 for time in times]
    text = " ".join((ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8").split())
    assert f"Ours take {min(alone):.1f} to {max(alone):.1f} µs unguided" in text
    assert f"on a GPU, take {min(guided):.0f} to {max(guided):.0f} µs each" in text


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_a_job_is_complete_and_says_how_it_was_made(path: Path) -> None:
    run = json.loads(path.read_text())
    assert Job(run["network"], run["queries"], run["seed"]).name == path.stem
    for name in ("commit", "command", "machine", "log_zero", "prepare", "train", "tune", "test"):
        assert run[name], name
    assert " /" not in run["command"], "a folder of one machine"
    table = pq.read_table(path.with_suffix(".parquet")).to_pydict()
    methods = {"greedy", "gls+", "beacon-greedy", "beacon-gls+"}
    assert set(table["method"]) == methods
    rows = list(zip(table["method"], table["query"], table["steps"], strict=True))
    assert len(set(rows)) == len(rows) == len(methods) * 100 * len(BUDGETS)
    assert np.isfinite(table["score"]).all()


def test_improvements_and_wins_are_against_the_methods_own_baseline() -> None:
    base = np.array([[-10.0] * 4, [-20.0] * 4])
    ours = np.array([[-5.0, -10.0, -11.0, -10.0], [-20.0, -10.0, -22.0, -20.0]])
    scores = {"greedy": base, "beacon-greedy": ours}
    result = Result({"network": "BN_30", "queries": "own"}, scores, {})
    row = improvement_table([result], "greedy").splitlines()[-1].split(" | ")
    assert row[0] == "| BN-30"
    means = [(cell.split()[0], cell[cell.index("(") : cell.index(")") + 1]) for cell in row[2:]]
    assert means == [("+25.0", "(75)"), ("+25.0", "(75)"), ("-10.0", "(0)"), ("+0.0", "(50)")]
