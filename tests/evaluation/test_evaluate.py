"""``beacon.evaluate``: methods of every kind, in memory or in a folder, with nothing printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import beacon
from beacon.errors import ModelError, UsageError
from beacon.evaluation.method import Budget, Network, Query, Run
from beacon.guide.fast_guide import FastGuide
from beacon.model.families import ising_grid
from beacon.runner.search import Trace
from tests.evaluation.helpers import repeatable
from tests.guide.helpers import random_weights

GRID = ising_grid(4, 4, seed=1)


class Zeros:
    """A method with the least that a method must have: every query variable at value 0."""

    name = "zeros"

    def prepare(self, network: Network) -> None:
        pass

    def run(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[tuple[Query, Run]]:
        for query in queries:
            values = np.zeros(network.model.num_variables, dtype=np.int64)
            values[list(query.evidence)] = list(query.evidence.values())
            score, zeros = network.floored_score(values)
            trace = Trace(np.array([0]), np.array([0.0]), np.array([score]), np.array([zeros]))
            yield query, Run(trace, values, 1, 0.0, 0.0, "steps", proved=False)


def test_names_strategies_solvers_and_objects_are_measured_side_by_side() -> None:
    queries = beacon.sample_queries(GRID, count=30)
    methods = ["greedy", beacon.GlsPlus(), beacon.find_peer("brute-force"), Zeros()]
    found = beacon.evaluate(GRID, queries, methods, steps=[5, 50], seconds=[5.0], seed=2)
    assert found.methods == ["greedy", "gls+", "brute-force", "zeros"]
    assert (found.networks, found.seeds, found.step_budgets) == (["model"], [2], [5, 50])
    exact = found.final_scores("model", "brute-force")
    assert exact.shape == (1, 3)
    assert found.final_scores("model", "gls+") == pytest.approx(exact)
    assert (found.final_scores("model", "zeros") <= exact + 1e-9).all()
    assert np.isnan(found.scores("model", "brute-force", "step", 5)).all()


def test_evidence_may_come_in_any_form_and_results_are_those_of_a_search() -> None:
    evidences = [{"x_0_0": 1}, {"x_1_1": 0, "x_2_2": 1}]
    found = beacon.evaluate(GRID, evidences, ["gls+"], steps=[40])
    assert len(found.records) == 2
    for record, evidence in zip(found.records, evidences, strict=True):
        assert all(record.assignment[GRID.names.index(name)] == value for name, value in evidence.items())
        assert record.score == pytest.approx(GRID.log_score(np.array(record.assignment)))


def test_seconds_alone_leave_out_the_default_steps() -> None:
    found = beacon.evaluate(GRID, methods=["greedy"], seconds=[0.001], count=2)
    assert (found.step_budgets, found.second_budgets) == ([], [0.001])


def test_a_guide_object_serves_the_guided_methods() -> None:
    guide = FastGuide(GRID, random_weights(GRID))
    found = beacon.evaluate(GRID, None, ["beacon-gls+"], steps=[20], guide=guide, lambdas=[0.2], count=2)
    assert found.weights == {"beacon-gls+": 0.5, "beacon-gls+ λ=0.2": 0.2}


def test_a_folder_keeps_results_and_the_same_call_goes_on(tmp_path: Path) -> None:
    heard: list[tuple[str, int, int]] = []

    def measured(methods: list[str]) -> beacon.Evaluation:
        return beacon.evaluate(
            GRID,
            methods=methods,
            steps=[10],
            count=3,
            folder=tmp_path,
            on_progress=lambda *progress: heard.append(progress),
        )

    measured(["greedy"])
    assert heard[-1] == ("model, greedy", 3, 3)
    again = measured(["greedy", "gls+"])
    assert [done for _, done, _ in heard] == [1, 2, 3, 1, 2, 3]
    loaded = beacon.Evaluation.load(tmp_path)
    assert [repeatable(vars(r)) for r in loaded.records] == [repeatable(vars(r)) for r in again.records]
    assert len(loaded.records) == 6


def test_what_is_refused_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("x_0_0\n0\n1\n")
    place, own = tmp_path / "run", tmp_path / "own.csv"
    with pytest.raises(UsageError, match="no queries of that split; choose another with --split"):
        beacon.evaluate(GRID, own, ["greedy"], steps=[5], folder=place)
    with pytest.raises(UsageError, match="beacon-gls\\+ needs a guide"):
        beacon.evaluate(GRID, None, ["beacon-gls+"], steps=[5], count=2, folder=place)
    assert [*place.iterdir()] == []
    beacon.evaluate(GRID, own, ["greedy"], steps=[5], folder=place, split="train")
    before = (place / "run.json").read_text()
    with pytest.raises(UsageError, match="needs a guide"):
        beacon.evaluate(GRID, own, ["beacon"], steps=[5], folder=place, split="train", seeds=2)
    assert (place / "run.json").read_text() == before


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    beacon.compile_kernels()  # a fresh machine may say that it compiles
    capfd.readouterr()
    beacon.evaluate(GRID, methods=["greedy"], steps=[10], count=2).report(tmp_path / "page")
    assert capfd.readouterr() == ("", "")


def test_results_in_memory_can_be_reported_and_saved(tmp_path: Path) -> None:
    found = beacon.evaluate(GRID, methods=["greedy", "gls+"], steps=[10], count=2)
    page = found.report(tmp_path / "page", title="Mine")
    assert page == tmp_path / "page" / "report.html"
    assert "<h1>Mine</h1>" in page.read_text(encoding="utf-8")
    assert {path.name for path in page.parent.iterdir()} == {"report.html", "tables", "plots"}
    with pytest.raises(UsageError, match="the evaluation has no folder of its own"):
        found.report()
    found.save(tmp_path / "kept")
    kept = beacon.Evaluation.load(tmp_path / "kept")
    assert kept.records == found.records
    assert kept.report().parent == tmp_path / "kept"
    with pytest.raises(UsageError, match="holds an evaluation already"):
        found.save(tmp_path / "kept")


def test_wrong_arguments_are_one_line() -> None:
    with pytest.raises(UsageError, match="no method is called 'gsl"):
        beacon.evaluate(GRID, methods=["gsl+"])
    with pytest.raises(UsageError, match="count is for sampled queries"):
        beacon.evaluate(GRID, [{0: 0}], methods=["greedy"], count=2)
    with pytest.raises(UsageError, match="found neither among the methods"):
        beacon.evaluate(GRID, methods=["beacon", beacon.Greedy()], lambdas=[0.5], count=2)
    with pytest.raises(UsageError, match="split must be train, validation or test; found 'x'"):
        beacon.evaluate(GRID, methods=["greedy"], split="x")
    with pytest.raises(UsageError, match="expected a model, found the path"):
        beacon.evaluate("grid.uai")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="these queries are for another model"):
        beacon.evaluate(GRID, beacon.sample_queries(ising_grid(3, 3), count=10))


def test_a_suite_is_evaluated_in_python(tmp_path: Path) -> None:
    beacon.write_model(GRID, tmp_path / "grid.uai")
    suite = tmp_path / "suite.toml"
    suite.write_text('[[network]]\nname = "grid"\nfile = "grid.uai"\n', encoding="utf-8")
    settings = beacon.EvaluateSettings(methods=("greedy",), steps=(5,), count=2)
    found = beacon.evaluate_suite(suite, tmp_path / "run", settings)
    assert (found.networks, found.methods, len(found.records)) == (["grid"], ["greedy"], 2)
