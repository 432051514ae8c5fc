"""The fast guide: a small network of the evidence alone, scored with numpy in some microseconds a query."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.guide.checkpoint import Checkpoint, damaged, save_checkpoint
from beacon.guided.guide import EvidenceGuide
from beacon.guided.moves import Moves
from beacon.model.graphical_model import GraphicalModel

ROWS_AT_ONCE = 16  # keeps what is computed for them in the cache


class FastWeights(NamedTuple):
    """The network: evidence tokens, one residual layer, a logit for every move."""

    embeddings: NDArray[np.float32]
    """[moves, width] what a piece of evidence says; unseen evidence says nothing."""
    hidden_weights: NDArray[np.float32]
    """[width, width]"""
    hidden_bias: NDArray[np.float32]
    """[width]"""
    output_weights: NDArray[np.float32]
    """[width, moves]"""
    output_bias: NDArray[np.float32]
    """[moves] the logits without any evidence."""

    def problem(self, num_moves: int) -> str | None:
        """What is wrong with these weights, if anything."""
        width = len(self.hidden_bias)
        shapes = [(num_moves, width), (width, width), (width,), (width, num_moves), (num_moves,)]
        if [array.shape for array in self] != shapes:
            return "its weights do not fit the model"
        if not all(array.dtype == np.float32 and np.isfinite(array).all() for array in self):
            return "its weights are not all finite numbers"
        return None


class FastGuide(EvidenceGuide):
    """Sum of the evidence's embeddings, one residual ReLU layer, a softmax over each variable's values."""

    def __init__(
        self, model: GraphicalModel, weights: FastWeights, facts: dict[str, Any] | None = None
    ) -> None:
        """Take trained weights; ``facts`` are the settings and the history of their training."""
        super().__init__(model)
        problem = weights.problem(len(self.moves))
        if problem:
            raise ValueError(problem)
        self.weights = weights
        self.facts = {"fingerprint": model.fingerprint, **(facts or {})}

    @classmethod
    def from_checkpoint(cls, model: GraphicalModel, checkpoint: Checkpoint) -> FastGuide:
        """The guide that :meth:`save` wrote."""
        try:
            return cls(model, FastWeights(**checkpoint.tensors), checkpoint.own_facts)
        except (TypeError, ValueError, IndexError):
            raise damaged(checkpoint.path, "its weights do not fit the model") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a guide's folder."""
        save_checkpoint(path, "fast", self.weights._asdict(), self.facts)

    def probabilities(
        self, assignments: NDArray[np.integer], observed: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """[states, moves] the network's prediction. Cost: width x moves a state."""
        result = np.empty((len(assignments), len(self.moves)), dtype=np.float32)
        for first in range(0, len(assignments), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            sums = evidence_sums(self.moves, self.weights.embeddings, assignments[rows], observed[rows])
            self.moves.softmax(self._logits(sums), out=result[rows])
        return result

    def _logits(self, sums: NDArray[np.float32]) -> NDArray[np.float32]:
        """One product per row: a product over all rows at once would round according to their number."""
        weights, rows = self.weights, sums[:, None, :]
        hidden = rows + np.maximum(rows @ weights.hidden_weights + weights.hidden_bias, 0)
        logits: NDArray[np.float32] = (hidden @ weights.output_weights)[:, 0]
        logits += weights.output_bias
        return logits


def evidence_sums(
    moves: Moves,
    embeddings: NDArray[np.float32],
    assignments: NDArray[np.integer],
    observed: NDArray[np.bool_],
) -> NDArray[np.float32]:
    """[states, width] the sum of the embeddings of each state's evidence; zero where there is none."""
    sums = np.zeros((len(assignments), embeddings.shape[1]), dtype=np.float32)
    rows, variables = np.nonzero(observed & (moves.domain_sizes > 1))
    tokens = moves.starts[variables] + assignments[rows, variables]
    firsts = np.flatnonzero(np.diff(rows, prepend=-1))
    if len(tokens):
        sums[rows[firsts]] = np.add.reduceat(embeddings[tokens], firsts, axis=0)
    return sums
