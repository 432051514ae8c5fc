"""Alternatives, margins and suppositions as results have them."""

from __future__ import annotations

import itertools
import math
import threading
from time import perf_counter

import numpy as np
import pytest

import beacon
from beacon.errors import EvidenceError, UsageError
from beacon.model.families import ising_grid
from beacon.runner import alternatives as alternatives_module
from tests.exact.small_models import KINDS, joint_table, small_queries

GRID = ising_grid(40, 40, seed=2)  # too wide for elimination
SEARCHED = {"strategy": "gls+", "stop": beacon.MaxSteps(300)}


def tolerance(joint: np.ndarray) -> float:  # type: ignore[type-arg]
    return 1e-9 * (1 + float(np.abs(joint[np.isfinite(joint)]).max(initial=0.0)))


@pytest.mark.parametrize("kind", KINDS)
def test_results_of_small_models_have_exact_answers(kind: str) -> None:
    for model, evidence in small_queries(kind, 60, seed=11):
        result = beacon.solve(model, evidence, alternatives=4, margins=True)
        joint = joint_table(model, evidence)
        if result.zero_factors:
            assert joint.max() == -math.inf
            assert result.alternatives == []
            assert result.margins is None
            assert result.probability == 0.0 or result.probability is None
            continue
        assert result.alternatives is not None
        assert result.margins is not None
        assert result.alternatives.exact
        assert result.margins.exact
        expected = np.sort(joint[joint > -math.inf])[::-1][:4]
        scores = [one.log_score for one in result.alternatives]
        assert np.allclose(scores, expected, rtol=0, atol=tolerance(joint))
        assert result.alternatives[0].assignment.tolist() == result.assignment.tolist()
        for name, losses in result.margins.items():
            axis = model.name_to_variable[name]
            for value, loss in enumerate(losses.values()):
                true = joint.max() - np.take(joint, value, axis=axis).max()
                assert loss == true or abs(loss - true) <= tolerance(joint)
        share = math.exp(result.log_score - joint.max()) / np.exp(joint - joint.max()).sum()
        assert result.probability == pytest.approx(share, rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_searched_keeps_its_distance_and_its_bounds(kind: str) -> None:
    for number, (model, evidence) in enumerate(small_queries(kind, 40, seed=12)):
        distance = 1 + number % 3
        result = beacon.solve(model, evidence, alternatives=3, distance=distance, margins=True, **SEARCHED)
        if result.zero_factors:
            continue
        assert result.alternatives is not None
        assert result.margins is not None
        assert not result.alternatives.exact
        assert not result.margins.exact
        for one, other in itertools.combinations(result.alternatives, 2):
            assert np.count_nonzero(one.assignment != other.assignment) >= distance
        joint, at_least = joint_table(model, evidence), result.margins.at_least
        for name, losses in result.margins.items():
            axis = model.name_to_variable[name]
            for value, label in enumerate(model.labels[axis]):
                true = result.log_score - np.take(joint, value, axis=axis).max()
                low, high = at_least[name][label], losses[label]
                assert low == true or low <= true + tolerance(joint)
                assert high == true or high >= true - tolerance(joint)


def test_alternatives_of_a_large_model_are_searched_and_say_so() -> None:
    result = beacon.solve(GRID, stop=beacon.MaxSteps(3000), alternatives=3, distance=5)
    assert result.alternatives is not None
    assert not result.alternatives.exact
    assert len(result.alternatives) == 3
    assert result.probability is None
    for one, other in itertools.combinations(result.alternatives, 2):
        assert np.count_nonzero(one.assignment != other.assignment) >= 5
    assert all(one.log_score == pytest.approx(GRID.log_score(one.assignment)) for one in result.alternatives)


def test_searched_alternatives_keep_to_a_time_limit() -> None:
    beacon.solve(GRID, stop=beacon.MaxSteps(10), alternatives=2)  # loads the kernels
    result = beacon.solve(GRID, stop=beacon.MaxRuntime(0.2), alternatives=4)
    assert result.total_seconds < 4 * 0.2
    assert result.alternatives is not None
    assert len(result.alternatives) == 4


@pytest.mark.parametrize("distance", [1, 16])
def test_parts_that_elimination_solves_have_their_best_alternatives(distance: int) -> None:
    """Beside a grid that is too wide, a table with two needles in a haystack that no search would find."""
    needles, count = np.full([2] * 16, -50.0), GRID.num_variables
    needles[(0,) * 16], needles[(1,) * 16] = 0.0, -1e-6
    tables = [(factor.scope, [0.0, -0.1, -0.1, 0.0]) for factor in GRID.factors if len(factor.scope) == 2]
    tables += [((i,), [0.0, -3.0]) for i in range(count)]
    model = beacon.GraphicalModel.from_tables(
        [2] * (count + 16), [*tables, (tuple(range(count, count + 16)), needles)]
    )
    result = beacon.solve(model, stop=beacon.MaxSteps(5000), alternatives=2, distance=distance)
    assert result.proof == "bound"
    assert result.alternatives is not None
    assert not result.alternatives.exact
    assert result.alternatives[1].loss == pytest.approx(1e-6)
    assert len(result.alternatives[1].changes) == 16


def test_distant_alternatives_by_rank_where_counting_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ising_grid(3, 3, seed=1)
    counted = beacon.solve(model, alternatives=3, distance=2).alternatives
    monkeypatch.setattr(alternatives_module, "MAX_COUNTING", 0)
    by_rank = beacon.solve(model, alternatives=3, distance=2).alternatives
    assert counted is not None
    assert by_rank is not None
    assert counted.exact
    assert by_rank.exact
    assert [one.log_score for one in by_rank] == pytest.approx([one.log_score for one in counted])
    monkeypatch.setattr(alternatives_module, "MAX_RANKED", 2)
    searched = beacon.solve(model, alternatives=3, distance=2).alternatives
    assert searched is not None
    assert not searched.exact
    assert len(searched) == 3


def test_distant_alternatives_are_exact_where_few_assignments_are_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counting is given up after some; looking at all assignments tells that there are no more."""
    monkeypatch.setattr(alternatives_module, "MAX_COUNTING", 2e8)
    sizes, rng = [3, 3, 2, 3, 3], np.random.default_rng(12)
    tables = [(scope, rng.normal(size=(3, 3, 3))) for scope in ((1, 3, 4), (0, 3, 4))]
    model = beacon.GraphicalModel.from_tables(sizes, tables)
    found = beacon.solve(model, {2: 1}, alternatives=9, distance=3).alternatives
    every = [(a, b, 1, c, d) for a, b, c, d in itertools.product(range(3), repeat=4)]
    expected: list[tuple[int, ...]] = []
    for one in sorted(every, key=model.log_score, reverse=True):
        if all(sum(a != b for a, b in zip(one, other, strict=True)) >= 3 for other in expected):
            expected.append(one)
    assert found is not None
    assert found.exact
    assert [tuple(one.assignment.tolist()) for one in found] == expected[:9]


def test_changes_are_named() -> None:
    model = beacon.GraphicalModel.from_tables(
        [2, 2], [((0,), [0.0, -1.0]), ((1,), [0.0, -3.0])], ["rain", "wind"], [["no", "yes"]] * 2
    )
    result = beacon.solve(model, alternatives=9)
    assert result.alternatives is not None
    assert [one.changes for one in result.alternatives] == [
        {},
        {"rain": "yes"},
        {"wind": "yes"},
        {"rain": "yes", "wind": "yes"},
    ]
    assert [round(one.loss, 9) for one in result.alternatives] == [0, 1, 3, 4]
    assert result.alternatives[1].named_assignment == {"rain": "yes", "wind": "no"}


def test_a_supposition_costs_its_margin() -> None:
    model = ising_grid(5, 5, seed=3)
    result = beacon.solve(model, {"x_0_0": 1}, margins=True)
    assert result.margins is not None
    for name in ("x_2_2", "x_4_4"):
        for value in ("0", "1"):
            supposed = beacon.solve(model, {"x_0_0": 1}, suppose={name: value}).supposed
            assert supposed is not None
            assert supposed.named_assignment[name] == value
            assert supposed.loss_against(result) == pytest.approx(result.margins[name][value])
            assert set(supposed.changes_against(result)) == {
                model.names[i] for i in np.flatnonzero(supposed.assignment != result.assignment)
            }


def test_margins_leave_observed_variables_out() -> None:
    margins = beacon.solve(ising_grid(2, 2), {"x_0_0": 1}, margins=True).margins
    assert margins is not None
    assert list(margins) == ["x_0_1", "x_1_0", "x_1_1"]
    assert len(margins) == 3
    with pytest.raises(KeyError):
        margins["x_0_0"]
    assert repr(margins) == "Margins(3 variables, exact)"


def test_the_closest_values_come_first() -> None:
    model = beacon.GraphicalModel.from_tables(
        [2, 3, 1], [((0,), [0.0, -2.0]), ((1,), [-1.0, 0.0, -math.inf])]
    )
    margins = beacon.solve(model, margins=True).margins
    assert margins is not None
    assert margins.closest() == [("x1", "0", 1.0), ("x0", "1", 2.0)]
    assert margins["x1"]["2"] == math.inf
    assert margins.to_dict()["margins"]["x1"] == {"0": 1.0, "1": 0.0, "2": None}


def test_the_evidence_of_a_bayesian_network_has_a_log_probability() -> None:
    model = beacon.GraphicalModel.from_tables(
        [2, 2], [((0,), np.log([0.8, 0.2])), ((0, 1), np.log([[0.9, 0.1], [0.3, 0.7]]))]
    )
    result = beacon.solve(model, {1: 1})
    assert result.log_evidence == pytest.approx(math.log(0.8 * 0.1 + 0.2 * 0.7))
    assert result.probability == pytest.approx(0.14 / 0.22)
    markov = beacon.GraphicalModel.from_tables([2], [((0,), [0.0, 3.0])])
    assert beacon.solve(markov).log_evidence is None


def test_json_has_what_was_asked_for_and_nothing_else() -> None:
    model = ising_grid(3, 3)
    plain = beacon.solve(model).to_dict()
    assert not {"alternatives", "margins", "supposed"} & set(plain)
    full = beacon.solve(model, alternatives=2, margins=True, suppose={"x_0_0": 1}).to_dict()
    assert set(full) - set(plain) == {
        "alternatives",
        "alternatives_exact",
        "margins",
        "margins_exact",
        "supposed",
    }
    assert set(full["alternatives"][0]) == {"log_score", "assignment", "changes"}
    assert {"loss", "changes", "log_score"} <= set(full["supposed"])


def test_many_queries_have_answers_too() -> None:
    results = beacon.solve_many(ising_grid(3, 3), [{0: 0}, {0: 1}], alternatives=2, margins=True)
    assert all(result.alternatives is not None and len(result.alternatives) == 2 for result in results)
    assert all(result.margins is not None and result.margins.exact for result in results)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"alternatives": 0}, "alternatives must be a whole number of at least 1; found 0"),
        ({"alternatives": 2, "distance": 0}, "distance must be a whole number of at least 1; found 0"),
        ({"distance": 2}, "a distance is that of alternatives; ask for some of them, too"),
    ],
)
def test_what_cannot_be_meant_is_refused(asked: dict[str, int], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        beacon.solve(GRID, **asked)  # type: ignore[arg-type]


def test_what_is_observed_cannot_be_supposed() -> None:
    with pytest.raises(EvidenceError, match="'x_0_0' is observed as '1'; suppose a variable that is not"):
        beacon.solve(ising_grid(2, 2), {"x_0_0": 1}, suppose={"x_0_0": 0})


@pytest.mark.parametrize("value", ["", "?", None])
def test_a_supposition_without_a_value_is_refused(value: str | None) -> None:
    with pytest.raises(EvidenceError, match=r"variable 'x_0_0' has no value .*; its values are 0, 1"):
        beacon.solve(ising_grid(2, 2), suppose={"x_0_0": value})  # type: ignore[dict-item]


def test_an_impossible_supposition_is_told() -> None:
    model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -math.inf, -math.inf, 1.0])])
    result = beacon.solve(model, {0: 0}, suppose={1: 1})
    assert result.supposed is not None
    assert result.supposed.is_impossible
    assert result.supposed.loss_against(result) == math.inf


@pytest.mark.parametrize("is_found", [False, True])
def test_an_event_ends_what_is_asked_besides_the_answer(is_found: bool) -> None:
    wanted = {"alternatives": 3, "margins": True, "suppose": {"x_0_0": "1"}}
    beacon.solve(GRID, stop=beacon.MaxSteps(10), strategy="gls+", **wanted)  # loads the kernels
    event = threading.Event()
    threading.Timer(1.0, event.set).start()
    stop = beacon.MaxRuntime(60.0)
    if is_found:  # the answer long before the event, so that alternatives are being searched then
        stop |= beacon.NoImprovement(2000)
    began = perf_counter()
    result = beacon.solve(GRID, stop=stop, strategy="gls+", cancelled=event, **wanted)
    assert perf_counter() - began < 30
    assert result.zero_factors == 0
    assert (result.alternatives is not None) == is_found
