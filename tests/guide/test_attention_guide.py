"""The attention network as a guide: scores that do not depend on what they are computed with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from beacon.errors import BeaconError, ModelError, UsageError
from beacon.guide import attention
from beacon.guide.attention import AttentionGuide, NetworkSettings
from beacon.guide.checkpoint import FACTS_FILE, load_guide
from beacon.guide.device import choose_device
from beacon.guided.guide import States
from beacon.model.families import random_bayes_net
from beacon.model.graphical_model import GraphicalModel
from tests.guide.test_network import SMALL, network_of

MODEL = random_bayes_net(num_variables=12, max_domain=4, seed=3)


def guide_of(model: GraphicalModel, settings: NetworkSettings = SMALL) -> AttentionGuide:
    facts = {"history": [{"number": 1}], "settings": {"seed": 5}}
    return AttentionGuide(model, network_of(int(model.domain_sizes.sum()), settings), "cpu", facts)


def random_states(model: GraphicalModel, count: int, seed: int = 0) -> States:
    """States with anything from no to all variables observed."""
    rng = np.random.default_rng(seed)
    assignments = rng.integers(model.domain_sizes, size=(count, model.num_variables))
    return States(assignments, rng.random(assignments.shape) < np.linspace(0, 1, count)[:, np.newaxis])


def test_scores_are_the_sigmoids_of_the_logits_of_each_move_alone() -> None:
    guide, states = guide_of(MODEL), random_states(MODEL, 5)
    scores = guide.score(states)
    starts = np.cumsum([0, *MODEL.domain_sizes])
    for row, (x, observed) in enumerate(zip(states.assignments, states.observed, strict=True)):
        tokens = torch.tensor(starts[:-1] + x + observed * starts[-1])[None]
        for i, size in enumerate(MODEL.domain_sizes):
            expected = np.zeros(size)
            for v in set(range(size)) - {x[i]} if not observed[i] else ():
                logit = guide.network(tokens, torch.tensor([[starts[i] + v]]))
                expected[v] = torch.sigmoid(logit).item()
            expected[x[i]] = np.clip(1 - expected.sum(), 0, 1)
            np.testing.assert_allclose(scores[row, starts[i] : starts[i + 1]], expected, atol=1e-5)


def test_a_batch_is_scored_as_its_states_are_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    guide, states = guide_of(MODEL), random_states(MODEL, 9)
    together = guide.score(states)
    alone = [guide.score(States(states.assignments[[k]], states.observed[[k]])) for k in range(9)]
    np.testing.assert_allclose(together, np.concatenate(alone), atol=1e-6)
    monkeypatch.setitem(attention.NUMBERS_AT_ONCE, "cpu", 5000)
    np.testing.assert_allclose(guide.score(states), together, atol=1e-6)


def test_some_moves_are_scored_as_they_are_among_all(monkeypatch: pytest.MonkeyPatch) -> None:
    guide, states = guide_of(MODEL), random_states(MODEL, 6)
    states.observed[:] = False
    starts = np.cumsum([0, *MODEL.domain_sizes])[:-1]
    moves = (starts + (states.assignments + 1) % MODEL.domain_sizes)[:, [0, 3, 7, 3]]
    expected = np.take_along_axis(guide.score(states), moves, axis=1)
    np.testing.assert_allclose(
        guide.score_moves(states.assignments, states.observed, moves), expected, atol=1e-6
    )
    monkeypatch.setitem(attention.NUMBERS_AT_ONCE, "cpu", 5000)
    np.testing.assert_allclose(
        guide.score_moves(states.assignments, states.observed, moves), expected, atol=1e-6
    )


def test_scores_are_probabilities_for_every_token() -> None:
    scores = guide_of(MODEL).score(random_states(MODEL, 4))
    assert scores.shape == (4, MODEL.domain_sizes.sum())
    assert scores.dtype == np.float32
    assert 0 <= scores.min() <= scores.max() <= 1


def test_states_without_moves_and_no_states_at_all_are_scored_too() -> None:
    guide = guide_of(MODEL)
    x = np.zeros((1, MODEL.num_variables), dtype=np.int64)
    scores = guide.score(States(x, np.ones(x.shape, dtype=np.bool_)))
    assert scores.sum() == MODEL.num_variables  # each variable stays as it is
    assert guide.score(States(x[:0], np.ones((0, x.shape[1]), dtype=np.bool_))).shape == (0, scores.shape[1])


def test_a_saved_guide_scores_the_same(tmp_path: Path) -> None:
    guide, states = guide_of(MODEL), random_states(MODEL, 3)
    guide.save(tmp_path / "guide")
    loaded = load_guide(tmp_path / "guide", MODEL, "cpu")
    assert isinstance(loaded, AttentionGuide)
    assert np.array_equal(loaded.score(states), guide.score(states))
    assert (loaded.settings, loaded.history) == (guide.settings, guide.history)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again" / FACTS_FILE).read_text() == (tmp_path / "guide" / FACTS_FILE).read_text()


def test_a_guide_is_refused_by_another_model(tmp_path: Path) -> None:
    guide_of(MODEL).save(tmp_path / "guide")
    with pytest.raises(ModelError, match="this guide is for another model"):
        load_guide(tmp_path / "guide", random_bayes_net(num_variables=12, seed=4))


def test_settings_that_do_not_fit_the_weights_are_found(tmp_path: Path) -> None:
    guide_of(MODEL).save(tmp_path / "guide")
    facts = tmp_path / "guide" / FACTS_FILE
    facts.write_text(facts.read_text().replace('"width": 12', '"width": 13'))
    with pytest.raises(BeaconError, match="the guide is damaged"):
        load_guide(tmp_path / "guide", MODEL)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_no_device() -> None:
    assert choose_device("auto") == torch.device("cpu")
    with pytest.raises(UsageError, match="device cuda was asked for and torch finds no GPU"):
        choose_device("cuda")


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(UsageError, match="device must be auto, cpu or cuda; found 'tpu'"):
        choose_device("tpu")
