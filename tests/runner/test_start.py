"""Where searches begin."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import EvidenceError, UsageError
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.batch import SearchBatch
from beacon.runner.result import Result
from beacon.runner.stop import MaxSteps, first_assignments
from beacon.solver import solve, solve_many
from beacon.strategies.strategy import STRATEGIES
from tests.engine.helpers import small_models, some_evidence
from tests.small_strategies import small_models as random_models

MODELS = small_models()
WEATHER = GraphicalModel.from_tables(
    [2, 3],
    [((0, 1), [-1.0, -np.inf, -2.0, -np.inf, -0.5, -np.inf])],
    names=["rain", "wind"],
    labels=[["no", "yes"], ["calm", "fresh", "storm"]],
)


def worth(result: Result) -> tuple[int, float]:
    return result.zero_factors, -result.floored_log_score


def test_a_random_start_is_left_to_the_search() -> None:
    assert first_assignments(WEATHER, "random", [{}, {0: 1}]) == [None, None]


def test_one_start_serves_all_queries() -> None:
    starts = first_assignments(WEATHER, [1, 2], [{}, {0: 1}, {1: 2}])
    assert [start.tolist() for start in starts if start is not None] == [[1, 2]] * 3


def test_each_query_may_have_a_start_of_its_own() -> None:
    rows = np.array([[0, 0], [1, 2]], dtype=np.int8)
    batch = SearchBatch(WEATHER, [{}, {0: 1}], start=rows)
    assert batch.assignments.tolist() == rows.tolist()


def test_a_start_is_not_changed_by_the_search() -> None:
    start = np.zeros(9, dtype=np.int64)
    solve(MODELS["grid"], start=start, stop=MaxSteps(50))
    assert not start.any()


@settings(max_examples=40, deadline=None)
@given(
    model=random_models(),
    seed=st.integers(0, 10**6),
    strategy=st.sampled_from(list(STRATEGIES)),
    propagate=st.booleans(),
)
def test_a_warm_start_never_ends_worse_than_it_began(
    model: GraphicalModel, seed: int, strategy: str, propagate: bool
) -> None:
    start = np.random.default_rng(seed).integers(model.domain_sizes)
    evidence = {i: int(start[i]) for i in some_evidence(model, seed % 3, seed)}
    first, later = (
        solve(model, evidence, start=start, stop=MaxSteps(n), strategy=strategy, propagate=propagate)
        for n in (0, 40)
    )
    if first.proof != "elimination":  # what is known to be best is the answer, whatever the start
        assert first.assignment.tolist() == start.tolist()
    assert worth(later) <= worth(first)


def test_a_start_of_probability_zero_is_allowed_and_left() -> None:
    result = solve(WEATHER, start=[0, 1], strategy="gls+", stop=MaxSteps(0))
    assert (result.log_score, result.zero_factors) == (-np.inf, 1)
    assert solve(WEATHER, start=[0, 1], stop=MaxSteps(50)).named_assignment == {
        "rain": "yes",
        "wind": "fresh",
    }


def test_a_start_that_contradicts_what_the_evidence_implies_is_allowed() -> None:
    result = solve(WEATHER, {"rain": "no"}, start=[0, 1], strategy="gls+", stop=MaxSteps(0))
    assert result.assignment.tolist() == [0, 1]
    better = solve(WEATHER, {"rain": "no"}, start=[0, 1], stop=MaxSteps(50))
    assert better.named_assignment == {"rain": "no", "wind": "calm"}


def test_a_start_that_contradicts_the_evidence_is_refused() -> None:
    expected = "the start contradicts the evidence: 'wind' is observed as 'storm', the start has 'calm'"
    with pytest.raises(EvidenceError, match=expected):
        solve(WEATHER, {"wind": "storm"}, start=[0, 0])


def test_another_word_than_random_is_refused() -> None:
    with pytest.raises(
        UsageError, match="start must be 'random', 'constructed' or an assignment; found 'zeros'"
    ):
        solve(WEATHER, start="zeros")


def test_the_number_of_starts_must_be_that_of_the_queries() -> None:
    with pytest.raises(UsageError, match="expected one start for each of 3 queries; found 2"):
        solve_many(WEATHER, [{}] * 3, start=np.zeros((2, 2), dtype=int))


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ([0], "an assignment needs 2 value indices, one per variable; found int64 of shape (1,)"),
        ([0, 0, 0], "an assignment needs 2 value indices, one per variable; found int64 of shape (3,)"),
        ([0.0, 1.0], "an assignment needs 2 value indices, one per variable; found float64 of shape (2,)"),
        ([0, 3], "variable 'wind' has values 0..2; found 3"),
        ([-1, 0], "variable 'rain' has values 0..1; found -1"),
    ],
)
def test_a_start_must_be_an_assignment(start: list[int], expected: str) -> None:
    with pytest.raises(EvidenceError, match=re.escape(expected)):
        solve(WEATHER, start=start)


@pytest.mark.parametrize("start", [3, [[0, 1], [0]]], ids=["a number", "ragged"])
def test_a_start_that_is_no_array_is_refused(start: object) -> None:
    with pytest.raises(UsageError, match="start must be 'random' or an assignment"):
        solve_many(WEATHER, [{}, {}], start=start)  # type: ignore[arg-type]
