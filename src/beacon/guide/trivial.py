"""Guides that need no network: one that knows nothing, one that knows all, one that counts."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.errors import UsageError
from beacon.guide.checkpoint import PROFILE, Checkpoint, damaged, save_checkpoint
from beacon.guided.guide import EvidenceGuide, StateBatch
from beacon.guided.moves import Moves
from beacon.model.graphical_model import GraphicalModel


class UniformGuide:
    """Finds every value of a variable equally likely: what guidance is worth without knowledge."""

    def __init__(self, model: GraphicalModel) -> None:
        self.moves = Moves.of(model)

    def score(self, states: StateBatch) -> NDArray[np.float32]:
        """[states, moves] one over the number of values."""
        row = (1 / self.moves.domain_sizes).astype(np.float32)[self.moves.variable_of]
        return np.tile(row, (len(states.assignments), 1))


class ProfileGuide(UniformGuide):
    """Knows no values, but how to search a model: a guide's folder without a network."""

    def __init__(self, model: GraphicalModel, tuned: dict[str, Any]) -> None:
        """Take what tuning has found."""
        super().__init__(model)
        self.facts = {"fingerprint": model.fingerprint, "tuned": tuned}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the folder."""
        save_checkpoint(path, PROFILE, {}, self.facts)


class OracleGuide:
    """Knows the references: what guidance could be worth at most."""

    def __init__(self, model: GraphicalModel, references: ArrayLike) -> None:
        """Take one reference for all states, or one for each row of the batches to come."""
        self.moves = Moves.of(model)
        rows = np.atleast_2d(np.asarray(references))
        self.references = np.array([model.check_assignment(row) for row in rows])

    def score(self, states: StateBatch) -> NDArray[np.float32]:
        """[states, moves] 1 for the reference's values, 0 for all others."""
        count = len(states.assignments)
        if len(self.references) not in {1, count}:
            raise UsageError(
                f"expected one reference for each of {count} states, or one for all; "
                f"found {len(self.references)}"
            )
        scores = np.zeros((count, len(self.moves)), dtype=np.float32)
        right = np.broadcast_to(self.moves.of_assignments(self.references), states.assignments.shape)
        np.put_along_axis(scores, right, np.float32(1), axis=1)
        return scores


class FrequencyGuide(EvidenceGuide):
    """Finds a value as likely as it was frequent among training references, whatever the evidence."""

    def __init__(
        self, model: GraphicalModel, frequencies: NDArray[np.float32], facts: dict[str, Any] | None = None
    ) -> None:
        """Take one number per move; :meth:`from_references` counts them."""
        super().__init__(model)
        if frequencies.shape != (len(self.moves),):
            raise UsageError(
                f"expected {len(self.moves)} frequencies, one per move; found {frequencies.shape}"
            )
        self.frequencies = frequencies.astype(np.float32)
        self.facts = {"fingerprint": model.fingerprint, **(facts or {})}

    @classmethod
    def from_references(
        cls,
        model: GraphicalModel,
        references: NDArray[np.integer],
        observed: NDArray[np.bool_],
        smoothing: float = 1.0,
    ) -> FrequencyGuide:
        """Count values where they were asked for; each value begins with ``smoothing`` occurrences."""
        if not smoothing > 0:
            raise UsageError(f"smoothing must be positive; found {smoothing}")
        frequencies = value_frequencies(Moves.of(model), references, observed, smoothing)
        return cls(model, frequencies.astype(np.float32), {"settings": {"smoothing": smoothing}})

    @classmethod
    def from_checkpoint(cls, model: GraphicalModel, checkpoint: Checkpoint) -> FrequencyGuide:
        """The guide that :meth:`save` wrote."""
        try:
            return cls(model, checkpoint.tensors["frequencies"], checkpoint.own_facts)
        except (KeyError, UsageError):
            raise damaged(checkpoint.path, "its weights do not fit the model") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a guide's folder."""
        save_checkpoint(path, "frequency", {"frequencies": self.frequencies}, self.facts)

    def probabilities(
        self, assignments: NDArray[np.integer], observed: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """[states, moves] the frequencies, the same for every state."""
        return np.tile(self.frequencies, (len(assignments), 1))


def value_frequencies(
    moves: Moves, references: NDArray[np.integer], observed: NDArray[np.bool_], smoothing: float
) -> NDArray[np.float64]:
    """[moves] how often each value occurs among the references that did not have it as evidence."""
    found = moves.of_assignments(references)[~observed]
    counts: NDArray[np.float64] = np.bincount(found, minlength=len(moves)) + np.float64(smoothing)
    counts /= moves.per_move(moves.total(counts[None]))[0]
    return counts
