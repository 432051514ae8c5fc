"""Training the fast guide."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from beacon.errors import MissingDependencyError, ModelError, UsageError
from beacon.guide.measure import prediction_quality
from beacon.guide.trivial import FrequencyGuide
from beacon.guided.guide import States
from beacon.learn.examples import Examples, measured
from beacon.learn.fast import train_fast
from beacon.learn.train import FastSettings
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import sample_queries
from tests.guide.helpers import MIXED, chain, solved_queries, trajectories_of

SETTINGS = FastSettings(width=16, max_epochs=15, patience=3)
CHAIN = chain()
QUERIES, TRAJECTORIES = solved_queries(CHAIN, 150)


@pytest.fixture(scope="module")
def trained() -> Any:
    return train_fast(CHAIN, QUERIES, TRAJECTORIES, SETTINGS, seed=1)


def frequencies(model: GraphicalModel) -> FrequencyGuide:
    train = Examples.of_split(QUERIES, TRAJECTORIES, "train")
    return FrequencyGuide.from_references(model, train.references, train.observed)


def test_where_evidence_matters_it_learns_to_use_it(trained: Any) -> None:
    test = Examples.of_split(QUERIES, TRAJECTORIES, "test")
    fast, counted = measured(trained, test), measured(frequencies(CHAIN), test)
    assert fast.loss < 0.8 * counted.loss
    assert fast.accuracy > counted.accuracy + 0.1


def test_epoch_zero_is_the_frequency_guide(trained: Any) -> None:
    validation = Examples.of_split(QUERIES, TRAJECTORIES, "validation")
    loss, accuracy = measured(frequencies(CHAIN), validation)
    first = trained.facts["history"][0]
    assert (first["epoch"], first["validation_loss"]) == (0, pytest.approx(loss, rel=1e-5))
    assert first["validation_accuracy"] == pytest.approx(accuracy)


def test_the_best_epoch_is_kept_and_all_are_recorded(trained: Any) -> None:
    history = trained.facts["history"]
    losses = [record["validation_loss"] for record in history]
    best = trained.facts["best_epoch"]
    assert best == int(np.argmin(losses)) > 0
    validation = Examples.of_split(QUERIES, TRAJECTORIES, "validation")
    assert measured(trained, validation).loss == losses[best]
    assert [record["epoch"] for record in history] == list(range(len(history)))
    assert len(history) - 1 == min(SETTINGS.max_epochs, best + SETTINGS.patience)
    assert history[-1]["train_loss"] < history[0]["train_loss"]
    assert history[-1]["seconds"] > 0


def test_the_same_seed_gives_the_same_weights(trained: Any) -> None:
    again = train_fast(CHAIN, QUERIES, TRAJECTORIES, SETTINGS, seed=1)
    assert all(np.array_equal(a, b) for a, b in zip(trained.weights, again.weights, strict=True))
    other = train_fast(CHAIN, QUERIES, TRAJECTORIES, SETTINGS, seed=2)
    assert not np.array_equal(trained.weights.embeddings, other.weights.embeddings)


def test_training_leaves_torchs_own_random_numbers_alone() -> None:
    import torch  # noqa: PLC0415

    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train_fast(CHAIN, QUERIES, TRAJECTORIES, replace(SETTINGS, max_epochs=1))
    assert torch.equal(torch.rand(3), expected)


def test_someone_may_listen() -> None:
    heard: list[dict[str, Any]] = []
    settings = replace(SETTINGS, max_epochs=3)
    guide = train_fast(CHAIN, QUERIES, TRAJECTORIES, settings, on_epoch=heard.append)
    assert heard == guide.facts["history"]
    assert len(heard) == 4


def test_test_queries_take_no_part() -> None:
    changed = TRAJECTORIES.references.copy()
    changed[QUERIES.split_of_queries == 2] = 0
    settings = replace(SETTINGS, max_epochs=2)
    guides = [
        train_fast(CHAIN, QUERIES, replace(TRAJECTORIES, references=references), settings)
        for references in (TRAJECTORIES.references, changed)
    ]
    assert np.array_equal(guides[0].weights.output_bias, guides[1].weights.output_bias)


def test_evidence_never_seen_says_nothing() -> None:
    queries = QUERIES
    observed = queries.observed.copy()
    observed[:, 4] = False
    unseen = replace(queries, observed=observed)
    guide = train_fast(CHAIN, unseen, TRAJECTORIES, replace(SETTINGS, max_epochs=2))
    assert guide.facts["best_epoch"] > 0
    nothing = States(np.zeros((1, 30), dtype=np.int64), np.zeros((1, 30), dtype=np.bool_))
    fourth = np.zeros((1, 30), dtype=np.bool_)
    fourth[0, 4] = True
    assert np.array_equal(guide.score(nothing), guide.score(States(nothing.assignments, fourth)))


def test_domains_of_all_sizes_can_be_learned() -> None:
    queries, trajectories = solved_queries(MIXED, 60)
    settings = FastSettings(width=8, max_epochs=4, evidence_dropout=0.2)
    guide = train_fast(MIXED, queries, trajectories, settings)
    likely = guide.probabilities(trajectories.references, queries.observed)
    quality = prediction_quality(guide.moves, likely, queries.observed, trajectories.references)
    assert quality.loss <= guide.facts["history"][0]["validation_loss"] + 0.5
    assert likely[:, 5].tolist() == [1.0] * 60
    assert guide.facts["settings"]["evidence_dropout"] == 0.2


def test_queries_that_ask_for_nothing_are_no_harm() -> None:
    everything = replace(QUERIES, observed=np.ones_like(QUERIES.observed))
    given = replace(TRAJECTORIES, references=QUERIES.samples)
    guide = train_fast(CHAIN, everything, given, replace(SETTINGS, max_epochs=2))
    assert np.isfinite(guide.weights.output_weights).all()


def test_queries_or_trajectories_of_another_model_are_refused() -> None:
    with pytest.raises(ModelError, match="these queries are for another model"):
        train_fast(chain(30, 1.0), QUERIES, TRAJECTORIES)
    with pytest.raises(ModelError, match="these trajectories are for another model"):
        train_fast(CHAIN, QUERIES, replace(TRAJECTORIES, fingerprint="other"))


def test_trajectories_of_other_queries_are_refused() -> None:
    short = replace(TRAJECTORIES, references=TRAJECTORIES.references[:7])
    with pytest.raises(UsageError, match="expected trajectories of these 150 queries, found those of 7"):
        train_fast(CHAIN, QUERIES, short)


@pytest.mark.parametrize("splits", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
def test_both_splits_are_needed(splits: tuple[float, float, float]) -> None:
    queries = sample_queries(CHAIN, 10, splits=splits)
    trajectories = trajectories_of(CHAIN, queries, queries.samples.astype(np.int64))
    with pytest.raises(UsageError, match=r"found no (train|validation) query: sample more queries"):
        train_fast(CHAIN, queries, trajectories)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"width": 0}, "width must be a whole number of at least 1; found 0"),
        ({"patience": 1.5}, "patience must be a whole number of at least 1; found 1.5"),
        ({"dropout": 1.0}, "dropout must be a share, 0 ≤ dropout < 1; found 1.0"),
        ({"evidence_dropout": -0.1}, "evidence_dropout must be a share"),
        ({"learning_rate": 0}, "learning_rate must be a positive number; found 0"),
        ({"smoothing": float("nan")}, "smoothing must be a positive number; found nan"),
        ({"weight_decay": -1}, "weight_decay must be a number of at least 0; found -1"),
    ],
)
def test_wrong_settings_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        FastSettings(**setting)


def test_without_torch_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match="training a guide needs torch; install it with"):
        FastSettings().train(CHAIN, QUERIES, TRAJECTORIES)
