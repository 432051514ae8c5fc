"""Networks and trainings that go together, by name."""

from __future__ import annotations

from typing import NamedTuple

from beacon.guide.network import NetworkSettings
from beacon.learn.training_settings import TrainingSettings


class Preset(NamedTuple):
    """A network and how to train it."""

    network: NetworkSettings
    training: TrainingSettings


PRESETS = {
    "paper": Preset(NetworkSettings(), TrainingSettings()),
    "small": Preset(
        NetworkSettings(
            embedding=32, heads=2, attention_layers=2, width=64, blocks=2, dropout=0.1, token_bias=True
        ),
        TrainingSettings(
            learning_rate=3e-3,
            decay=0.95,
            batch=32,
            epochs=20,
            states_per_query=6,
            validation_states_per_query=4,
            max_moves=64,
        ),
    ),
}
"""``small`` is for two cores and a model of some hundred variables."""
