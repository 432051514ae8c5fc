"""How the attention network is trained."""

from __future__ import annotations

from dataclasses import dataclass

from beacon.errors import UsageError
from beacon.model.checks import check_count, check_is_number, check_positive


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
            check_count(name, getattr(self, name), 1)
        if self.max_moves is not None:
            check_count("max_moves", self.max_moves, 1)
        check_positive("learning_rate", self.learning_rate)
        check_is_number("decay", self.decay)
        if not 0 < self.decay <= 1:
            raise UsageError(f"decay must be a share, 0 < decay ≤ 1; found {self.decay}")
