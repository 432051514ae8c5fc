"""Many searches side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from beacon.errors import EvidenceError, ModelError, UsageError
from beacon.model import families
from beacon.runner.batch import SearchBatch
from beacon.runner.stop import MaxSteps, NoImprovement, TargetScore
from beacon.solver import solve_many
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import Strategy
from tests.engine.helpers import free_variables, penalties_of, small_models, some_evidence
from tests.reference import Naive

MODELS = small_models()
COLORING = families.weighted_coloring(num_vertices=40, density=0.3, seed=1)
QUERIES = [some_evidence(COLORING, 4, seed) for seed in range(5)]
ONE_FLIP = [Greedy(), GlsPlus(), GlsPlus(smoothing=0.9, smoothing_interval=5), GlsPlus(restart_interval=70)]


def batch_of(strategy: str | Strategy = "gls+", threads: int | None = None) -> SearchBatch:
    return SearchBatch(COLORING, QUERIES, strategy=strategy, seed=7, threads=threads)


def everything(batch: SearchBatch) -> list[object]:
    """All that a batch shows of its searches."""
    traces = [[t.steps.tolist(), t.scores.tolist(), t.zero_factors.tolist()] for t in batch.traces]
    arrays = [batch.assignments, batch.gains, batch.best_assignments, batch.best_scores]
    return [*(array.tolist() for array in arrays), traces]


@pytest.mark.parametrize("strategy", ONE_FLIP, ids=["greedy", "gls+", "smoothing", "restarts"])
def test_a_run_in_pieces_is_the_same_as_a_run_in_one(strategy: Strategy) -> None:
    whole, cut = batch_of(strategy), batch_of(strategy)
    whole.run(500)
    cut.run(100)
    cut.run(400)
    assert everything(cut) == everything(whole)


def test_reading_a_batch_does_not_change_where_it_goes() -> None:
    read, unread = batch_of(), batch_of()
    for _ in range(20):
        read.run(25)
        assert len(everything(read)) == 5
        assert len(read.results) == len(QUERIES)
    unread.run(500)
    assert everything(read) == everything(unread)


@pytest.mark.parametrize("strategy", ["greedy", "gls+"])
def test_a_batch_does_not_depend_on_the_number_of_threads(strategy: str) -> None:
    one, two = batch_of(strategy, threads=1), batch_of(strategy, threads=2)
    one.run(600)
    two.run(600)
    assert everything(one) == everything(two)


def test_a_batch_finds_what_solving_the_same_queries_finds() -> None:
    batch = batch_of()
    batch.run(700)
    results = solve_many(COLORING, QUERIES, strategy="gls+", stop=MaxSteps(700), seed=7)
    for ours, theirs in zip(batch.results, results, strict=True):
        assert ours.assignment.tolist() == theirs.assignment.tolist()
        assert ours.floored_log_score == theirs.floored_log_score
        assert (ours.steps, ours.stop) == (theirs.steps, theirs.stop)


def test_arrays_have_a_row_for_each_query() -> None:
    batch = batch_of()
    batch.run(50)
    assert batch.assignments.shape == batch.best_assignments.shape == (5, 40)
    assert batch.gains.shape == (5, 120)
    assert batch.best_scores.shape == (5,)
    assert len(batch.traces) == len(batch.results) == 5
    for row, query in zip(batch.assignments, QUERIES, strict=True):
        assert {i: row[i] for i in query} == query


def test_best_scores_are_those_of_the_best_assignments() -> None:
    batch = batch_of()
    batch.run(200)
    assert batch.best_scores.tolist() == pytest.approx(COLORING.log_scores(batch.best_assignments).tolist())
    assert (batch.best_scores >= COLORING.log_scores(batch.assignments) - 1e-9).all()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("strategy", [Greedy(), GlsPlus(penalty_weight=2.5)], ids=lambda s: s.name)
def test_gains_are_what_each_move_adds_to_the_penalised_score(name: str, strategy: Strategy) -> None:
    model = MODELS[name]
    batch = SearchBatch(model, [{}], strategy=strategy, propagate=False)
    naive = Naive(model, {}, batch.flat.log_zero, getattr(strategy, "penalty_weight", 0.0))
    for _ in range(4):
        batch.run(3)
        if isinstance(strategy, GlsPlus):
            naive.penalties = penalties_of(batch.searches[0], model)
        x, gains = batch.assignments[0].tolist(), batch.gains[0]
        for i in range(model.num_variables):
            for value in range(model.domain_sizes[i]):
                move = batch.flat.move_starts[i] + value
                assert gains[move] == pytest.approx(naive.gain(x, (i, value)), abs=1e-6)


@pytest.mark.parametrize("strategy", ["tree", "auto"])
def test_gains_of_a_strategy_that_keeps_none_are_those_of_where_it_stands(strategy: str) -> None:
    batch = batch_of(strategy)
    batch.run(300)
    shown, stands = batch.gains, SearchBatch(COLORING, QUERIES, Greedy(), start=batch.assignments).gains
    is_free = [np.repeat(np.isin(range(40), free_variables(search)), 3) for search in batch.searches]
    assert shown[np.array(is_free)] == pytest.approx(stands[np.array(is_free)], abs=1e-6)


def test_each_run_adds_so_many_steps() -> None:
    batch = batch_of()
    for steps in (10, 0, 30):
        batch.run(steps)
    assert [result.steps for result in batch.results] == [40] * 5
    assert {result.stop for result in batch.results} == {"steps"}


def test_running_until_a_stop_counts_from_the_beginning() -> None:
    batch = batch_of()
    batch.run_until(MaxSteps(30))
    batch.run_until(MaxSteps(80))
    assert [result.steps for result in batch.results] == [80] * 5
    batch.run_until(NoImprovement(200))
    assert {result.stop for result in batch.results} == {"no improvement"}
    assert [r.steps - r.trace.steps[-1] for r in batch.results] == [200] * 5


def test_a_search_that_is_proved_optimal_stands_still_while_others_go_on() -> None:
    chain = families.ising_grid(rows=1, columns=6, field=0, seed=0)  # every coupling can be satisfied
    best = SearchBatch(chain, [{}])
    best.run(400)
    frustrated = {0: int(best.best_assignments[0, 0]), 5: 1 - int(best.best_assignments[0, 5])}
    batch = SearchBatch(chain, [{}, frustrated])
    batch.run(400)
    assert batch.results[0].is_optimal
    assert batch.results[0].steps < 400
    assert (batch.results[1].stop, batch.results[1].steps) == ("steps", 400)


def test_a_batch_that_has_not_run_stands_at_its_start() -> None:
    starts = np.array([[query.get(i, 1) for i in range(40)] for query in QUERIES])
    batch = SearchBatch(COLORING, QUERIES, start=starts)
    assert batch.assignments.tolist() == batch.best_assignments.tolist() == starts.tolist()
    assert [result.steps for result in batch.results] == [0] * 5
    assert [len(trace) for trace in batch.traces] == [1] * 5


def test_a_batch_of_no_queries_runs() -> None:
    batch = SearchBatch(COLORING, [])
    batch.run(10)
    assert batch.results == []
    assert batch.assignments.shape == batch.best_assignments.shape == batch.observed.shape == (0, 40)
    assert batch.gains.shape == (0, 120)
    assert batch.best_scores.shape == (0,)
    assert batch.assignments.dtype == batch.best_assignments.dtype == np.int64


def test_a_table_is_a_search_per_row() -> None:
    name = COLORING.names[3]
    batch = SearchBatch(COLORING, pa.table({name: ["1", None, "2"]}))
    assert batch.evidences == [{3: 1}, {}, {3: 2}]
    assert batch.assignments[[0, 2], 3].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": "queries.csv"}, "found the path 'queries.csv'; read it: .*read_evidence_table"),
        ({"queries": None}, "expected a list of mappings, .*; found None"),
        ({"model": "grid.uai"}, r"found the path 'grid.uai'; read it: beacon.read_model\('grid.uai'\)"),
        ({"seed": -1}, "seed must be a whole number of at least 0; found -1"),
        ({"threads": "2"}, "threads must be a whole number of at least 1; found '2'"),
    ],
)
def test_arguments_of_the_wrong_kind_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SearchBatch(**{"model": COLORING, "queries": QUERIES, **arguments})


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("5", "MaxSteps needs a number; found '5'"),
        (2.5, "MaxSteps needs a whole number of steps; found 2.5"),
        (-1, "MaxSteps needs a limit of 0 or more; found -1"),
        (float("inf"), "the stop would never end a search"),
    ],
)
def test_steps_that_cannot_be_made_are_refused_at_any_time(steps: Any, message: str) -> None:
    batch = batch_of()
    batch.run(7)
    with pytest.raises(UsageError, match=message):
        batch.run(steps)
    assert [search.steps for search in batch.searches] == [7] * 5


def test_mistakes_are_refused() -> None:
    with pytest.raises(UsageError, match="threads must be a whole number of at least 1; found 0"):
        batch_of(threads=0)
    with pytest.raises(EvidenceError, match=r"variable indices are 0\.\.39; found 40"):
        SearchBatch(COLORING, [{40: 0}])
    with pytest.raises(
        ModelError, match=r"log_zero must be at least -1e\+15 and below the lowest log-potential"
    ):
        SearchBatch(COLORING, [{}], log_zero=0.0)
    with pytest.raises(UsageError, match="MaxSteps needs a limit of 0 or more; found -1"):
        batch_of().run(-1)


def test_running_until_a_stop_that_may_never_come_is_refused() -> None:
    with pytest.raises(UsageError, match="the stop would never end a search"):
        batch_of().run_until(TargetScore(-1e9))
