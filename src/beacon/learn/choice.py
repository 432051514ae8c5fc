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

    From one to another it leads at each mark by itself: large leads early on do not pay for losses later.
    """
    won = wins_over(ours, default)
    last = won.shape[1] - 1
    if not by_mark:
        return Lead((last + 1) * float(_beyond_chance(won.mean(axis=1, keepdims=True))[0]), 0, last)
    worths = _beyond_chance(won)
    return max(_stretch(worths, a, b) for a in range(last + 1) for b in range(a, last + 1))


def turn_to(
    ours: NDArray[np.float64], later: NDArray[np.float64], default: NDArray[np.float64], first: int
) -> tuple[int, int]:
    """The last mark of a way to search that leads from ``first`` on, and the first of one that follows it.

    That one leads up to the last mark; behind all marks: it does not. Between the two is the default.
    """
    our_worths, later_worths = (_beyond_chance(wins_over(scores, default)) for scores in (ours, later))
    count, best = ours.shape[1], (-np.inf, first, ours.shape[1])
    for last in range(first, count):
        worth = _stretch(our_worths, first, last).worth
        for turn in range(last + 1, count):
            best = max(best, (worth + _stretch(later_worths, turn, count - 1).worth, last, turn))
        best = max(best, (worth, last, count))
    return best[1:]


def leads_at_last(ours: NDArray[np.float64], default: NDArray[np.float64]) -> bool:
    """Is a way to search ahead of the default at the last mark?"""
    return bool(_beyond_chance(wins_over(ours, default))[-1] > 0)


def _stretch(worths: NDArray[np.float64], first: int, last: int) -> Lead:
    """The lead from one mark to another; none if one of several marks has none."""
    stretch = worths[first : last + 1]
    is_lead = first == last or (stretch > 0).all()
    return Lead(float(stretch.sum()) if is_lead else -np.inf, first, last)


def _beyond_chance(won: NDArray[np.float64]) -> NDArray[np.float64]:
    """[marks] by how much more than half of the queries are won, less the standard error of that."""
    error = won.std(axis=0, ddof=1) / np.sqrt(len(won)) if len(won) > 1 else 0.0
    worths: NDArray[np.float64] = won.mean(axis=0) - 0.5 - ERRORS * error
    return worths
