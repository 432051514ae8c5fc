"""What a guide is: anything that scores the moves of a batch of states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


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
