"""Searches made again on the reproduction's queries are refused where those are other queries."""

from __future__ import annotations

from pathlib import Path

import agreement
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reproduce_results import Result, scores_by
from reproduce_stages import BUDGETS, Job
from reproduce_tables import controls_table
from rerun import check_same

import beacon

JOB = Job("BN_30", "own", 0)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Stored scores of one query: minus the number of steps."""
    rows = {"method": "gls+", "query": 0}
    table = [{**rows, "steps": budget, "score": -float(budget)} for budget in BUDGETS]
    pq.write_table(pa.Table.from_pylist(table), tmp_path / f"{JOB.name}.parquet")
    return tmp_path


def test_the_same_scores_pass(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_same(JOB, -np.array([BUDGETS], dtype=float), results)
    assert "differs from the stored scores on 0 of 1" in capsys.readouterr().out


def test_other_scores_end_the_program(results: Path) -> None:
    ours = -np.array([BUDGETS], dtype=float)
    ours[0, -1] += 0.01
    with pytest.raises(SystemExit, match="not the queries of"):
        check_same(JOB, ours, results)


def test_controls_are_compared_with_the_baseline_by_the_ratio_of_means(tmp_path: Path) -> None:
    steps = (500, 1000, 2000, 4000)
    row = {"network": "BN_30", "method": "greedy", "control": "random"}
    table = [
        {**row, "query": query, "steps": budget, "score": score}
        for budget in steps
        for query, score in enumerate([-5.0, -10.0] * 50)
    ]
    path = tmp_path / "controls.parquet"
    pq.write_table(pa.Table.from_pylist(table), path)
    assert scores_by(path, "control")[("random",)][:2, 0].tolist() == [-5, -10]
    scores = {"greedy": np.full((100, 4), -10.0), "beacon-greedy": np.full((100, 4), -8.0)}
    found = Result({"network": "BN_30", "queries": "own"}, scores, {})
    cells = controls_table([found], path, "greedy").splitlines()[-1].strip("| ").split(" | ")
    assert cells == ["BN-30", " / ".join(["+25.0"] * 4), " / ".join(["+20.0"] * 4)]


def test_agreement_is_the_share_of_equal_values() -> None:
    model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    queries = beacon.sample_queries(model, 40, 0)
    train, test = queries.split("train").samples, queries.split("test").samples
    mean, nearest = agreement.agreements(queries)
    shares = [[float(np.mean(one == other)) for other in train] for one in test]
    assert mean == pytest.approx(np.mean(shares))
    assert nearest == pytest.approx(np.mean(np.max(shares, axis=1)))
    assert mean < nearest
