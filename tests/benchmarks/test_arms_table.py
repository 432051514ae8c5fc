"""The table of arms: what is measured first, and what its rows say."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from threading import Lock

import arms_table
from arms_table import MARKS, PLANS, Job, append, blocks_left, marks_of, read_rows

QUERIES = {"small": {"0": {}, "1": {}}, "other": {str(k): {} for k in range(8)}}


def row(query: str, method: str, mark: float, score: float, network: str = "small") -> dict[str, str]:
    given = {"network": network, "query": query, "method": method, "limit": str(mark), "mark": str(mark)}
    return {**given, "score": str(score)}


def all_jobs(rows: list[dict[str, str]], plan: str) -> list[Job]:
    methods = ["auto", "auto, old", "tree"]
    return [job for block in blocks_left(QUERIES, methods, rows, plan) for job in block]


def test_every_search_of_a_plan_is_made_once_in_its_order() -> None:
    of_plan = {plan: all_jobs([], plan) for plan in PLANS}
    assert all(len(jobs) == len(set(jobs)) > 0 for jobs in of_plan.values())
    assert len(of_plan["mixes"]) == 10 * 2 * (len(MARKS) - 1)
    assert {job.method for job in of_plan["long"][:6]} == {"auto", "auto, old", "tree"}
    assert {job.method for job in of_plan["fresh"][:10]} == {"auto"}


def test_a_second_run_goes_on_where_the_first_one_stopped() -> None:
    jobs, done = all_jobs([], "mixes"), row("1", "auto", 0.1, -3.0)
    left = all_jobs([done], "mixes")
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
