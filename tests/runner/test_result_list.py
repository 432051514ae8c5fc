"""Results as a table: a column per variable, figures beside them, and a view in HTML."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import beacon
from beacon.model.data_frame import evidence_of_table
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.result_list import ResultList


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
