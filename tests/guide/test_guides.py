"""One contract for every guide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from beacon.guide.checkpoint import load_guide
from beacon.guide.fast_guide import FastGuide
from beacon.guide.solved import SolvedGuide
from beacon.guide.trivial import FrequencyGuide, OracleGuide, UniformGuide
from beacon.guided.guide import EvidenceGuide, Guide, States
from beacon.guided.moves import Moves
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.batch import SearchBatch
from tests.guide.helpers import MIXED, chain, evidence_of, random_states, random_weights


def frequency_guide(model: GraphicalModel) -> FrequencyGuide:
    states = random_states(model, 20, seed=5)
    return FrequencyGuide.from_references(model, states.assignments, states.observed)


GUIDES: dict[str, Callable[[GraphicalModel], Guide]] = {
    "uniform": UniformGuide,
    "oracle": lambda model: OracleGuide(model, random_states(model, 1, seed=9).assignments[0]),
    "frequency": frequency_guide,
    "fast": lambda model: FastGuide(model, random_weights(model)),
    "solved": lambda model: SolvedGuide(model, random_states(model, 20, seed=5).assignments, neighbours=3),
}
MODELS = {"mixed": MIXED, "chain": chain(12)}
each_guide = pytest.mark.parametrize("make", GUIDES.values(), ids=GUIDES.keys())
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


@each_guide
@each_model
def test_scores_are_probabilities_with_one_column_per_move(
    make: Callable[[GraphicalModel], Guide], model: GraphicalModel
) -> None:
    scores = make(model).score(random_states(model))
    assert scores.shape == (7, model.domain_sizes.sum())
    assert scores.dtype == np.float32
    assert 0 <= scores.min() <= scores.max() <= 1


@each_guide
@each_model
def test_scores_of_a_variable_sum_to_one(
    make: Callable[[GraphicalModel], Guide], model: GraphicalModel
) -> None:
    totals = Moves.of(model).total(make(model).score(random_states(model)))
    np.testing.assert_allclose(totals, 1, rtol=1e-5)


@each_guide
@each_model
def test_a_batch_scores_bit_for_bit_as_one_by_one(
    make: Callable[[GraphicalModel], Guide], model: GraphicalModel
) -> None:
    guide, states = make(model), random_states(model, 40)
    alone = [
        guide.score(States(states.assignments[k : k + 1], states.observed[k : k + 1])) for k in range(40)
    ]
    assert np.array_equal(guide.score(states), np.concatenate(alone))


@each_guide
@each_model
def test_scores_move_with_their_rows(make: Callable[[GraphicalModel], Guide], model: GraphicalModel) -> None:
    guide, states = make(model), random_states(model, 20)
    order = np.random.default_rng(3).permutation(20)
    turned = guide.score(States(states.assignments[order], states.observed[order]))
    assert np.array_equal(turned, guide.score(states)[order])


@each_guide
@each_model
def test_a_search_batch_scores_as_its_states(
    make: Callable[[GraphicalModel], Guide], model: GraphicalModel
) -> None:
    guide, states = make(model), random_states(model)
    batch = SearchBatch(model, evidence_of(states), start=states.assignments)
    assert np.array_equal(guide.score(batch), guide.score(states))


@each_guide
@each_model
def test_scoring_changes_nothing_and_gives_the_same_again(
    make: Callable[[GraphicalModel], Guide], model: GraphicalModel
) -> None:
    guide, states = make(model), random_states(model)
    before = states.assignments.copy(), states.observed.copy()
    first = guide.score(states)
    kept = first.copy()
    first[:] = -1  # the caller may do as it likes with what it was given
    assert np.array_equal(guide.score(states), kept)
    assert np.array_equal(states.assignments, before[0])
    assert np.array_equal(states.observed, before[1])


@each_guide
@each_model
def test_no_states_give_no_scores(make: Callable[[GraphicalModel], Guide], model: GraphicalModel) -> None:
    empty = States(np.zeros((0, model.num_variables), np.int64), np.zeros((0, model.num_variables), np.bool_))
    assert make(model).score(empty).shape == (0, model.domain_sizes.sum())


@pytest.mark.parametrize("name", ["frequency", "fast", "solved"])
@each_model
def test_guides_of_the_evidence_do_not_look_at_free_variables(name: str, model: GraphicalModel) -> None:
    guide, states = GUIDES[name](model), random_states(model)
    assert isinstance(guide, EvidenceGuide)
    other = random_states(model, seed=11).assignments
    moved = States(np.where(states.observed, states.assignments, other), states.observed)
    assert np.array_equal(guide.score(moved), guide.score(states))


@pytest.mark.parametrize("name", ["frequency", "fast", "solved"])
@each_model
def test_a_saved_guide_scores_bit_for_bit_the_same(name: str, model: GraphicalModel, tmp_path: Path) -> None:
    guide, states = GUIDES[name](model), random_states(model)
    assert isinstance(guide, FrequencyGuide | FastGuide | SolvedGuide)
    guide.save(tmp_path / "a.guide")
    loaded = load_guide(tmp_path / "a.guide", model)
    assert type(loaded) is type(guide)
    assert np.array_equal(loaded.score(states), guide.score(states))


@pytest.mark.parametrize("name", ["frequency", "fast", "solved"])
def test_a_loaded_guide_can_be_saved_again_with_all_its_facts(name: str, tmp_path: Path) -> None:
    guide = GUIDES[name](MIXED)
    assert isinstance(guide, FrequencyGuide | FastGuide | SolvedGuide)
    guide.facts["history"] = [{"epoch": 0}]
    guide.save(tmp_path / "a.guide")
    again = load_guide(tmp_path / "a.guide", MIXED)
    assert isinstance(again, FrequencyGuide | FastGuide | SolvedGuide)
    again.save(tmp_path / "b.guide")
    texts = [(tmp_path / f"{letter}.guide" / "guide.json").read_text() for letter in "ab"]
    assert texts[0] == texts[1]
