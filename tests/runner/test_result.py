"""What a search returns: checked, printed, drawn, and many results as a table."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import beacon
from beacon.errors import MissingDependencyError
from beacon.model.data_frame import evidence_of_table
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.result import Outcome, Result, ResultList, checked_result
from beacon.runner.search import Search, Trace
from beacon.runner.stop import MaxSteps
from beacon.solver import solve
from beacon.strategies.gls import GlsPlus
from tests.engine.helpers import new_search, small_models

MODELS = small_models()
WEATHER = GraphicalModel.from_tables(
    [2, 2],
    [((0, 1), [-1.0, -math.inf, -2.0, -0.25]), ((1,), [-3.0, 0.0])],
    names=["rain", "wind"],
    labels=[["no", "yes"], ["calm", "storm"]],
)


def finished(name: str = "coloring") -> tuple[GraphicalModel, Search]:
    model = MODELS[name]
    search = new_search(model, {}, GlsPlus())
    search.run(MaxSteps(100))
    return model, search


def checked(model: GraphicalModel, evidence: dict[int, int], search: Search, **claims: Any) -> Result:
    """The result of a search, some of whose claims may be false."""
    outcome = replace(Outcome.of(search, "steps"), **claims)
    return checked_result(model, evidence, outcome, search.model, 0)


def made_by_hand(zero_factors: int = 0) -> Result:
    """A result whose every number is known."""
    trace = Trace(
        np.array([0, 1500]), np.array([0.0, 0.125]), np.array([-7.5, -0.25]), np.array([1, zero_factors])
    )
    return Result(
        model=WEATHER,
        evidence={0: 1},
        assignment=np.array([1, 1]),
        log_score=-math.inf if zero_factors else -0.25,
        floored_log_score=-0.25 - 100.0 * zero_factors,
        log_zero=-100.0,
        zero_factors=zero_factors,
        steps=12345,
        seconds=0.5,
        method="gls+",
        seed=9,
        stop="steps",
        trace=trace,
    )


def test_the_summary_says_it_in_a_few_lines() -> None:
    assert made_by_hand().summary() == (
        "log score      -0.250000\n"
        "zero factors   0\n"
        "query          1 variable, 1 observed\n"
        "search         gls+, 12,345 steps in 0.500 s (seed 9, stopped by: steps)\n"
        "last improved  at step 1,500, 0.125 s"
    )


def test_the_summary_of_an_impossible_assignment_gives_the_floored_score_too() -> None:
    lines = made_by_hand(zero_factors=2).summary().splitlines()
    assert lines[0] == "log score      -inf (probability zero)"
    assert lines[1] == "floored score  -200.250000 (zeros count -100)"
    assert lines[2] == "zero factors   2"
    assert len(lines) == 6


def test_the_dictionary_holds_what_the_command_line_promises() -> None:
    assert made_by_hand().to_dict() == {
        "log_score": -0.25,
        "floored_log_score": -0.25,
        "log_zero": -100.0,
        "zero_factors": 0,
        "assignment": [1, 1],
        "named_assignment": {"rain": "yes", "wind": "storm"},
        "steps": 12345,
        "seconds": 0.5,
        "total_seconds": 0.0,
        "upper_bound": None,
        "gap": None,
        "optimal": False,
        "proof": None,
        "impossible": False,
        "method": "gls+",
        "seed": 9,
        "stop": "steps",
    }


def test_the_dictionary_of_any_result_is_plain_json() -> None:
    for evidence in ({}, {"rain": "no", "wind": "storm"}):
        result = solve(WEATHER, evidence, stop=MaxSteps(20))
        written = json.dumps(result.to_dict(), allow_nan=False)
        assert json.loads(written) == result.to_dict()
    assert result.to_dict()["log_score"] is None
    assert result.to_dict()["zero_factors"] == 1


def test_the_dictionary_is_plain_json_whatever_kind_of_number_the_seed_was() -> None:
    result = solve(WEATHER, stop=MaxSteps(20), seed=np.int64(3))  # type: ignore[arg-type]
    assert json.loads(json.dumps(result.to_dict()))["seed"] == 3


def test_the_representation_is_short() -> None:
    text = repr(made_by_hand())
    assert text.startswith("Result(log_score=-0.25, ")
    assert "assignment" not in text
    assert len(text) < 300


@pytest.mark.parametrize(
    ("log_score", "gap", "said"),
    [
        (-1.0, 2.0, "at most 200 % (2 nats) below the optimum"),
        (-77.0, 76.7, "at most 100 % (76.7 nats) below the optimum"),
        (-100.0, 12.34, "at most 12 % (12.3 nats) below the optimum"),
        (-100.0, 0.123, "at most 0.12 % (0.12 nats) below the optimum"),
        (0.0, 3.0, "at most 3 nats below the optimum"),
    ],
)
def test_a_gap_is_told_in_plain_numbers(log_score: float, gap: float, said: str) -> None:
    result = replace(made_by_hand(), log_score=log_score, upper_bound=log_score + gap)
    assert result.certainty == said


def test_a_bound_is_told_where_only_answers_of_probability_zero_were_found() -> None:
    result = replace(made_by_hand(zero_factors=1), upper_bound=-0.125)
    assert result.certainty == "no assignment has a log score above -0.125000"
    assert "gap" not in result._repr_html_()


def test_long_proofs_are_told_in_plain_numbers() -> None:
    result = replace(made_by_hand(), proof="bound", seconds=123.4)
    assert result.certainty == "optimal, proved by its upper bound in 123 s"


def test_a_result_knows_whether_it_is_proved_optimal() -> None:
    assert solve(WEATHER, stop=MaxSteps(100)).is_optimal
    assert not made_by_hand().is_optimal


def test_a_result_is_scored_anew() -> None:
    model, search = finished()
    result = checked(model, {}, search)
    assert result.log_score == pytest.approx(model.log_score(search.best_assignment), abs=1e-12)
    assert result.stop == "steps"


def test_a_best_assignment_that_was_tampered_with_is_not_returned() -> None:
    model, search = finished()
    best = search.best_assignment.tolist()
    worse = [[value, *best[1:]] for value in range(3)]
    changed = min(worse, key=model.log_score)
    assert model.log_score(changed) < model.log_score(best) - 1e-3
    with pytest.raises(RuntimeError, match="This is a bug in Beacon; please report it"):
        checked(model, {}, search, assignment=np.array(changed))


def test_a_wrong_count_of_zero_factors_is_noticed() -> None:
    model, search = finished("oddities")
    with pytest.raises(RuntimeError, match=r"the search reports score .* zero factors; recomputed: "):
        checked(model, {}, search, zero_factors=search.best_zeros + 1)


def test_a_changed_observation_is_noticed() -> None:
    model, search = finished()
    wrong = {3: int(search.best_assignment[3] + 1) % 3}
    with pytest.raises(RuntimeError, match="the search changed an observed variable"):
        checked(model, wrong, search)


def test_a_result_keeps_its_assignment_when_the_search_goes_on() -> None:
    model = MODELS["grid"]
    search = Search(compile_model(model), {}, GlsPlus(), start=np.zeros(9, dtype=np.int64))
    first = checked(model, {}, search)
    search.run(MaxSteps(200))
    search.best_assignment  # noqa: B018 - brings the search's own array up to date
    assert first.assignment.tolist() == [0] * 9
    assert len(first.trace) == 1


@pytest.fixture
def pyplot() -> Any:
    pytest.importorskip("matplotlib").use("Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    yield plt
    plt.close("all")


def test_plotting_draws_the_score_over_time(pyplot: Any) -> None:
    result = solve(MODELS["grid"], stop=MaxSteps(200))
    ax = result.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("seconds", "best log score")
    assert ax.lines[0].get_xdata().tolist() == result.trace.seconds.tolist()
    assert ax.lines[0].get_ydata().tolist() == result.trace.scores.tolist()


def test_plotting_into_given_axes_draws_there(pyplot: Any) -> None:
    ax = pyplot.subplots()[1]
    assert made_by_hand().plot(ax=ax) is ax
    assert pyplot.get_fignums() == [ax.figure.number]


def test_assignments_of_probability_zero_are_drawn_dotted(pyplot: Any) -> None:
    ax = made_by_hand().plot()
    solid, dotted = (line.get_ydata() for line in ax.lines)
    assert ax.lines[1].get_linestyle() == ":"
    assert np.isnan(solid).tolist() == [True, False]
    assert np.isnan(dotted).tolist() == [False, True]


def test_plotting_without_matplotlib_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(
        MissingDependencyError,
        match=r"drawing needs matplotlib; install it with: pip install 'beacon-mpe\[plots\]'",
    ):
        made_by_hand().plot()


@pytest.fixture
def model() -> GraphicalModel:
    tables = [((0, 1), np.log([[0.6, 0.1], [0.1, 0.2]]))]
    return GraphicalModel.from_tables([2, 2], tables, ["sun", "steps"], [["no", "yes"], ["few", "many"]])


def test_a_table_goes_in_and_a_table_comes_out(model: GraphicalModel) -> None:
    table = pa.table({"sun": ["yes", None, "no"]})
    results = beacon.solve_many(model, table, stop=beacon.MaxSteps(50))
    made = results.to_arrow()
    figures = ["log_score", "zero_factors", "steps_", "seconds", "stop", "proof", "gap"]
    assert made.column_names == ["sun", "steps", *figures]
    assert made["sun"].to_pylist() == ["yes", "no", "no"]
    assert made["steps"].to_pylist() == ["many", "few", "few"]
    assert np.allclose(made["log_score"].to_numpy(), np.log([0.2, 0.6, 0.6]))
    assert evidence_of_table(made.select(["sun", "steps"]), model) == [
        {0: 1, 1: 1},
        {0: 0, 1: 0},
        {0: 0, 1: 0},
    ]
    assert made.to_pydict() == results.to_columns()


def test_no_results_are_a_table_without_rows() -> None:
    assert ResultList().to_arrow().num_rows == 0


def test_a_query_set_can_be_solved_as_it_is(model: GraphicalModel) -> None:
    queries = beacon.sample_queries(model, 5, seed=0)
    results = beacon.solve_many(model, queries, stop=beacon.MaxSteps(20))
    assert [result.evidence for result in results] == [queries.evidence(k) for k in range(5)]
    other = GraphicalModel.from_tables([2], [])
    with pytest.raises(beacon.BeaconError, match="these queries are for another model"):
        beacon.solve_many(other, queries)


def test_improvements_of_many_searches_are_heard_of(model: GraphicalModel) -> None:
    grid = beacon.GraphicalModel.from_tables([2] * 30, [((i, i + 1), [0, 1, 1, 0]) for i in range(29)])
    heard: list[float] = []
    beacon.solve_many(
        grid,
        [{}, {0: 1}],
        strategy="gls+",
        stop=beacon.MaxSteps(200),
        on_improvement=lambda search: heard.append(search.score),
    )
    assert heard
