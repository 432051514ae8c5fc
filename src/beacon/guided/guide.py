"""What a guide is: anything that scores the moves of a batch of states; some look at the evidence alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from beacon.guided.moves import Moves
from beacon.model.graphical_model import GraphicalModel


class StateBatch(Protocol):
    """States to score, one row each. A :class:`beacon.SearchBatch` is one; so is :class:`States`."""

    @property
    def assignments(self) -> NDArray[np.int64]:
        """[states, variables] the current values, evidence included."""

    @property
    def observed(self) -> NDArray[np.bool_]:
        """[states, variables] is the variable evidence?"""


@dataclass(frozen=True, eq=False)
class States:
    """States apart from any search."""

    assignments: NDArray[np.int64]
    observed: NDArray[np.bool_]


class Guide(Protocol):
    """Scores moves by how likely they bring a state closer to a near-optimal assignment."""

    def score(self, states: StateBatch) -> NDArray[np.float32]:
        """[states, moves] probability that each (variable, value) is the reference's, in 0..1.

        A move (i, v) brings the state closer exactly if v is the reference's value of i, so this is the
        score of every move. The entry of the value that i has now is the probability that it should stay:
        with it, scores remain usable after i has been flipped. Moves of observed variables have no meaning.
        """


class EvidenceGuide(ABC):
    """Predicts each variable's value from the evidence; where the search stands makes no difference."""

    has_opinions: ClassVar[bool] = False
    """Does it know whole assignments that a start may be crossed with?"""

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

    def opinions(
        self, assignment: NDArray[np.integer], observed: NDArray[np.bool_], count: int
    ) -> NDArray[np.integer]:
        """[up to ``count``, variables] whole assignments worth crossing a start with."""
        return np.empty((0, len(assignment)), dtype=np.int64)
