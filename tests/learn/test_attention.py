"""Training: it learns, it can be repeated, it goes on where it was stopped, and two do what one does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from beacon.errors import BeaconError, UsageError
from beacon.guide.attention import AttentionGuide, NetworkSettings
from beacon.learn.attention import (
    PRESETS,
    AttentionPreset,
    Epoch,
    Ranks,
    Trainer,
    TrainingState,
    hits,
    new_network,
    start_at_frequencies,
    state_losses,
)
from beacon.learn.states import Batch, TrajectoryStates
from beacon.learn.train import TrainingSettings, load_preset
from beacon.learn.trajectories import Trajectories
from beacon.model.families import random_bayes_net
from beacon.query.query_set import QuerySet, sample_queries
from tests.conftest import ROOT
from tests.learn.trajectory_helpers import walk_trajectories

MODEL = random_bayes_net(num_variables=8, max_domain=3, zero_fraction=0.1, seed=1)
TINY = AttentionPreset(
    NetworkSettings(embedding=8, heads=2, width=8, blocks=1, token_bias=False),
    TrainingSettings(learning_rate=0.01, batch=16, epochs=4, states_per_query=2, max_moves=5),
)


def data_of(count: int) -> tuple[QuerySet, Trajectories]:
    queries = sample_queries(MODEL, count, 0, query_ratio=(0.3, 0.8), splits=(0.7, 0.2, 0.1))
    return queries, walk_trajectories(MODEL, queries, runs=2, steps=6)


QUERIES, TRAJECTORIES = data_of(30)


def trained(preset: AttentionPreset = TINY, **settings: object) -> AttentionGuide:
    return preset.train(MODEL, QUERIES, TRAJECTORIES, device="cpu", **settings)  # type: ignore[arg-type]


def same_weights(first: AttentionGuide, second: AttentionGuide) -> bool:
    one, other = first.network.state_dict(), second.network.state_dict()
    return all(torch.equal(one[name], other[name]) for name in one)


def stop_in_epoch(number: int) -> Callable[[dict], None]:
    def stop(epoch: dict) -> None:
        if epoch["epoch"] == number:
            raise KeyboardInterrupt

    return stop


def test_losses_are_means_over_moves_and_padding_does_not_count() -> None:
    logits = torch.tensor([[2.0, -1.0, 9.0], [0.5, 0.0, 0.0]])
    labels = torch.tensor([[True, False, False], [False, True, True]])
    is_move = torch.tensor([[True, True, False], [True, False, False]])
    batch = Batch(logits, logits, labels, is_move, torch.zeros(2))
    first = (np.log1p(np.exp(-2.0)) + np.log1p(np.exp(-1.0))) / 2
    np.testing.assert_allclose(state_losses(logits, batch), [first, np.log1p(np.exp(0.5))], rtol=1e-6)


def test_a_hit_is_a_state_off_its_reference_whose_best_scored_move_brings_it_closer() -> None:
    logits = torch.tensor([[2.0, -1.0, 9.0], [0.5, 3.0, 0.0], [1.0, 0.0, 0.0]])
    labels = torch.tensor([[True, False, False], [True, False, True], [False, False, False]])
    is_move = torch.tensor([[True, True, False], [True, True, True], [True, True, True]])
    closer, away = hits(logits, Batch(logits, logits, labels, is_move, torch.zeros(3)))
    assert (int(closer), int(away)) == (1, 2)


def test_a_trained_network_predicts_better_than_the_frequencies_of_values() -> None:
    queries, trajectories = data_of(300)
    learner = AttentionPreset(
        NetworkSettings(embedding=16, heads=2, width=32, blocks=1, token_bias=False),
        TrainingSettings(learning_rate=5e-3, batch=32, epochs=25, states_per_query=2, patience=25),
    )
    guide = learner.train(MODEL, queries, trajectories, device="cpu")
    best = min(epoch["validation_loss"] for epoch in guide.history)
    assert best < 0.8 * frequency_loss(queries, trajectories, learner.training)
    assert max(epoch["top_move_accuracy"] for epoch in guide.history) > 0.9


def test_with_a_token_bias_training_starts_at_the_frequencies() -> None:
    learner = AttentionPreset(
        replace(TINY.network, token_bias=True), replace(TINY.training, validation_states_per_query=99)
    )
    device = torch.device("cpu")
    training, validation = (
        TrajectoryStates(MODEL, QUERIES, TRAJECTORIES, split, device) for split in ("train", "validation")
    )
    network = new_network(MODEL, learner, 0)
    start_at_frequencies(network, training)
    loss, _, _ = Trainer(network, training, validation, learner.training, 0, Ranks(device), 2**30).validate()
    assert loss == pytest.approx(frequency_loss(QUERIES, TRAJECTORIES, learner.training), rel=1e-5)


def frequency_loss(queries: QuerySet, trajectories: Trajectories, settings: TrainingSettings) -> float:
    """Validation loss of the frequencies of values among the training references that had to find them."""
    starts = np.cumsum([0, *MODEL.domain_sizes])
    counts = np.ones(starts[-1])
    is_training = queries.split_of_queries == 0
    for reference, observed in zip(
        trajectories.references[is_training], queries.observed[is_training], strict=True
    ):
        counts[(starts[:-1] + reference)[~observed]] += 1
    for i in range(len(starts) - 1):
        counts[starts[i] : starts[i + 1]] /= counts[starts[i] : starts[i + 1]].sum()
    states = TrajectoryStates(MODEL, queries, trajectories, "validation", torch.device("cpu"))
    batch = states.batch(states.draw(settings.validation_states_per_query, np.random.default_rng(0)))
    logits = torch.logit(torch.tensor(counts))[batch.move_tokens]
    return float(state_losses(logits, batch).mean())


def test_the_same_seed_gives_the_same_network_and_another_seed_another() -> None:
    state = torch.random.get_rng_state()
    guide = trained(seed=3)
    assert same_weights(guide, trained(seed=3))
    assert not same_weights(guide, trained(seed=4))
    assert torch.equal(torch.random.get_rng_state(), state)  # the caller's randomness is left alone


def test_parts_that_fit_in_memory_give_the_gradient_of_the_whole_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calm = AttentionPreset(replace(TINY.network, dropout=0.0), TINY.training)
    whole = trained(calm)
    per_state = whole.network.numbers_per_state(3, MODEL.num_variables) * 4
    monkeypatch.setattr("beacon.learn.attention.training_bytes", lambda _: 3 * per_state)
    in_parts = trained(calm)
    losses = [[e["train_loss"] for e in guide.history] for guide in (whole, in_parts)]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
    for one, other in zip(whole.network.parameters(), in_parts.network.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-3, rtol=1e-2)


def test_batches_are_split_by_memory() -> None:
    network = new_network(MODEL, TINY, 0)
    states = TrajectoryStates(MODEL, QUERIES, TRAJECTORIES, "train", torch.device("cpu"))
    picks = states.draw(2, np.random.default_rng(0))
    memory = 5 * 4 * network.numbers_per_state(5, MODEL.num_variables)
    trainer = Trainer(network, states, states, TINY.training, 0, Ranks(torch.device("cpu")), memory)
    parts = trainer.parts(states, picks, 5)
    assert torch.equal(torch.cat([part.queries for part in parts]), picks.queries)
    assert [part.size for part in parts[:-1]] == [5] * (len(parts) - 1)


def test_training_ends_when_patience_does_and_keeps_the_best_epoch() -> None:
    hasty = replace(TINY.training, learning_rate=0.3, epochs=30, patience=2)
    guide = trained(AttentionPreset(TINY.network, hasty))
    losses = [epoch["validation_loss"] for epoch in guide.history]
    best = int(np.argmin(losses))
    assert len(losses) == best + 1 + 2
    assert guide.facts["best_epoch"] == best + 1
    states = TrajectoryStates(MODEL, QUERIES, TRAJECTORIES, "validation", torch.device("cpu"))
    again = Trainer(guide.network, states, states, hasty, 0, Ranks(torch.device("cpu")), 2**30).validate()
    assert again[0] == pytest.approx(losses[best], rel=1e-6)


def test_losses_are_told_apart_by_the_distance_from_the_reference() -> None:
    guide = trained(TINY.changed(epochs=1, validation_states_per_query=99))
    (epoch,) = guide.history
    states = TrajectoryStates(MODEL, QUERIES, TRAJECTORIES, "validation", torch.device("cpu"))
    batch = states.batch(states.draw(99, np.random.default_rng(0)))
    with torch.no_grad():
        losses = state_losses(guide.network(batch.state_tokens, batch.move_tokens), batch)
    bounds = (-1.0, 0.1, 0.25, 0.5, 1.0)
    for low, high, found in zip(bounds[:-1], bounds[1:], epoch["validation_loss_by_distance"], strict=True):
        own = losses[(batch.distances > low) & (batch.distances <= high)]
        assert found is None if not len(own) else found == pytest.approx(float(own.mean()), rel=1e-4)
    assert epoch["validation_loss"] == pytest.approx(float(losses.mean()), rel=1e-4)


def test_the_learning_rate_decays_every_epoch() -> None:
    rates = [epoch["learning_rate"] for epoch in trained().history]
    np.testing.assert_allclose(rates, 0.01 * 0.99 ** np.arange(4))


@pytest.mark.parametrize("epoch", [1, 3])
def test_an_interrupted_training_goes_on_to_the_same_network(epoch: int, tmp_path: Path) -> None:
    heard: list[dict] = []
    stopped = trained(state_file=tmp_path / "state", on_epoch=stop_in_epoch(epoch))
    assert not stopped.facts["is_complete"]
    assert len(stopped.history) == epoch
    resumed = trained(state_file=tmp_path / "state", on_epoch=heard.append)
    assert same_weights(resumed, trained())
    assert [e["epoch"] for e in heard] == [1, 2, 3, 4]
    assert resumed.facts["is_complete"]
    assert not (tmp_path / "state").exists()


def test_a_killed_training_goes_on_to_the_same_network(tmp_path: Path) -> None:
    """Killed in the middle of an epoch, wherever that is."""
    code = (
        "import os, torch; torch.set_num_threads(1)\n"
        "from pathlib import Path\n"
        "from tests.learn import test_attention as t\n"
        "update, count = t.Trainer.update, [0]\n"
        "def counted(*args):\n"
        "    count[0] += 1\n"
        "    if count[0] == 8: os._exit(9)\n"
        "    return update(*args)\n"
        "t.Trainer.update = counted\n"
        f"t.trained(state_file=Path({str(tmp_path / 'state')!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 9
    assert (tmp_path / "state").exists()
    assert same_weights(trained(state_file=tmp_path / "state"), trained())


def test_training_interrupted_before_its_first_epoch_has_nothing_to_keep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "update", interrupt)
    with pytest.raises(KeyboardInterrupt):
        trained()


def test_a_finished_number_of_epochs_can_be_raised_when_going_on(tmp_path: Path) -> None:
    trained(state_file=tmp_path / "state", on_epoch=stop_in_epoch(2))
    longer = AttentionPreset(TINY.network, replace(TINY.training, epochs=6, patience=6))
    with pytest.raises(UsageError, match=r"other settings \(patience: 5 there, 6 now\)"):
        trained(longer, state_file=tmp_path / "state")
    longer = AttentionPreset(TINY.network, replace(TINY.training, epochs=6))
    assert len(trained(longer, state_file=tmp_path / "state").history) == 6


def test_a_damaged_state_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(b"\x10\0\0\0\0\0\0\0not even JSON ..")
    with pytest.raises(BeaconError, match="the interrupted training is damaged; remove the file"):
        trained(state_file=path)


def test_the_state_file_holds_all_of_the_state(tmp_path: Path) -> None:
    def state_of() -> TrainingState:
        network = new_network(MODEL, TINY, 0)
        return TrainingState(network, torch.optim.Adam(network.parameters()))

    state = state_of()
    network = state.network
    network(torch.tensor([[0, 3]]), torch.tensor([[1, 2]])).sum().backward()
    state.optimizer.step()
    state.add(Epoch(1, 0.5, 0.25, 0.75, [0.1, None, 0.3, None], 1.5, 0.01))
    state.save(tmp_path / "state", {"seed": 1})
    loaded = state_of()
    loaded.load(tmp_path / "state", {"seed": 1})
    assert loaded.history == state.history
    for one, other in zip(loaded.network.parameters(), network.parameters(), strict=True):
        assert torch.equal(one, other)
        moments = state.optimizer.state[other]
        assert moments
        for name, tensor in loaded.optimizer.state[one].items():
            assert torch.equal(tensor, moments[name])


def test_training_without_validation_queries_is_refused() -> None:
    queries = replace(QUERIES, split_of_queries=np.zeros(len(QUERIES), dtype=np.int8))
    with pytest.raises(UsageError, match="training needs validation queries that ask for something"):
        TINY.train(MODEL, queries, TRAJECTORIES, device="cpu")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch": 0}, "batch must be a whole number of at least 1; found 0"),
        ({"epochs": "5"}, "epochs must be a whole number of at least 1; found '5'"),
        ({"max_moves": 0}, "max_moves must be a whole number of at least 1; found 0"),
        ({"learning_rate": float("nan")}, "learning_rate must be a positive number; found nan"),
        ({"decay": 1.5}, "decay must be a share"),
        ({"decay": None}, "decay needs a number; found None"),
    ],
)
def test_settings_that_cannot_train_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        TrainingSettings(**settings)


@pytest.mark.parametrize("name", ["fast", "small", "paper"])
def test_all_presets_share_one_protocol(name: str) -> None:
    assert load_preset(name).changed(epochs=3, batch=7).most_epochs == 3


def test_the_paper_preset_is_the_papers() -> None:
    network, training = PRESETS["paper"]
    assert (network.embedding, network.attention_layers, network.blocks, network.width) == (256, 2, 10, 512)
    assert (training.learning_rate, training.decay, training.batch) == (2e-4, 0.99, 256)
    assert (training.epochs, training.patience, network.dropout) == (50, 5, 0.1)


def test_bfloat16_trains_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a GPU computes in, tried on the CPU."""
    lower = lambda _: torch.autocast("cpu", dtype=torch.bfloat16)  # noqa: E731
    monkeypatch.setattr("beacon.learn.attention.autocast", lower)
    monkeypatch.setattr("beacon.guide.attention.autocast", lower)
    calm = AttentionPreset(replace(TINY.network, dropout=0.0), TINY.training)
    rough = [epoch["validation_loss"] for epoch in trained(calm).history]
    monkeypatch.undo()
    np.testing.assert_allclose(
        rough, [epoch["validation_loss"] for epoch in trained(calm).history], atol=0.05
    )


TOGETHER = """
import glob, sys, torch; torch.set_num_threads(1)
from dataclasses import replace
from tests.learn import test_attention as t
calm = t.AttentionPreset(replace(t.TINY.network, dropout=0.0), replace(t.TINY.training, batch=20))
guide = t.trained(calm)
if t.os.environ.get("RANK", "0") == "0": guide.save(sys.argv[1])
names = [open(path).read() for path in glob.glob("/proc/self/task/*/comm")]
left = [name for name in names if "gloo" in name]  # threads alive at the end can abort the process
assert not left, left
"""


def test_two_processes_train_what_one_does(tmp_path: Path) -> None:
    """With batches of 20 out of 42 states, the last batch has one state for each of the two."""
    from beacon.guide.checkpoint import load_guide  # noqa: PLC0415

    script = tmp_path / "together.py"
    script.write_text(TOGETHER)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "PYTHONPATH": python_path(),
    }
    processes = [
        subprocess.Popen(
            [sys.executable, str(script), str(tmp_path / "two")],
            cwd=ROOT,
            env=os.environ | shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(2)
    ]
    assert [process.wait(120) for process in processes] == [0, 0]
    calm = AttentionPreset(replace(TINY.network, dropout=0.0), replace(TINY.training, batch=20))
    one, two = trained(calm), load_guide(tmp_path / "two", MODEL, "cpu")
    assert isinstance(two, AttentionGuide)
    for key in ("train_loss", "validation_loss", "top_move_accuracy"):
        np.testing.assert_allclose([e[key] for e in two.history], [e[key] for e in one.history], rtol=1e-3)
    for first, second in zip(one.network.parameters(), two.network.parameters(), strict=True):
        torch.testing.assert_close(first, second, atol=1e-3, rtol=1e-2)


def python_path() -> str:
    return os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
