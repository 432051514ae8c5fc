from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beacon.formats import read_model
from beacon.learn.trajectories import Trajectories
from beacon.query.query_set import QuerySet
from tests.cli.helpers import run


@pytest.fixture
def queries(sprinkler: Path, tmp_path: Path) -> Path:
    """Ten queries on the sprinkler, in a folder of their own."""
    (tmp_path / "run").mkdir()
    target = tmp_path / "run" / "queries.parquet"
    assert run("queries", sprinkler, "-o", target, "--count", 10).code == 0
    return target


def test_trajectories_land_beside_the_queries(sprinkler: Path, queries: Path) -> None:
    outcome = run("collect", sprinkler, queries, "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
    target = queries.parent / "trajectories.parquet"
    assert outcome.out.startswith(f"wrote {target}: 10 references (")
    assert "and 6,660 walks of 3 steps in " in outcome.out
    model = read_model(sprinkler)
    assert len(Trajectories.load(target, model, QuerySet.load(queries))) == 10
    assert not Path(f"{target}.parts").exists()


def test_a_name_of_another_format_is_refused(sprinkler: Path, queries: Path, tmp_path: Path) -> None:
    outcome = run("collect", sprinkler, queries, "-o", tmp_path / "t.csv")
    assert (outcome.code, "t.csv: expected a name that ends in .parquet" in outcome.error) == (2, True)


def test_json_is_one_object(sprinkler: Path, queries: Path, tmp_path: Path) -> None:
    options = ["--teacher", "gls+", "--teacher-steps", 50, "--teacher-runs", 2, "--jobs", 1]
    options += ["--steps", 30, "--restart-interval", 10, "--json", "-q", "-o", tmp_path / "t.parquet"]
    found = run("collect", sprinkler, queries, *options).json
    assert (found["queries"], found["runs"], found["steps_per_run"]) == (10, 3, 10)
    assert found["impossible_references"] == 0
    assert sum(found["sources"].values()) == 10
    assert all(source.startswith("gls+") for source in found["sources"])
    assert Trajectories.load(found["out"]).flip_values.shape == (10, 3, 10)


def test_the_seed_decides_and_jobs_do_not(sprinkler: Path, queries: Path, tmp_path: Path) -> None:
    made = {}
    for name, options in {"a": ["--jobs", 1], "b": ["--jobs", 2], "c": ["--seed", 1]}.items():
        run("collect", sprinkler, queries, "-o", tmp_path / name, "--teacher-steps", 50, *options)
        made[name] = Trajectories.load(tmp_path / name)
    assert np.array_equal(made["a"].starts, made["b"].starts)
    assert not np.array_equal(made["a"].starts, made["c"].starts)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--teacher", "cplex"], 2, "teacher methods are gls+, auto, toulbar2; found 'cplex'"),
        (["--teacher-steps", "0"], 2, "teacher steps must be a whole number of at least 1; found 0"),
        (["--teacher-time", "0"], 2, "teacher seconds must be a positive number; found 0.0"),
        (["--steps", "50", "--restart-interval", "40"], 2, "--restart-interval must divide steps"),
        (["--jobs", "0"], 2, "--threads must be at least 1; found 0"),
        (["-o", "missing/t.parquet"], 1, "there is no directory missing"),
    ],
)
def test_wrong_requests_are_one_line(
    *, options: list[str], code: int, message: str, sprinkler: Path, queries: Path
) -> None:
    outcome = run("collect", sprinkler, queries, *options)
    assert outcome.code == code
    assert message in outcome.error


def test_queries_of_another_model_are_refused(equal_pair: Path, queries: Path) -> None:
    outcome = run("collect", equal_pair, queries)
    assert outcome.code == 1
    assert "these queries are for another model" in outcome.error


def test_something_else_than_queries_is_refused(sprinkler: Path) -> None:
    outcome = run("collect", sprinkler, sprinkler)
    assert outcome.code == 1
    assert "expected a Parquet file with queries" in outcome.error
