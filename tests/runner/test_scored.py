"""Guides that are asked once: when their starts are known, and searches one by one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from beacon.engine.cross import MOST_LATER, descent_seconds
from beacon.guide.solved import SolvedGuide
from beacon.guide.trivial import OracleGuide
from beacon.guided.guidance import GuideUse
from beacon.model.families import ising_grid
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.batch import SearchBatch
from beacon.runner.in_step import GuidedBatch
from beacon.runner.result import Outcome
from beacon.runner.runner import Query, Runner
from beacon.runner.scored import crosses, given_starts, is_asked_first, with_opinions
from beacon.runner.stop import MaxSteps, Stop
from beacon.strategies.auto import Auto
from tests.guide.helpers import evidence_of, random_states
from tests.runner.test_in_step import CountingGuide

GRID = ising_grid(6, 6, seed=3)
QUERIES = evidence_of(random_states(GRID, 4, seed=1, share=0.2))


def outcomes(
    use: GuideUse, guide: CountingGuide | None, stops: list[Stop], threads: int, batch_size: int = 256
) -> list[Outcome]:
    """What a runner makes of the queries, in their order."""
    runner = Runner(GRID, "gls+", guide, use, threads=threads, batch_size=batch_size)
    queries = [Query(evidence) for evidence in QUERIES]
    return [outcome for _, outcome in sorted(runner.run(queries, stops, lambda k, o: o))]


@pytest.mark.parametrize("use", [GuideUse(), GuideUse(weight=0.5), GuideUse(restart_from="guide")])
@pytest.mark.parametrize(("threads", "batch_size"), [(1, 256), (2, 256), (2, 3)])
def test_searches_one_by_one_are_those_of_a_batch(use: GuideUse, threads: int, batch_size: int) -> None:
    batch = GuidedBatch(GRID, QUERIES, CountingGuide(GRID), use, threads=1)
    batch.run_until(MaxSteps(300))
    guide = CountingGuide(GRID)
    found = outcomes(use, guide, [MaxSteps(100), MaxSteps(300)], threads, batch_size)
    assert guide.asked == ([4] if batch_size > 4 else [3, 1])
    for ours, theirs in zip(found, batch.outcomes, strict=True):
        assert ours.assignment.tolist() == theirs.assignment.tolist()
        assert ours.trace.scores == pytest.approx(theirs.trace.scores)
        assert ours.trace.steps.tolist() == theirs.trace.steps.tolist()


def test_without_a_guide_they_are_unguided_searches() -> None:
    plain = SearchBatch(GRID, QUERIES, "gls+")
    plain.run(200)
    found = outcomes(GuideUse("random"), None, [MaxSteps(200)], 1)
    assert [outcome.assignment.tolist() for outcome in found] == plain.best_assignments.tolist()


def test_a_guide_that_is_asked_for_nothing_is_not_asked() -> None:
    guide = CountingGuide(GRID)
    found = outcomes(GuideUse("random"), guide, [MaxSteps(200)], 1)
    assert guide.asked == []
    assert [outcome.steps for outcome in found] == [200] * 4


def test_a_start_that_implied_values_spoil_counts_only_as_far_as_the_search_has_it() -> None:
    tables = [((0, 1), [0.0, -np.inf, -np.inf, 0.0]), ((1,), [5.0, 0.0])]
    model = GraphicalModel.from_tables([2, 2], tables)
    batch = GuidedBatch(model, [{0: 1}], OracleGuide(model, np.array([1, 1])), GuideUse(), start=[1, 0])
    (trace,) = (
        outcome.trace for outcome in batch.outcomes
    )  # the given start breaks a factor, the guide's does not
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
    rows = given_starts(GRID, QUERIES, [None] * 4, 3)
    assert given_starts(GRID, QUERIES, list(rows), 0).tolist() == rows.tolist()


REFERENCES = np.random.default_rng(0).integers(0, 2, (MOST_LATER + 100, 36))


def test_answers_after_the_nearest_have_the_first_turn_later() -> None:
    guide, query = SolvedGuide(GRID, REFERENCES), Query({0: 1, 5: 0})
    observed = np.isin(np.arange(36), [0, 5])
    nearest = guide.opinions(np.eye(36, dtype=np.int64)[0], observed, 3 + MOST_LATER)
    use, flat = GuideUse("own", opinions=3, later_share=0.1), compile_model(GRID)
    asked = with_opinions(query, flat, guide, use, math.inf)
    assert asked.opinions is not None
    assert asked.later is not None
    assert asked.opinions.tolist() == nearest[:3].tolist()
    assert asked.later.rows.tolist() == [*nearest[3:].tolist(), *nearest[:3].tolist()]
    assert asked.later.share == 0.1


def test_time_and_settings_say_whether_there_are_later_crossings() -> None:
    guide, query, flat = SolvedGuide(GRID, REFERENCES), Query({0: 1}), compile_model(GRID)
    later = GuideUse("own", opinions=0, later_share=0.1)
    assert crosses(guide, later)
    assert with_opinions(query, flat, guide, later, 1.0).later is not None
    assert with_opinions(query, flat, guide, later, 1e-6) is query
    assert with_opinions(query, flat, guide, GuideUse(opinions=3, later_share=0.1), 1.0).later is None
    assert not crosses(guide, GuideUse(opinions=0))


def test_with_longer_limits_than_it_is_for_a_guide_is_asked_for_later_crossings_alone() -> None:
    use = GuideUse("messages", later_share=0.1, least_seconds=0.01, most_seconds=0.1)
    assert use.within(0.001) is None
    assert use.within(0.1) == use
    later = use.within(1.0)
    assert later is not None
    assert (later.start, later.opinions, later.later_share) == ("own", 0, 0.1)
    assert replace(use, later_share=0.0).within(1.0) is None
    assert replace(use, later_seconds=1.0).within(1.0) is None
    assert replace(use, later_seconds=0.9).within(1.0) == replace(later, later_seconds=0.9)
    assert GuideUse(weight=0.5, later_share=0.1, most_seconds=0.1).within(1.0) is None


def test_a_guided_mix_crosses_its_best_later() -> None:
    model, mix = ising_grid(30, 30, seed=3), Auto(exact=False)
    query, long, short = Query({0: 1}), [MaxSteps(200_000)], [MaxSteps(20_000)]
    guide = SolvedGuide(model, Runner(model, mix).outcome(query, long).assignment[None])
    uses = GuideUse("random"), GuideUse("own", opinions=0, later_share=0.2)
    plain, crossed = (
        next(Runner(model, mix, guide, use).run([query], short, lambda _, outcome: outcome))[1]
        for use in uses
    )
    assert crossed.score > plain.score + 1e-6
    assert crossed.score == pytest.approx(model.log_score(crossed.assignment))


def test_no_more_answers_are_fetched_for_later_than_the_time_can_pay_for() -> None:
    guide, query, flat = SolvedGuide(GRID, REFERENCES), Query({0: 1}), compile_model(GRID)
    use, one = GuideUse("own", opinions=0, later_share=0.1), descent_seconds(flat)
    asked = with_opinions(query, flat, guide, use, 3.5 * one / use.later_share)
    assert asked.later is not None
    assert len(asked.later.rows) == 3
