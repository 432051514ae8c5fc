"""Which searches by the clock are made, and when they may end."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import clock
import pytest
from clock import TUNED, Task, optimum_of, tasks_left

NONE = "-inf"


def _arguments(**changed: object) -> SimpleNamespace:
    asked = {"first": 0, "queries": 1, "methods": ["auto", TUNED, "daoopt"], "models": ["BN_30", "wcsp_14"]}
    return SimpleNamespace(run=Path("run"), seconds=60, **{**asked, **changed})


def _row(network: str, query: int, method: str, score: str, proof: str = "") -> dict[str, str]:
    return {"network": network, "query": str(query), "method": method, "score": score, "proof": proof}


@pytest.fixture(autouse=True)
def _one_network_asks_its_guide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "asks_guide", lambda run, network, seconds: network == "wcsp_14")


def test_a_tuned_default_that_is_the_mix_is_not_run_again() -> None:
    assert list(tasks_left(_arguments(), [])) == [
        Task("BN_30", 0, "auto"),
        Task("wcsp_14", 0, "auto"),
        Task("wcsp_14", 0, TUNED),
        Task("BN_30", 0, "daoopt"),
        Task("wcsp_14", 0, "daoopt"),
    ]


def test_what_has_a_row_is_not_made_again_and_the_first_queries_may_be_passed_over() -> None:
    arguments = _arguments(first=1, queries=3, methods=["auto"])
    rows = [_row("wcsp_14", 1, "auto", "-3")]
    assert list(tasks_left(arguments, rows)) == [
        Task("BN_30", 1, "auto"),
        Task("BN_30", 2, "auto"),
        Task("wcsp_14", 2, "auto"),
    ]


@pytest.mark.parametrize(
    ("scores", "is_asked"),
    [([NONE, NONE], True), ([NONE, NONE, NONE], False), ([NONE, "-3", NONE], True)],
    ids=["two failures", "three failures", "an answer"],
)
def test_daoopt_is_given_up_on_a_network_after_three_failures(scores: list[str], is_asked: bool) -> None:
    rows = [_row("BN_30", query, "daoopt", score) for query, score in enumerate(scores)]
    arguments = _arguments(first=5, queries=6, methods=["daoopt"], models=["BN_30"])
    assert list(tasks_left(arguments, rows)) == [Task("BN_30", 5, "daoopt")] * is_asked


def test_an_optimum_is_known_only_from_a_proof_of_the_same_query() -> None:
    rows = [_row("BN_30", 0, "auto", "-4"), _row("BN_30", 1, "toulbar2", "-5", "toulbar2")]
    assert optimum_of(Task("BN_30", 0, "greedy"), rows) == math.inf
    assert optimum_of(Task("BN_30", 1, "greedy"), rows) == pytest.approx(-5)
    assert optimum_of(Task("BN_30", 1, "greedy"), rows) < -5
