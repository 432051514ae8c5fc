"""Tokens: the (variable, value) pairs of a model, as the network's tensors know them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class TokenSpace:
    """Tokens of states and moves on one device.

    Token ``starts[i] + v`` is variable i at value v. A *slot* (i, k) is the move of variable i to the k-th
    value after its current one, cyclically: a variable of d values has d - 1 slots in every state, so the
    slots that are open depend on the query alone.
    """

    def __init__(self, domain_sizes: NDArray[np.int64], device: torch.device) -> None:
        sizes = np.asarray(domain_sizes, dtype=np.int64)
        others = np.maximum(sizes - 1, 0)
        self.num_tokens = int(sizes.sum())
        self.slot_variables = np.repeat(np.arange(len(sizes)), others)
        shifts = np.arange(others.sum()) - np.repeat(np.cumsum(others) - others, others) + 1
        self.sizes, self.starts, self.variables, self.shifts, self.owners = (
            torch.tensor(array, device=device)
            for array in (
                sizes,
                np.cumsum(sizes) - sizes,
                self.slot_variables,
                shifts,
                np.repeat(np.arange(len(sizes)), sizes),
            )
        )

    def open_slots(self, observed: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Slots of the variables that are not observed, [rows, most] with zeros at the end; and how many."""
        rows, slots = np.nonzero(~np.asarray(observed)[:, self.slot_variables])
        counts = np.bincount(rows, minlength=len(observed))
        padded = np.zeros((len(observed), counts.max(initial=0)), dtype=np.int32)
        padded[rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)] = slots
        return padded, counts

    def of_states(self, assignments: Tensor, observed: Tensor) -> Tensor:
        """[states, variables] rows of ``Tables.states``: evidence is found in its second half."""
        return self.starts + assignments + self.num_tokens * observed

    def values(self, assignments: Tensor, slots: Tensor) -> tuple[Tensor, Tensor]:
        """Variable and new value of each slot, [states, slots] each."""
        variables = self.variables[slots]
        values = assignments.gather(1, variables) + self.shifts[slots]
        sizes = self.sizes[variables]
        return variables, torch.where(values < sizes, values, values - sizes)

    def unmoved(self, assignments: NDArray[Any]) -> NDArray[np.float32]:
        """[states, tokens] scores where nothing can move: every variable keeps its value."""
        scores = np.zeros((len(assignments), self.num_tokens), dtype=np.float32)
        np.put_along_axis(scores, self.starts.cpu().numpy() + assignments.astype(np.int64), 1, axis=1)
        return scores

    def scores(self, assignments: Tensor, moves: Tensor, scores: Tensor, is_move: Tensor) -> Tensor:
        """[states, tokens] scores of all tokens from those of the moves; padding is left out.

        The current value of a variable has what its other values leave of 1, and at least 0.
        """
        spread = scores.new_zeros(len(scores), self.num_tokens + 1)  # the last column takes the padding
        spread.scatter_(1, torch.where(is_move, moves, self.num_tokens), scores)
        spread = spread[:, :-1]
        others = scores.new_zeros(assignments.shape).index_add_(1, self.owners, spread)
        return spread.scatter(1, self.starts + assignments, (1 - others).clamp_(0, 1))


def widest(array: NDArray[Any], device: torch.device) -> Tensor:
    """The array on the device as int64, for indexing; it travels in its own, smaller type."""
    return torch.tensor(array, device=device).long()
