"""How the attention network is trained."""

from __future__ import annotations

from dataclasses import dataclass

from beacon.errors import UsageError


@dataclass(frozen=True)
class TrainingSettings:
    """The defaults are the paper's, where it says."""

    learning_rate: float = 2e-4
    """Step size of Adam in the first epoch."""
    decay: float = 0.99
    """What the learning rate is multiplied with after every epoch."""
    batch: int = 256
    """States per update."""
    epochs: int = 50
    """Most epochs."""
    patience: int = 5
    """Epochs without a better validation loss after which training ends."""
    states_per_query: int = 50
    """States of each training query in an epoch, drawn anew every time."""
    validation_states_per_query: int = 10
    """States of each validation query, the same in every epoch."""
    max_moves: int | None = None
    """Moves of a state that are trained on at most, spread evenly; None: all. Validation takes all."""
    compile: bool = False
    """On a GPU, let torch compile what lies between matrix products, if it finds a compiler."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("batch", "epochs", "patience", "states_per_query", "validation_states_per_query"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1; found {getattr(self, name)}")
        if self.max_moves is not None and self.max_moves < 1:
            raise UsageError(f"max_moves must be at least 1, or None for all; found {self.max_moves}")
        if not 0 < self.learning_rate < float("inf"):
            raise UsageError(f"learning_rate must be a positive number; found {self.learning_rate}")
        if not 0 < self.decay <= 1:
            raise UsageError(f"decay must be a share, 0 < decay ≤ 1; found {self.decay}")
