"""From trajectories to an attention guide."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from beacon.errors import UsageError
from beacon.guide.attention_guide import AttentionGuide
from beacon.guide.device import training_bytes
from beacon.guide.network import AttentionNetwork
from beacon.learn.dataset import TrajectoryStates
from beacon.learn.presets import Preset
from beacon.learn.ranks import Ranks, ranks_on
from beacon.learn.training import Trainer
from beacon.learn.training_state import Epoch, TrainingState
from beacon.learn.trajectories import Trajectories
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet

INITIAL_WEIGHTS_STREAM = 3  # after those of training.py


def train_attention(
    model: GraphicalModel,
    queries: QuerySet,
    trajectories: Trajectories,
    preset: Preset,
    *,
    seed: int = 0,
    device: str | torch.device = "auto",
    state_file: Path | None = None,
    on_epoch: Callable[[dict[str, Any]], None] | None = None,
) -> AttentionGuide:
    """Train a network on the training queries, and keep the epoch that does best on the validation queries.

    With a ``state_file``, every epoch is saved there, and a training that was interrupted goes on; the file
    is removed when training is complete. ``on_epoch`` hears of every epoch, earlier ones included. Under
    torchrun every process takes its share of each batch.
    """
    with ranks_on(device) as ranks:
        network = new_network(model, preset, seed).to(ranks.device)
        training, validation = (
            _states_of(model, queries, trajectories, split, ranks.device) for split in ("train", "validation")
        )
        memory = training_bytes(ranks.device)
        if preset.network.token_bias:
            start_at_frequencies(network, training)
        trainer = Trainer(network, training, validation, preset.training, seed, ranks, memory)
        state = TrainingState(network, new_optimizer(network, preset, ranks.device))
        identity = _identity(preset, seed, queries, trajectories)
        is_complete = _fit(trainer, state, state_file, identity, on_epoch)
        assert state.best is not None
        network.load_state_dict(state.best)
    facts = {
        "settings": {"seed": seed, "training": asdict(preset.training)},
        "history": [asdict(epoch) for epoch in state.history],
        "best_epoch": state.best_epoch.epoch,
        "is_complete": is_complete,
    }
    return AttentionGuide(model, network, ranks.device, facts)


def new_network(model: GraphicalModel, preset: Preset, seed: int) -> AttentionNetwork:
    """An untrained network; torch draws weights from its global generator, which is put back afterwards."""
    with torch.random.fork_rng(devices=[]):
        key = np.random.SeedSequence([seed, INITIAL_WEIGHTS_STREAM])
        torch.manual_seed(int(key.generate_state(1)[0]))
        return AttentionNetwork(int(model.domain_sizes.sum()), preset.network)


@torch.no_grad()
def start_at_frequencies(network: AttentionNetwork, training: TrajectoryStates) -> None:
    """Let the network begin with how often each value is the reference's where it is asked for."""
    tokens = training.tokens
    found = (tokens.starts + training.references.long())[~training.observed]
    counts = torch.bincount(found, minlength=tokens.num_tokens) + 1.0
    totals = torch.zeros_like(tokens.sizes, dtype=counts.dtype).index_add_(0, tokens.owners, counts)
    network.bias.weight[:, 0] = torch.logit(counts / totals[tokens.owners], eps=1e-6)
    network.logit.weight.zero_()  # before training, the rest says nothing
    network.logit.bias.zero_()


def new_optimizer(network: AttentionNetwork, preset: Preset, device: torch.device) -> torch.optim.Optimizer:
    """Adam; one kernel for all weights on a GPU."""
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    return torch.optim.Adam(weights, lr=preset.training.learning_rate, fused=device.type == "cuda")


def _fit(
    trainer: Trainer,
    state: TrainingState,
    state_file: Path | None,
    identity: dict[str, Any],
    on_epoch: Callable[[dict[str, Any]], None] | None,
) -> bool:
    """Train, from where the state file stands if there is one; is it complete?"""
    if state_file is not None and state_file.exists():
        state.load(state_file, identity)
        for epoch in state.history:
            _tell(on_epoch, trainer.ranks, epoch)

    def after_epoch(state: TrainingState) -> None:
        if state_file is not None and trainer.ranks.leads:
            state.save(state_file, identity)
        _tell(on_epoch, trainer.ranks, state.history[-1])

    is_complete = trainer.fit(state, after_epoch)
    if is_complete and state_file is not None and trainer.ranks.leads:
        state_file.unlink(missing_ok=True)
    return is_complete


def _tell(on_epoch: Callable[[dict[str, Any]], None] | None, ranks: Ranks, epoch: Epoch) -> None:
    if on_epoch is not None and ranks.leads:
        on_epoch(asdict(epoch))


def _states_of(
    model: GraphicalModel, queries: QuerySet, trajectories: Trajectories, split: str, device: torch.device
) -> TrajectoryStates:
    states = TrajectoryStates(model, queries, trajectories, split, device)
    if not states.num_queries:
        raise UsageError(
            f"training needs {split} queries that ask for something; found none among {len(queries):,}: "
            "sample more queries"
        )
    return states


def _identity(preset: Preset, seed: int, queries: QuerySet, trajectories: Trajectories) -> dict[str, Any]:
    """What an interrupted training must share with this one; it may be given more or fewer epochs."""
    data = hashlib.sha256()
    for array in (
        queries.observed,
        queries.split_of_queries,
        trajectories.references,
        trajectories.starts,
        trajectories.flip_variables,
        trajectories.flip_values,
    ):
        data.update(np.ascontiguousarray(array).tobytes())
    training = asdict(replace(preset.training, epochs=1))
    del training["epochs"]
    facts = {"model": queries.fingerprint, "data": data.hexdigest()[:32], "seed": seed}
    return {**facts, **asdict(preset.network), **training}
