from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beacon.formats import read_model
from beacon.query.query_set import QuerySet
from tests.cli.helpers import run


def test_queries_are_saved_and_summed_up(sprinkler: Path, tmp_path: Path) -> None:
    target = tmp_path / "q.parquet"
    outcome = run("queries", sprinkler, "-o", target, "--count", 20, "--seed", 5)
    assert outcome.code == 0
    assert outcome.out.startswith(f"wrote {target}: 20 queries (16 train, 2 validation, 2 test); on average ")
    queries = QuerySet.load(target, read_model(sprinkler))
    assert (len(queries), queries.seed) == (20, 5)


def test_the_share_of_the_query_can_be_chosen(sprinkler: Path, tmp_path: Path) -> None:
    outcome = run("queries", sprinkler, "-o", tmp_path / "q", "--count", 8, "--query-ratio", 0.33, 0.34)
    assert outcome.code == 0
    assert outcome.out.endswith("on average 2.0 of 3 observed\n")


def test_samples_of_a_network_with_zeros_are_possible(tmp_path: Path) -> None:
    model, target = tmp_path / "family.uai", tmp_path / "q.parquet"
    small = ["--set", "num_founders=4", "--set", "num_children=6", "--set", "num_loci=2"]
    assert run("generate", "pedigree", "-o", model, *small).code == 0
    assert run("queries", model, "-o", target, "--count", 10).code == 0
    scores = read_model(model).log_scores(QuerySet.load(target).samples.astype(np.int64))
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-o", "nowhere/q"], 1, "there is no directory"),
        (["-o", "q", "--count", "0"], 2, "--count must be at least 1; found 0"),
        (["-o", "q", "--query-ratio", "0.9", "0.1"], 2, "query_ratio must be two shares"),
        (["-o", "q.csv"], 2, "cannot write q.csv: expected a name that ends in .parquet"),
        (["-o", "q.parquet.gz"], 2, "cannot write q.parquet.gz: expected a name that ends in .parquet"),
        ([], 2, "Missing option '-o'"),
    ],
)
def test_wrong_requests_are_one_line(
    *,
    options: list[str],
    code: int,
    message: str,
    sprinkler: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("queries", sprinkler, *options)
    assert outcome.code == code
    assert message in outcome.error


def test_json_counts_the_queries(sprinkler: Path, tmp_path: Path) -> None:
    facts = run("queries", sprinkler, "-o", tmp_path / "q", "--count", 20, "--json", "-q").json
    assert {name: facts[name] for name in ("queries", "train", "validation", "test", "variables")} == {
        "queries": 20,
        "train": 16,
        "validation": 2,
        "test": 2,
        "variables": 3,
    }
    assert 0 <= facts["mean_observed"] <= 3
