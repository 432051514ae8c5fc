"""Settings of the fast guide and its training."""

from __future__ import annotations

from dataclasses import dataclass

from beacon.model.checks import check_count, check_dropout, check_number, check_positive


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
            check_count(name, getattr(self, name), 1)
        for name in ("dropout", "evidence_dropout"):
            check_dropout(name, getattr(self, name))
        for name in ("learning_rate", "smoothing"):
            check_positive(name, getattr(self, name))
        check_number("weight_decay", self.weight_decay, 0)
