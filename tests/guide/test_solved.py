"""The guide of solved queries."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import beacon
from beacon.errors import EvidenceError, FormatError, UsageError
from beacon.guide.checkpoint import load_guide
from beacon.guide.solved import SolvedGuide
from beacon.guided.moves import Moves
from beacon.learn.examples import Examples, measured
from beacon.learn.train import FastSettings, SolvedSettings
from beacon.model.families import ising_grid, weighted_coloring
from tests.guide.helpers import MIXED, chain, solved_queries

REFERENCES = np.array([[0, 1, 0, 3, 1], [1, 2, 0, 0, 0], [1, 2, 0, 1, 1]])
CHAIN = chain()
QUERIES, SOLVED = solved_queries(CHAIN, 150)


def test_the_nearest_reference_has_most_of_the_observed_values() -> None:
    guide = SolvedGuide(MIXED, REFERENCES)
    observed = np.array([True, False, False, True, True])
    nearest = guide.opinions(np.array([1, 0, 0, 1, 0]), observed, 2)
    assert nearest.tolist() == REFERENCES[[1, 2]].tolist()  # of equals the first
    assert guide.opinions(np.array([0, 0, 0, 3, 1]), observed, 2).tolist() == REFERENCES[[0, 2]].tolist()


def test_the_nearest_references_vote_and_one_vote_is_shared_by_all_values() -> None:
    guide = SolvedGuide(MIXED, REFERENCES, neighbours=2)
    observed = np.array([[True, False, False, False, False]])
    (row,) = guide.probabilities(np.array([[1, 0, 0, 0, 0]]), observed)
    third = 1 / 3
    expected = [0.5 / 3, 2.5 / 3, third / 3, third / 3, (2 + third) / 3, 1]
    np.testing.assert_allclose(row[:6], expected, rtol=1e-6)
    assert Moves.of(MIXED).best_values(row[None])[0, 1] == 2


def test_more_opinions_than_references_are_all_of_them() -> None:
    guide = SolvedGuide(MIXED, REFERENCES)
    assert len(guide.opinions(REFERENCES[0], np.ones(5, dtype=np.bool_), 15)) == 3


def test_colours_are_renamed_to_agree_with_the_evidence() -> None:
    model = weighted_coloring(12, density=0.5, num_colors=3, seed=1)
    answer = np.random.default_rng(0).integers(0, 3, 12)
    renamed = np.array([2, 0, 1])[answer]
    guide, observed = SolvedGuide(model, renamed[None]), np.arange(12) < 9
    assert guide.opinions(answer, observed, 1).tolist() == [answer.tolist()]
    assert (
        guide.moves.best_values(guide.probabilities(answer[None], observed[None]))[0].tolist()
        == answer.tolist()
    )
    assert SolvedGuide(model, renamed[None]).references.tolist() == [renamed.tolist()]


def test_references_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match=r"expected references of 5 variables, a row each; found .*\(3, 4\)"):
        SolvedGuide(MIXED, REFERENCES[:, :4])
    with pytest.raises(UsageError, match="neighbours must be a whole number of at least 1; found 0"):
        SolvedGuide(MIXED, REFERENCES, 0)
    with pytest.raises(EvidenceError, match=r"variable 'x1' has values 0\.\.2; found 7"):
        SolvedGuide(MIXED, np.full((1, 5), 7) * (np.arange(5) == 1))


def test_a_file_without_its_settings_is_damaged(tmp_path: Path) -> None:
    SolvedGuide(MIXED, REFERENCES).save(tmp_path / "guide")
    facts = tmp_path / "guide" / "guide.json"
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "settings": {}}))
    with pytest.raises(FormatError, match="the guide is damaged"):
        load_guide(tmp_path / "guide", MIXED)


def test_the_preset_remembers_training_queries_and_uses_the_evidence() -> None:
    heard: list[dict[str, float]] = []
    guide = beacon.train(CHAIN, QUERIES, "solved", SOLVED, on_epoch=heard.append)
    assert heard == []  # nothing is trained
    assert isinstance(guide, SolvedGuide)
    train = Examples.of_split(QUERIES, SOLVED, "train")
    assert np.array_equal(guide.references, train.references)
    validation = Examples.of_split(QUERIES, SOLVED, "validation")
    assert guide.facts["history"][0]["validation_loss"] == measured(guide, validation).loss
    always_the_same = SolvedGuide(CHAIN, train.references, neighbours=len(train.references))
    assert measured(guide, validation).accuracy > measured(always_the_same, validation).accuracy + 0.1


def test_settings_of_training_have_no_meaning_for_it() -> None:
    with pytest.raises(UsageError, match="epochs has no meaning for the guide of solved queries"):
        beacon.train(CHAIN, QUERIES, "solved", SOLVED, epochs=3)
    with pytest.raises(UsageError, match="neighbours must be a whole number of at least 1; found 0"):
        SolvedSettings(neighbours=0)
    assert isinstance(beacon.RunSettings(preset="solved").train, SolvedSettings)
    assert isinstance(beacon.RunSettings(preset="fast").train, FastSettings)


def test_a_search_begins_where_the_vote_says(tmp_path: Path) -> None:
    guide = beacon.train(CHAIN, QUERIES, "solved", SOLVED)
    guide.save(tmp_path / "guide")
    use, stop = {"opinions": 0}, beacon.MaxSteps(0)
    result = beacon.solve(CHAIN, {0: 1}, guide=tmp_path / "guide", use=use, strategy="greedy", stop=stop)
    observed = np.arange(CHAIN.num_variables) == 0
    scores = guide.probabilities(observed[None].astype(np.int64), observed[None])
    assert result.assignment.tolist()[1:] == Moves.of(CHAIN).best_values(scores)[0].tolist()[1:]


def test_the_start_is_crossed_with_the_nearest_references() -> None:
    model = ising_grid(10, 10, seed=2)
    queries, solved = solved_queries(model, 40)
    guide, stop = beacon.train(model, queries, "solved", solved), beacon.MaxSteps(0)
    evidence = queries.evidence(39)
    plain, crossed = (
        beacon.solve(model, evidence, guide=guide, use={"opinions": count}, strategy="gls+", stop=stop)
        for count in (0, 10)
    )
    assert crossed.log_score > plain.log_score
    assert all(crossed.assignment[i] == value for i, value in evidence.items())


def test_opinions_are_the_nearest_references_themselves() -> None:
    guide = SolvedGuide(MIXED, REFERENCES)
    everything = np.ones(5, dtype=np.bool_)
    assert guide.opinions(REFERENCES[2], everything, 2).tolist() == REFERENCES[[2, 1]].tolist()
