from __future__ import annotations

from itertools import chain

import pytest

from beacon.cli import demo
from beacon.cli.patient import diseases_of, explained_findings, findings_of, names_of_ill, simulate_patient
from beacon.model.families import demo_model
from beacon.search.solve import solve
from beacon.search.stop import MaxSteps
from tests.cli.helpers import run


def test_the_demo_tells_the_story_and_what_to_try_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "SEARCH_SECONDS", 0.2)
    outcome = run("demo")
    assert (outcome.code, outcome.err) == (0, "")
    for words in (
        "60 diseases cause 80 findings",
        "10 findings are seen, 12 are ruled out",
        "The most probable explanation",
        "the truth is known",
        "Log score -",
        "The explanation names 4 of these 5 diseases",
        "a second",
        "beacon generate diagnosis -o clinic.bif",
    ):
        assert words in outcome.out


def test_the_patient_is_possible_and_the_explanation_covers_all_that_was_seen() -> None:
    model = demo_model()
    patient = simulate_patient(model, demo.SEED, demo.NUM_PRESENT, demo.NUM_ABSENT)
    assert len(diseases_of(model)) + len(findings_of(model)) < model.num_variables
    assert patient.evidence.keys() <= set(findings_of(model))
    result = solve(model, patient.evidence, stop=MaxSteps(100_000))
    explained = explained_findings(result, patient)
    assert result.zero_factors == 0
    assert sorted(chain.from_iterable(explained.values())) == sorted(patient.seen(1))
    assert explained.keys() - {""} == set(names_of_ill(model, result.assignment))
    assert 2 <= len(explained) <= 8, "a short and telling list"
    assert set(names_of_ill(model, result.assignment)) & set(names_of_ill(model, patient.truth))
