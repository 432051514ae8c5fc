"""Solving with a guide."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import beacon
from beacon.errors import UsageError
from beacon.guide.fast_guide import FastGuide
from beacon.guide.guide import Guide
from beacon.guide.solve import guided_assignments
from beacon.guide.trivial import OracleGuide
from beacon.search import solve as unguided
from beacon.search.stop import MaxSteps
from tests.guide.helpers import MIXED, evidence_of, random_states, random_weights

EVIDENCES = evidence_of(random_states(MIXED, 8))
FAST = FastGuide(MIXED, random_weights(MIXED))
BEST = unguided.solve(MIXED, stop=MaxSteps(500)).assignment
ORACLE = OracleGuide(MIXED, BEST)


def first_scores(results: list[beacon.Result]) -> list[float]:
    return [float(result.trace.scores[0]) for result in results]


def test_without_a_guide_it_is_the_unguided_search() -> None:
    ours = beacon.solve_many(MIXED, EVIDENCES, stop=MaxSteps(20), seed=3)
    plain = unguided.solve_many(MIXED, EVIDENCES, stop=MaxSteps(20), seed=3)
    assert [r.assignment.tolist() for r in ours] == [r.assignment.tolist() for r in plain]
    assert first_scores(ours) == first_scores(plain)


@pytest.mark.parametrize("guide", [FAST, ORACLE], ids=["fast", "oracle"])
def test_with_a_guide_the_search_begins_where_the_guide_would(guide: Guide) -> None:
    results = beacon.solve_many(MIXED, EVIDENCES, guide=guide, stop=MaxSteps(1), strategy="greedy")
    starts = guided_assignments(MIXED, EVIDENCES, guide)
    assert first_scores(results) == pytest.approx(MIXED.log_scores(starts).tolist())


def test_one_query_with_an_oracle_begins_at_the_optimum() -> None:
    result = beacon.solve(MIXED, guide=ORACLE, stop=MaxSteps(1))
    assert result.trace.scores[0] == pytest.approx(MIXED.log_score(BEST))


def test_a_guide_may_be_a_path(tmp_path: Path) -> None:
    FAST.save(tmp_path / "a.guide")
    for path in (tmp_path / "a.guide", str(tmp_path / "a.guide")):
        loaded = beacon.solve_many(MIXED, EVIDENCES, guide=path, stop=MaxSteps(3))
        given = beacon.solve_many(MIXED, EVIDENCES, guide=FAST, stop=MaxSteps(3))
        assert [r.assignment.tolist() for r in loaded] == [r.assignment.tolist() for r in given]
        assert first_scores(loaded) == first_scores(given)


@pytest.mark.parametrize("guide", [FAST, ORACLE], ids=["fast", "oracle"])
def test_a_query_is_solved_the_same_alone_and_among_others(guide: Guide) -> None:
    together = guided_assignments(MIXED, EVIDENCES, guide, seed=5)
    for query, evidence in enumerate(EVIDENCES):
        alone = guided_assignments(MIXED, [evidence], guide, seed=5)
        assert alone[0].tolist() == together[query].tolist()
    whole = beacon.solve_many(MIXED, EVIDENCES, guide=guide, stop=MaxSteps(2), seed=5, threads=2)
    turned = beacon.solve_many(MIXED, EVIDENCES[::-1], guide=guide, stop=MaxSteps(2), seed=5, threads=1)
    assert [r.assignment.tolist() for r in whole] == [r.assignment.tolist() for r in turned[::-1]]


def test_a_start_that_is_given_outranks_the_guide() -> None:
    start = [0, 0, 0, 0, 0]
    result = beacon.solve(MIXED, guide=ORACLE, start=start, stop=MaxSteps(1))
    assert result.trace.scores[0] == pytest.approx(MIXED.log_score(start))
    random = beacon.solve(MIXED, guide=ORACLE, start="random", stop=MaxSteps(1), seed=2)
    assert random.trace.scores[0] == beacon.solve(MIXED, stop=MaxSteps(1), seed=2).trace.scores[0]


def test_what_the_evidence_implies_outranks_the_guide() -> None:
    equal = np.log(np.array([[1.0, 0.0], [0.0, 1.0]]), where=np.eye(2) > 0, out=np.full((2, 2), -np.inf))
    model = beacon.GraphicalModel.from_tables([2, 2, 2], [((0, 1), equal), ((1, 2), np.zeros(4))])
    wrong = OracleGuide(model, [1, 0, 1])
    assert guided_assignments(model, [{0: 1}], wrong).tolist()[0] == [1, 1, 1]
    assert guided_assignments(model, [{0: 1}], wrong, propagate=False).tolist()[0] == [1, 0, 1]
    assert beacon.solve(model, {0: 1}, guide=wrong, stop=MaxSteps(1)).zero_factors == 0


def test_a_guided_start_without_a_guide_is_refused() -> None:
    with pytest.raises(UsageError, match="start='guide' needs a guide; pass guide="):
        beacon.solve(MIXED, start="guide")


def test_no_queries_give_no_results() -> None:
    assert beacon.solve_many(MIXED, [], guide=FAST, stop=MaxSteps(1)) == []
