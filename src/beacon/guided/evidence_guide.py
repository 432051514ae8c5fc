"""Guides that look at the evidence alone: their scores are one distribution per variable."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from beacon.guided.guide import StateBatch
from beacon.guided.moves import Moves
from beacon.model.graphical_model import GraphicalModel


class EvidenceGuide(ABC):
    """Predicts each variable's value from the evidence; where the search stands makes no difference."""

    def __init__(self, model: GraphicalModel) -> None:
        self.fingerprint = model.fingerprint
        self.moves = Moves.of(model)

    @abstractmethod
    def probabilities(
        self, assignments: NDArray[np.integer], observed: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """[states, moves] how likely each value is, summing to one per variable.

        Of ``assignments`` only the observed values count.
        """

    def score(self, states: StateBatch) -> NDArray[np.float32]:
        """[states, moves] the probabilities."""
        return self.probabilities(states.assignments, states.observed)
