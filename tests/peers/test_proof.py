"""Proofs by toulbar2 of what a search has found: better assignments taken, limits kept, interruptible."""

from __future__ import annotations

import math
import threading
from time import perf_counter

import numpy as np
import pytest

import beacon
from beacon.errors import MissingDependencyError
from beacon.model.families import ising_grid
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.peers.proof import Prover
from beacon.runner.result import Outcome
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.strategy import make_strategy
from tests.exact.small_models import KINDS, optimum, small_queries


def needs_toulbar2() -> None:
    pytest.importorskip("pytoulbar2")


def dense_model(variables: int = 90, values: int = 5) -> GraphicalModel:
    """Random tables between all variables: no solver proves anything about it in minutes."""
    rng = np.random.default_rng(0)
    pairs = [(i, j) for i in range(variables) for j in range(i)]
    tables = [(pair, rng.normal(size=(values, values))) for pair in pairs]
    return GraphicalModel.from_tables([values] * variables, tables)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_entries", [0, 10**6])
def test_what_is_proved_is_the_optimum(kind: str, max_entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_toulbar2()
    monkeypatch.setattr("beacon.peers.proof.MAX_ENTRIES", max_entries)  # none: toulbar2 gets all that is left
    for model, evidence in small_queries(kind, 12, seed=8):
        result = beacon.solve(model, evidence, strategy="greedy", stop=beacon.MaxSteps(1), prove=True)
        best = optimum(model, evidence)
        if best == -math.inf:
            assert result.is_impossible or result.proof == "bound"  # of the floored score
        else:
            assert result.is_optimal
            assert result.log_score == pytest.approx(best, abs=1e-5)
            assert result.trace.scores[-1] == pytest.approx(result.log_score)
            assert all(result.assignment[i] == value for i, value in evidence.items())


def test_a_poor_search_takes_the_better_assignment(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_toulbar2()
    monkeypatch.setattr("beacon.peers.proof.MAX_ENTRIES", 0)
    grid = ising_grid(12, 12, seed=3)
    alone = beacon.solve(grid, strategy="greedy", stop=beacon.MaxSteps(5))
    result = beacon.solve(grid, strategy="greedy", stop=beacon.MaxSteps(5), prove=True)
    exact = beacon.solve(grid, stop=beacon.MaxSteps(5))
    assert (alone.proof, result.proof, exact.proof) == (None, "toulbar2", "elimination")
    assert (result.stop, result.gap, result.steps) == ("optimal", 0.0, 5)
    assert alone.log_score < result.log_score == pytest.approx(exact.log_score, abs=1e-5)
    assert result.seconds > alone.seconds


def test_the_best_found_so_far_is_proved_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_toulbar2()
    monkeypatch.setattr("beacon.peers.proof.MAX_ENTRIES", 0)
    grid = ising_grid(12, 12, seed=4)
    best = beacon.solve(grid, stop=beacon.MaxSteps(5)).assignment
    result = beacon.solve(grid, strategy="gls+", stop=beacon.MaxSteps(0), start=best, prove=True)
    assert result.proof == "toulbar2"
    assert result.log_score == pytest.approx(grid.log_score(best), abs=1e-9)
    assert len(result.trace) == 1


def test_elimination_comes_first() -> None:
    needs_toulbar2()
    assert beacon.solve(ising_grid(6, 6), prove=True).proof == "elimination"


def test_the_time_limit_holds_for_search_and_proof_together() -> None:
    needs_toulbar2()
    began = perf_counter()
    result = beacon.solve(dense_model(), strategy="gls+", stop=beacon.MaxRuntime(2.0), prove=True)
    assert perf_counter() - began < 12.0  # a busy machine, and the model
    assert result.proof is None
    assert 1.0 <= result.seconds < 5.0


def test_an_interrupted_proof_keeps_what_the_search_has_found() -> None:
    needs_toulbar2()
    flat, cancelled = compile_model(dense_model()), threading.Event()
    search = Search(flat, {}, make_strategy("gls+"))
    outcome = Outcome.of(search, search.run(MaxSteps(100)))
    threading.Timer(1.5, cancelled.set).start()
    began = perf_counter()
    cut = Prover(math.inf).proved(flat, {}, outcome, cancelled)
    assert perf_counter() - began < 20.0
    assert (cut.proof, cut.stop) == (None, "interrupted")
    assert (cut.assignment == outcome.assignment).all()


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'beacon-mpe\[peers\]'"):
        beacon.solve(ising_grid(3, 3), prove=True)


@pytest.mark.parametrize("max_entries", [0, 10**6], ids=["toulbar2", "elimination"])
def test_a_proved_answer_may_come_with_alternatives_and_margins(
    max_entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_toulbar2()
    monkeypatch.setattr("beacon.peers.proof.MAX_ENTRIES", max_entries)
    stop, proofs = beacon.MaxSteps(50), set()
    for model, evidence in small_queries("plain", 8, seed=2):
        result = beacon.solve(
            model, evidence, strategy="gls+", prove=True, alternatives=4, margins=True, stop=stop
        )
        exact = beacon.solve(model, evidence, alternatives=4, margins=True, stop=stop)
        proofs.add(result.proof)
        assert result.log_score == pytest.approx(exact.log_score)
        assert result.alternatives is not None
        assert exact.alternatives is not None
        assert result.alternatives.exact == (result.proof == "elimination")
        for one, best in zip(result.alternatives, exact.alternatives, strict=False):
            assert one.log_score <= best.log_score + 1e-5
        assert result.margins is not None
        assert exact.margins is not None
        for name, losses in exact.margins.items():
            for value, loss in losses.items():
                assert result.margins.at_least[name][value] <= loss + 1e-5
                assert result.margins[name][value] >= loss - 1e-5
    assert ("toulbar2" if max_entries == 0 else "elimination") in proofs
