from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from beacon.guide.fast_guide import FastGuide
from beacon.guide.trivial import OracleGuide, UniformGuide
from beacon.guided.guidance import Guidance, GuideUse
from beacon.guided.guide import StateBatch
from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.batch import SearchBatch
from beacon.runner.in_step import GuidedBatch
from beacon.runner.stop import MaxRuntime, MaxSteps
from beacon.solver import solve_many
from tests.guide.helpers import MIXED, evidence_of, random_states, random_weights

GRID = ising_grid(6, 6, seed=3)
QUERIES = evidence_of(random_states(GRID, 5, seed=1, share=0.2))


class CountingGuide:
    """A guide with a random opinion on every state, which remembers how many states it was asked about."""

    def __init__(self, model: GraphicalModel) -> None:
        self.num_moves = int(model.domain_sizes.sum())
        self.asked: list[int] = []

    def score(self, states: StateBatch) -> NDArray[np.float32]:
        """Scores that depend on the state alone."""
        self.asked.append(len(states.assignments))
        rows = [np.random.default_rng(row).random(self.num_moves) for row in states.assignments]
        return np.array(rows, dtype=np.float32)


def guided(guide: object, use: GuideUse, strategy: str = "gls+", seed: int = 0) -> GuidedBatch:
    return GuidedBatch(GRID, QUERIES, guide, use, strategy, seed=seed, threads=2)  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", ["greedy", "gls+", "tree", "auto"])
def test_a_guide_that_is_asked_for_nothing_changes_nothing(strategy: str) -> None:
    guide = CountingGuide(GRID)
    batch = guided(guide, GuideUse(start="random"), strategy)
    batch.run_until(MaxSteps(200))
    plain = SearchBatch(GRID, QUERIES, strategy)
    plain.run(200)
    assert guide.asked == []
    assert (batch.batch.best_assignments == plain.best_assignments).all()


@pytest.mark.parametrize("model", [GRID, MIXED])
def test_an_oracles_start_is_the_reference(model: GraphicalModel) -> None:
    states = random_states(model, 4, seed=2)
    references = np.where(states.observed, states.assignments, random_states(model, 4, seed=5).assignments)
    batch = GuidedBatch(model, evidence_of(states), OracleGuide(model, references), GuideUse(), seed=1)
    assert (batch.batch.assignments == references).all()


def test_an_oracle_alone_reaches_the_reference_by_one_right_step_after_another() -> None:
    references = np.array([r.assignment for r in solve_many(GRID, QUERIES, stop=MaxSteps(2000))])
    use = GuideUse(start="random", weight=1.0, candidates="all", refresh=1)
    batch = guided(OracleGuide(GRID, references), use)
    distances = np.count_nonzero(batch.batch.assignments != references, axis=1)
    batch.run_until(MaxSteps(int(distances.min())))
    left = np.count_nonzero(batch.batch.assignments != references, axis=1)
    assert (left == distances - distances.min()).all()


@pytest.mark.parametrize(("refresh", "asked"), [(0, [0]), (10, [0, 10, 20, 30]), (15, [0, 15, 30])])
def test_states_are_scored_at_the_steps_that_were_asked_for(refresh: int, asked: list[int]) -> None:
    use, guide = GuideUse("random", 0.5, "improving", refresh), CountingGuide(GRID)
    batch = guided(guide, use)
    batch.run_until(MaxSteps(40))
    expected = SearchBatch(GRID, QUERIES, "gls+")
    for k, step in enumerate(asked):
        end = asked[k + 1] if k + 1 < len(asked) else 40
        expected.run(end - step, CountingGuide(GRID).score(expected), Guidance(0.5, "improving"))
    assert guide.asked == [len(QUERIES)] * len(asked)
    assert (batch.batch.assignments == expected.assignments).all()


def test_running_in_pieces_is_the_same_as_running_in_one() -> None:
    use = GuideUse("random", 0.5, "improving", 7)
    whole, pieces = guided(CountingGuide(GRID), use), guided(CountingGuide(GRID), use)
    whole.run_until(MaxSteps(60))
    for steps in (1, 2, 13, 14, 40, 60):
        pieces.run_until(MaxSteps(steps))
    assert (whole.batch.assignments == pieces.batch.assignments).all()


def test_a_guide_of_the_evidence_alone_is_asked_once() -> None:
    guide = FastGuide(GRID, random_weights(GRID))
    batch = guided(guide, GuideUse("random", 0.5, "improving", 3))
    batch.run_until(MaxSteps(30))
    scores = batch.scores
    batch.run_until(MaxSteps(60))
    assert batch.scores is scores


def test_what_the_guide_took_is_charged_to_the_searches() -> None:
    class SlowGuide(UniformGuide):
        def score(self, states: StateBatch) -> NDArray[np.float32]:
            for search in self.searches:
                search.charge(60.0)
            return super().score(states)

    guide = SlowGuide(GRID)
    guide.searches = []  # type: ignore[attr-defined]
    batch = guided(guide, GuideUse("random", 0.5, "improving", 10))
    guide.searches = batch.batch.searches  # type: ignore[attr-defined]
    batch.run_until(MaxSteps(1000) | MaxRuntime(100.0))
    assert [search.steps for search in batch.batch.searches] == [10] * len(QUERIES)
    assert {outcome.stop for outcome in batch.outcomes} == {"seconds"}


def test_what_the_evidence_implies_outranks_the_guides_start() -> None:
    equal = GraphicalModel.from_tables([2, 2], [((0, 1), np.array([[0.0, -np.inf], [-np.inf, 0.0]]))])
    wrong = OracleGuide(equal, np.array([1, 0]))
    batch = GuidedBatch(equal, [{0: 1}], wrong, GuideUse())
    assert batch.batch.assignments.tolist() == [[1, 1]]
