from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from beacon.evaluation.method import Budget, EngineMethod, Query, Run
from beacon.evaluation.records import SCHEMA, Record, make_record, thinned, thinned_bounds
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Trace
from tests.evaluation.helpers import engine_methods, evaluated, network_of, small_network


def trace_of(steps: list[int], scores: list[float]) -> Trace:
    return Trace(np.array(steps), np.array(steps) / 1e6, np.array(scores), np.zeros(len(steps), np.int64))


def test_the_columns_on_disk_are_the_fields_of_a_record() -> None:
    assert SCHEMA.names == [field.name for field in fields(Record)]


def test_of_close_improvements_the_last_is_kept() -> None:
    trace = trace_of([0, 1, 2, 1000, 1010, 1020, 5000], [-9, -8, -7, -6, -5, -4, -3])
    thin = thinned(trace)
    assert thin.steps.tolist() == [0, 1, 2, 1020, 5000]
    assert thin.scores.tolist() == [-9, -8, -7, -4, -3]


def test_thinning_keeps_every_value_to_within_six_percent_of_the_steps() -> None:
    rng = np.random.default_rng(2)
    steps = np.unique(np.concatenate([[0], rng.integers(1, 100_000, 3000)])).tolist()
    trace = trace_of(steps, list(range(-len(steps), 0)))
    thin = thinned(trace)
    assert len(thin) < 250
    for step in (1, 10, 123, 4567, 99_999):
        assert trace.best_at(step) <= thin.best_at(1.06 * step)
        assert thin.best_at(step) <= trace.best_at(step)


def test_an_empty_trace_stays_empty() -> None:
    assert len(thinned(trace_of([], []))) == 0


@pytest.mark.parametrize(("upper_bound", "last"), [(4.0, []), (None, []), (3.5, [3.5])])
def test_of_close_bounds_the_last_is_kept_and_the_final_one(
    upper_bound: float | None, last: list[float]
) -> None:
    trace = trace_of([0], [-9]).with_bounds([(1e-6, 9), (5e-5, 8), (0.02, 7), (0.1, 6), (0.101, 5), (0.5, 4)])
    run = Run(trace, None, 0, 0.25, 0.75, "seconds", proved=False, upper_bound=upper_bound)
    seconds, bounds = thinned_bounds(run)
    assert seconds.tolist() == [5e-5, 0.02, 0.101, 0.5, *(1.0 for _ in last)]
    assert bounds.tolist() == [8, 7, 5, 4, *last]


def test_a_record_tells_the_whole_story_of_a_run(tmp_path: Path) -> None:
    network = small_network()
    for row in evaluated(tmp_path, network, engine_methods("gls+"), budget=Budget((10, 50), (0.001,))):
        assignment = np.array(row["assignment"])
        assert row["score"] == pytest.approx(network.model.log_score(assignment))
        assert row["trace_scores"][-1] == pytest.approx(row["score"])
        assert row["step_budgets"] == [10, 50]
        assert row["step_scores"] == sorted(row["step_scores"])
        assert (row["zeros"], row["log_zero"]) == (0, -100.0)
        assert 0 < row["num_free"] <= 16


def test_scores_with_zero_factors_are_floored_and_the_zeros_counted() -> None:
    model = GraphicalModel.from_tables([2], [((0,), [-np.inf, -np.inf]), ((0,), [-1.0, -3.0])])
    network, method, query = network_of(model), EngineMethod.named("greedy"), Query(3, {}, np.array([1]))
    ((_, run),) = method.run(network, [query], Budget(steps=(5,)), 0, 1)
    row = make_record(network, method, 0, query, run, Budget(steps=(5,)))
    assert (row["score"], row["zeros"], row["query"]) == (-101.0, 1, 3)


def test_a_method_that_lies_about_its_score_is_found_out() -> None:
    network, method = small_network(), EngineMethod.named("greedy")
    query = Query(0, {0: 1}, np.ones(16, dtype=np.int64))
    ((_, run),) = method.run(network, [query], Budget(steps=(5,)), 0, 1)
    better = replace(run, trace=replace(run.trace, scores=run.trace.scores + 1))
    with pytest.raises(RuntimeError, match="greedy on query 0 of grid reports score"):
        make_record(network, method, 0, query, better, Budget(steps=(5,)))
    assert run.assignment is not None
    moved = replace(run, assignment=1 - run.assignment)
    with pytest.raises(RuntimeError, match="changed an observed variable"):
        make_record(network, method, 0, query, moved, Budget(steps=(5,)))
