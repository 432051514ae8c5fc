"""Guides that are asked once: when their starts are known, and searches one by one."""

from __future__ import annotations

import numpy as np
import pytest

from beacon.guide.trivial import OracleGuide
from beacon.guided.use import GuideUse
from beacon.model.families import ising_grid
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.batch import SearchBatch
from beacon.runner.in_step import GuidedBatch
from beacon.runner.scored import LoneSearches, ScoredStarts, given_starts, is_asked_first
from beacon.runner.stop import MaxSteps
from beacon.strategies.gls import GlsPlus
from tests.guide.helpers import evidence_of, random_states
from tests.runner.test_guided_batch import CountingGuide

GRID = ising_grid(6, 6, seed=3)
FLAT = compile_model(GRID)
QUERIES = evidence_of(random_states(GRID, 4, seed=1, share=0.2))


def lone(use: GuideUse, scored: ScoredStarts | None) -> LoneSearches:
    return LoneSearches(FLAT, QUERIES, GlsPlus().fitted(FLAT), use, None, scored, 0, True)


def asked() -> ScoredStarts:
    given = given_starts(GRID, QUERIES, "random", 0)
    return ScoredStarts.ask(GRID, FLAT, QUERIES, CountingGuide(GRID), given, 0.0)


@pytest.mark.parametrize("use", [GuideUse(), GuideUse(weight=0.5), GuideUse(restart_from="guide")])
@pytest.mark.parametrize("threads", [1, 2])
def test_searches_one_by_one_are_those_of_a_batch(use: GuideUse, threads: int) -> None:
    batch = GuidedBatch(GRID, QUERIES, CountingGuide(GRID), use, threads=1)
    batch.run_until(MaxSteps(300))
    for run, search, trace in zip(
        lone(use, asked()).run([MaxSteps(100), MaxSteps(300)], threads),
        batch.batch.searches,
        batch.traces,
        strict=True,
    ):
        assert run.assignment.tolist() == search.best_assignment.tolist()
        assert run.trace.scores == pytest.approx(trace.scores)
        assert run.trace.steps.tolist() == trace.steps.tolist()


def test_without_a_guide_they_are_unguided_searches() -> None:
    plain = SearchBatch(GRID, QUERIES, "gls+")
    plain.run(200)
    runs = list(lone(GuideUse("random"), None).run([MaxSteps(200)], 1))
    assert [run.assignment.tolist() for run in runs] == plain.best_assignments.tolist()


def test_a_start_that_implied_values_spoil_counts_only_as_far_as_the_search_has_it() -> None:
    tables = [((0, 1), [0.0, -np.inf, -np.inf, 0.0]), ((1,), [5.0, 0.0])]
    model = GraphicalModel.from_tables([2, 2], tables)
    batch = GuidedBatch(model, [{0: 1}], OracleGuide(model, np.array([1, 1])), GuideUse(), start=[1, 0])
    (trace,) = batch.traces  # the given start breaks a factor, the guide's does not
    assert trace.zero_factors.tolist() == [1, 0]
    assert 0 == trace.seconds[0] < trace.seconds[1] <= batch.setup_seconds


@pytest.mark.parametrize(
    ("use", "first"),
    [
        (GuideUse(), True),
        (GuideUse("random"), True),
        (GuideUse(weight=0.5), True),
        (GuideUse(weight=0.5, refresh=50), False),
        (GuideUse("random", weight=0.5), False),
    ],
)
def test_a_guide_of_states_is_asked_first_unless_it_must_see_later_ones(use: GuideUse, first: bool) -> None:
    assert is_asked_first(CountingGuide(GRID), use) == first


def test_given_starts_are_taken_as_they_are() -> None:
    rows = given_starts(GRID, QUERIES, "random", 3)
    assert given_starts(GRID, QUERIES, rows, 0).tolist() == rows.tolist()
