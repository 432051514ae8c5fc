from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

from beacon.cli import demo_story
from beacon.cli.demo_story import clinic, explained_findings, names_of_ill, simulate_patient
from beacon.model.families.diagnosis import diseases_of, findings_of
from beacon.runner.stop import MaxSteps
from beacon.solver import solve
from tests.cli.helpers import run


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A demo of a few seconds."""
    monkeypatch.setattr(demo_story, "HARD_STOP", MaxSteps(20_000))
    monkeypatch.setattr(demo_story, "SIZE", 14)
    monkeypatch.setattr(demo_story, "COUNT", 40)
    monkeypatch.setattr(demo_story, "TEACHER_STEPS", 500)
    monkeypatch.setattr(demo_story, "SECONDS", (0.001, 0.002))


def test_the_demo_tells_the_story_and_what_to_try_next(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    outcome = run("demo", "-o", folder)
    assert (outcome.code, outcome.err) == (0, "")
    told = " ".join(outcome.out.split())
    for words in (
        "40 diseases cause 60 findings",
        "6 findings are seen, 8 are ruled out",
        "The most probable explanation",
        "times less probable",
        "This is optimal, proved by elimination in",
        "The next-best set of diseases:",
        "The explanation names 3 of these 3",
        "196 variables on a grid",
        "Log score ",
        "40 such queries",
        "Below the best known, by time",
        "has the best known score on",
        "No answer is proved optimal",
        "beacon is ",
        "report.html",
        f"beacon solve {folder}/grid.uai --guide {folder}/guide",
    ):
        assert words in told
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "report.html").read_text(encoding="utf-8")
    again = run("demo", "-o", folder)
    assert again.code == 0
    assert again.out.count("  done  ") == 6
    for line in outcome.out.splitlines():
        if line.startswith("  beacon solve "):
            assert run(*line.split()[1:], "--steps", 100).code == 0


def test_a_folder_with_other_things_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    outcome = run("demo", "-o", tmp_path)
    assert outcome.code == 1
    assert outcome.error == (
        f"{tmp_path} holds other things (thesis.txt) than an earlier demo; choose another folder with -o DIR"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_patient_is_possible_and_the_explanation_covers_all_that_was_seen() -> None:
    model = clinic()
    patient = simulate_patient(model)
    assert len(diseases_of(model)) + len(findings_of(model)) < model.num_variables
    assert patient.evidence.keys() <= set(findings_of(model))
    result = solve(model, patient.evidence, stop=MaxSteps(100_000))
    explained = explained_findings(result, patient)
    assert result.proof == "elimination"
    assert sorted(chain.from_iterable(explained.values())) == sorted(patient.seen(1))
    assert explained.keys() - {""} == set(names_of_ill(model, result.assignment))
    assert 2 <= len(explained) <= 8, "a short and telling list"
    assert set(names_of_ill(model, result.assignment)) & set(names_of_ill(model, patient.truth))
