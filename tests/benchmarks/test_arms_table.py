"""The table of arms: what is measured first, and what its rows say."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from threading import Lock

import arms_table
from arms_table import MARKS, STAGES, Job, append, blocks_left, marks_of, read_rows, table

QUERIES = {"small": {"0": {}, "1": {}}, "other": {str(k): {} for k in range(8)}}


def row(query: str, method: str, mark: float, score: float, network: str = "small") -> dict[str, str]:
    given = {"network": network, "query": query, "method": method, "limit": str(mark), "mark": str(mark)}
    return {**given, "score": str(score)}


def all_jobs(rows: list[dict[str, str]]) -> list[Job]:
    return [job for block in blocks_left(QUERIES, ["auto", "auto, old", "tree"], rows) for job in block]


def test_every_search_is_made_once_and_the_mixes_come_first() -> None:
    jobs = all_jobs([])
    assert len(jobs) == len(set(jobs)) == 10 * (2 * len(MARKS) + 2)
    num_first = 10 * 2 * len(STAGES[0][1])
    assert {job.method for job in jobs[:num_first]} == {"auto", "auto, old"}
    assert max(job.limit for job in jobs[:num_first]) == 1.0


def test_a_second_run_goes_on_where_the_first_one_stopped() -> None:
    jobs, done = all_jobs([]), row("1", "auto", 0.1, -3.0)
    left = all_jobs([done])
    assert set(jobs) - set(left) == {Job("small", "1", "auto", 0.1)}


def test_a_block_is_about_one_network_and_one_method() -> None:
    for block in blocks_left(QUERIES, ["auto", "tree"], []):
        assert len({(job.network, job.method) for job in block}) == 1


def test_a_mix_is_run_for_each_limit_and_an_arm_once() -> None:
    assert marks_of(Job("small", "0", "auto", 10.0)) == (10.0,)
    assert marks_of(Job("small", "0", "tree", 1.0)) == (0.03, 0.1, 1.0)


def test_rows_are_appended_as_they_come(tmp_path: Path) -> None:
    arguments = Namespace(output=tmp_path / "a.csv", lock=Lock())
    arguments.output.write_text(",".join(arms_table.FIELDS) + "\n", encoding="utf-8")
    for score in (1.5, 2.5):
        append(arguments, [{"network": "small", "query": "0", "method": "tree", "score": score}])
    assert [found["score"] for found in read_rows(arguments.output)] == ["1.5", "2.5"]


def test_the_table_says_how_far_the_mix_is_ahead_of_what_it_was() -> None:
    rows = [row("0", "auto", 0.1, -99.0), row("1", "auto", 0.1, -99.0)]
    rows += [row("0", "auto, old", 0.1, -100.0), row("1", "auto, old", 0.1, -99.0)]
    lines = table(rows).splitlines()
    assert "| small | auto | 2 |  | -99.000 |  |  |" in lines
    assert lines[-1] == "| small | ahead, % | |  | +0.5000 ± 0.5000 |  |  |"
