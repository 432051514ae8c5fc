from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beacon.errors import UsageError
from beacon.evaluation.evaluate import evaluate_network, queries_of
from beacon.evaluation.method import Budget, Query
from beacon.evaluation.records import record_store
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.stop import MaxSteps, random_start
from beacon.solver import solve
from tests.evaluation.helpers import (
    engine_methods,
    evaluated,
    network_of,
    repeatable,
    small_network,
    some_queries,
)


def test_every_method_meets_every_query_and_seed_once(tmp_path: Path) -> None:
    rows = evaluated(tmp_path, small_network(), engine_methods("greedy", "auto"), seeds=(0, 4))
    keys = [(row["method"], row["seed"], row["query"]) for row in rows]
    assert keys == [(m, s, q) for m in ("auto", "greedy") for s in (0, 4) for q in range(4)]


def test_all_methods_begin_at_the_same_start(tmp_path: Path) -> None:
    network = small_network()
    rows = evaluated(tmp_path, network, engine_methods("greedy", "gls+", "tree", "auto"))
    for query in queries_of(network, some_queries(network), 0):
        first = [row["trace_scores"][0] for row in rows if row["query"] == query.index]
        assert first == pytest.approx([network.model.log_score(query.start)] * 4)


def test_starts_are_uniform_keep_the_evidence_and_depend_on_evidence_and_seed() -> None:
    model = GraphicalModel.from_tables([2, 3, 5, 2], [])
    starts = np.array([random_start(model, {3: 1}, seed) for seed in range(3000)])
    assert (starts[:, 3] == 1).all()
    for variable, size in ((0, 2), (1, 3), (2, 5)):
        assert np.bincount(starts[:, variable]) / 3000 == pytest.approx([1 / size] * size, abs=0.04)
    assert (random_start(model, {}, 7) == random_start(model, {}, 7)).all()
    assert any((random_start(model, {}, q)[:3] != random_start(model, {3: 1}, q)[:3]).any() for q in range(5))


def test_scores_at_step_budgets_are_those_of_a_plain_search(tmp_path: Path) -> None:
    network, budget = small_network(), Budget(steps=(1, 7, 50))
    queries = some_queries(network)
    (method,) = engine_methods("gls+")
    rows = evaluated(tmp_path, network, [method], budget=budget, queries=queries)
    for query, row in zip(queries_of(network, queries, 0), rows, strict=True):
        for steps, score in zip(budget.steps, row["step_scores"], strict=True):
            result = solve(
                network.model,
                query.evidence,
                strategy="gls+",
                start=query.start,
                stop=MaxSteps(steps),
                propagate=False,
            )
            assert score == pytest.approx(result.log_score)


def test_the_number_of_threads_changes_nothing(tmp_path: Path) -> None:
    network, queries, methods = (
        small_network(),
        some_queries(small_network(), 6),
        engine_methods("greedy", "tree"),
    )
    found = []
    for threads in (1, 3):
        with record_store(tmp_path / str(threads)) as store:
            evaluate_network(network, queries, methods, Budget(steps=(40,)), store, threads=threads)
            store.flush()
            found.append([repeatable(row) for row in store.rows()])
    assert found[0] == found[1]


@pytest.fixture
def _set_up_in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the set-up alone may use up a small budget."""
    monkeypatch.setattr("beacon.runner.runner.perf_counter", lambda: 0.0)


@pytest.mark.usefixtures("_set_up_in_no_time")
def test_with_time_to_spare_a_search_goes_on_after_its_steps(tmp_path: Path) -> None:
    rows = evaluated(
        tmp_path, small_network(), engine_methods("gls+"), budget=Budget(steps=(5,), seconds=(0.001, 0.1))
    )
    assert all(row["steps"] > 5 and len(row["second_scores"]) == 2 for row in rows)
    assert all(row["second_scores"][-1] <= row["score"] + 1e-9 for row in rows)


@pytest.mark.usefixtures("_set_up_in_no_time")
def test_budgets_in_seconds_alone_will_do(tmp_path: Path) -> None:
    rows = evaluated(tmp_path, small_network(), engine_methods("greedy"), budget=Budget((), (0.005,)))
    assert all(row["step_scores"] == [] and row["steps"] > 0 for row in rows)


def test_propagation_fixes_what_follows_and_keeps_the_rest_of_the_start() -> None:
    from beacon.evaluation.method import EngineMethod  # noqa: PLC0415

    equal = [0.0, -np.inf, -np.inf, 0.0]
    frustrated = [((1, 2), [0.0, -1.0, -2.0, 0.0]), ((1, 2), [-1.0, 0.0, 0.0, -3.0])]
    network = network_of(GraphicalModel.from_tables([2, 2, 2], [((0, 1), equal), *frustrated]))
    query = Query(0, {0: 1}, np.array([1, 0, 1]))
    runs = {
        propagate: next(
            EngineMethod.named("greedy", propagate).run(network, [query], Budget(steps=(20,)), 0, 1)
        )[1]
        for propagate in (False, True)
    }
    assert runs[False].trace.zero_factors[0] == 1
    assert runs[True].trace.zero_factors[0] == 0
    assert all(run.assignment is not None and run.assignment[1] == 1 for run in runs.values())


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    network, queries, methods = small_network(), some_queries(small_network()), engine_methods("greedy")
    seen: list[str] = []
    budget = Budget(steps=(10,))
    with record_store(tmp_path) as store:
        evaluate_network(network, queries, methods, budget, store, on_run=seen.append)
        store.flush()
        evaluate_network(network, queries, methods, budget, store, on_run=seen.append)
        assert len(seen) == len(queries)
        methods = engine_methods("greedy", "gls+")
        evaluate_network(network, queries, methods, budget, store, on_run=seen.append)
    assert seen[len(queries) :] == ["grid, gls+"] * len(queries)


@pytest.mark.parametrize(
    ("steps", "seconds", "message"),
    [
        ((), (), "nothing to measure"),
        ((0, 5), (), "budgets in steps must be at least 1; found 0"),
        ((), (0.0,), "budgets in seconds must be positive numbers"),
        ((), (float("inf"),), "budgets in seconds must be positive numbers"),
    ],
)
def test_budgets_that_make_no_sense_are_refused(
    steps: tuple[int, ...], seconds: tuple[float, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Budget(steps, seconds)


def test_budgets_are_sorted_and_counted_once() -> None:
    assert Budget((50, 10, 50), (0.2, 0.1)) == Budget((10, 50), (0.1, 0.2))
