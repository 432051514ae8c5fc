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


def wins_over(ours: NDArray[np.float64], default: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each score 1, 0.5 or 0: is it ahead of the default's, level, or behind?"""
    won: NDArray[np.float64] = np.where(is_tie(ours, default), 0.5, ours > default)
    return won


def lead_over(ours: NDArray[np.float64], default: NDArray[np.float64], *, by_mark: bool) -> Lead:
    """How far [queries, marks] scores are ahead of the default's: at all marks, or from one to another.

    Between them it is behind at none. All marks of a stretch count together: each alone says little.
    """
    last = ours.shape[1] - 1
    if not by_mark:
        return Lead(_beyond_chance(wins_over(ours, default)), 0, last)
    leads = [lead_between(ours, default, a, b) for a in range(last + 1) for b in range(a, last + 1)]
    return max(leads)


def lead_between(ours: NDArray[np.float64], default: NDArray[np.float64], first: int, last: int) -> Lead:
    """The lead from one mark to another; none where the default is ahead at any of them."""
    won = wins_over(ours[:, first : last + 1], default[:, first : last + 1])
    is_behind = (won.mean(axis=0) < 0.5).any()
    return Lead(-np.inf if is_behind else won.shape[1] * _beyond_chance(won), first, last)


def turn_to(
    ours: NDArray[np.float64], later: NDArray[np.float64], default: NDArray[np.float64], first: int
) -> tuple[int, int]:
    """The last mark of a way to search that leads from ``first`` on, and the first of one that follows it.

    That one leads up to the last mark; behind all marks: it does not. Between the two is the default.
    """
    count, best = ours.shape[1], (-np.inf, first, ours.shape[1])
    for last in range(first, count):
        worth = lead_between(ours, default, first, last).worth
        for turn in range(last + 1, count):
            best = max(best, (worth + lead_between(later, default, turn, count - 1).worth, last, turn))
        best = max(best, (worth, last, count))
    return best[1:]


def _beyond_chance(won: NDArray[np.float64]) -> float:
    """By how much more than half of the queries are won, less the standard error of that."""
    shares = won.mean(axis=1)
    error = shares.std(ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else 0.0
    return float(shares.mean() - 0.5 - ERRORS * error)
