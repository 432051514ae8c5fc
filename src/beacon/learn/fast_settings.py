"""Settings of the fast guide and its training."""

from __future__ import annotations

import math
from dataclasses import dataclass

from beacon.errors import UsageError


@dataclass(frozen=True)
class FastSettings:
    """How the fast guide is built and trained."""

    width: int = 64
    """Dimensions of the embeddings and of the hidden layer."""
    dropout: float = 0.1
    """Share of the hidden layer left out in training."""
    evidence_dropout: float = 0.2
    """Share of the evidence left out in training."""
    learning_rate: float = 0.003
    weight_decay: float = 3.0
    """AdamW's, times the learning rate in every step; biases do not decay."""
    batch_size: int = 32
    """Queries per step of the optimiser."""
    max_epochs: int = 100
    patience: int = 8
    """Epochs without a better validation loss before training ends."""
    smoothing: float = 1.0
    """Occurrences that each value begins with when frequencies are counted."""

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("width", "batch_size", "max_epochs", "patience"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{name} must be a whole number of at least 1; found {value!r}")
        for name in ("dropout", "evidence_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise UsageError(f"{name} must be a share, 0 ≤ {name} < 1; found {getattr(self, name)!r}")
        for name in ("learning_rate", "smoothing"):
            if not 0 < getattr(self, name) < math.inf:
                raise UsageError(f"{name} must be a positive number; found {getattr(self, name)!r}")
        if not 0 <= self.weight_decay < math.inf:
            raise UsageError(f"weight_decay must be 0 or more; found {self.weight_decay!r}")
