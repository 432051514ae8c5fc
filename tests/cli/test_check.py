from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.cli.helpers import run


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    """No rain, sprinkler on, wet grass."""
    path = tmp_path / "answer.MPE"
    path.write_text("MPE\n3 0 1 1\n")
    return path


def test_a_solution_that_keeps_the_evidence_gets_its_score(sprinkler: Path, answer: Path) -> None:
    outcome = run("check", sprinkler, "-", answer, "-e", "grass=wet", "--json")
    assert outcome.code == 0
    assert outcome.json == {
        "evidence_kept": True,
        "observed": 1,
        "violations": [],
        "log_score": pytest.approx(math.log(0.8 * 0.4 * 0.9)),
        "zero_factors": 0,
    }
    assert f"log score     {math.log(0.8 * 0.4 * 0.9):.6f}" in run("check", sprinkler, "-", answer).out


def test_broken_evidence_is_named_and_fails(sprinkler: Path, answer: Path, tmp_path: Path) -> None:
    evidence = tmp_path / "s.evid"
    evidence.write_text("2 0 1 2 1\n")
    outcome = run("check", sprinkler, evidence, answer)
    assert outcome.code == 1
    assert "2 observed, 1 not kept" in outcome.out
    assert "rain is no, observed as yes" in outcome.out
    (violation,) = run("check", sprinkler, evidence, answer, "--json").json["violations"]
    assert violation == {"variable": "rain", "observed": "yes", "found": "no"}


def test_a_long_list_of_broken_evidence_is_cut(tmp_path: Path) -> None:
    model, solution, evidence = (tmp_path / name for name in ("g.uai", "g.MPE", "g.evid"))
    assert run("generate", "grid", "-o", model, "--set", "rows=3", "--set", "columns=5").code == 0
    solution.write_text("MPE\n15 " + "0 " * 15)
    evidence.write_text("15 " + " ".join(f"{i} 1" for i in range(15)))
    outcome = run("check", model, evidence, solution)
    assert outcome.code == 1
    assert outcome.out.count("observed as") == 10
    assert "and 5 more" in outcome.out


def test_a_solution_of_probability_zero_has_no_score(sprinkler: Path, answer: Path) -> None:
    answer.write_text("MPE\n3 0 0 1\n")
    outcome = run("check", sprinkler, "-", answer, "--json")
    assert outcome.code == 0
    assert (outcome.json["log_score"], outcome.json["zero_factors"]) == (None, 1)
    assert "-inf (probability zero)" in run("check", sprinkler, "-", answer).out


def test_one_of_several_queries_is_chosen_by_number(sprinkler: Path, answer: Path, tmp_path: Path) -> None:
    evidence = tmp_path / "two.evid"
    evidence.write_text("2\n1 0 1\n1 0 0\n")
    assert ": 2 queries; choose one with --query N" in run("check", sprinkler, evidence, answer).error
    assert run("check", sprinkler, evidence, answer, "--query", 0).code == 1
    assert run("check", sprinkler, evidence, answer, "--query", 1).code == 0
    assert (
        "--query must lie in 0..1; found 2" in run("check", sprinkler, evidence, answer, "--query", 2).error
    )


def test_what_is_no_solution_or_evidence_is_one_line(sprinkler: Path, answer: Path) -> None:
    assert "expected MPE or MAP as the first word" in run("check", sprinkler, "-", sprinkler).error
    assert "cannot read nothing.evid" in run("check", sprinkler, "nothing.evid", answer).error
    assert "no variable is called 'snow'" in run("check", sprinkler, "-", answer, "-e", "snow=yes").error
