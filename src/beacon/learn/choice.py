"""Which of several ways to search is best, and is it really better than the default?

Chance makes the best of many look better than it is. So the default stays unless another way is ahead of it
by more than its standard error, and where time limits are compared, only at the limits where that is so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.model.ties import is_tie

ERRORS = 1.0  # standard errors by which a way to search must be ahead of the default


class Lead(NamedTuple):
    """How far a way to search is ahead of the default, beyond its standard error."""

    worth: float
    """The sum over the marks at which it is ahead; not positive: it is not."""
    first: int
    """The first of these marks."""
    last: int
    """The last of them."""


def mean_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """[trials] share of the others that each trial is behind, ties half; mean over queries and marks.

    Ranks rather than scores: one query that misses a zero factor would outweigh all others. The same
    assignment's score may differ in its last digits, by the order in which it was summed up: that is a tie.
    """
    others = max(1, len(scores) - 1)
    are_level = is_tie(scores[None], scores[:, None])
    are_ahead = (scores[None] > scores[:, None]) & ~are_level
    ahead = are_ahead.sum(axis=1) + 0.5 * are_level.sum(axis=1)
    ranks: NDArray[np.float64] = ((ahead - 0.5) / others).mean(axis=(1, 2))
    return ranks


def lead_over(ours: NDArray[np.float64], default: NDArray[np.float64], *, by_mark: bool) -> Lead:
    """How far [queries, marks] scores are ahead of the default's: at all marks, or from one to another."""
    is_level = is_tie(ours, default)
    won = np.where(is_level, 0.5, ours > default)
    if not by_mark:
        return Lead(float(_beyond_chance(won.mean(axis=1, keepdims=True))[0]), 0, won.shape[1] - 1)
    worth = np.where(won.mean(axis=0) >= 0.5, _beyond_chance(won), -np.inf)
    spans = [(worth[a : b + 1].sum(), a, b) for a in range(len(worth)) for b in range(a, len(worth))]
    return Lead(*max(spans))


def _beyond_chance(won: NDArray[np.float64]) -> NDArray[np.float64]:
    """[marks] by how much more than half of the queries are won, less the standard error of that."""
    count = len(won)
    error = won.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.zeros(won.shape[1])
    beyond: NDArray[np.float64] = won.mean(axis=0) - 0.5 - ERRORS * error
    return beyond
