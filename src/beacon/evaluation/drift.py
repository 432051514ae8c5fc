"""Drift: does a search move towards a reference? The quantity of the method's convergence theorem.

If every move brings the search closer to the reference with probability at least α > ½, the expected number
of moves to reach it from distance h₀ is at most h₀ / (2α − 1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Step(NamedTuple):
    """Where a search stands after one more step."""

    assignment: NDArray[np.integer]
    is_move: bool
    """Was it a single flip? A restart is a jump, and says nothing about the choice of moves."""


class Drift(NamedTuple):
    """What one search did, seen from its reference."""

    moves: int
    """Moves made at a distance above 0; jumps are not among them."""
    closer: int
    """How many of them reduced the distance."""
    start_distance: int
    """h₀: variables whose value differs from the reference's at the start."""
    hitting_step: int | None
    """The step at which the distance was 0 for the first time; None if it never was."""


def measure_drift(start: NDArray[np.integer], steps: Iterable[Step], reference: NDArray[np.integer]) -> Drift:
    """Follow a search to its end, also beyond the reference if it reaches and leaves it.

    Were the search followed only until it arrives, α would say no more than the number of moves that took.
    """
    distance = start_distance = int(np.count_nonzero(start != reference))
    moves = closer = 0
    hitting_step = None if distance else 0
    for step, taken in enumerate(steps, start=1):
        before, distance = distance, int(np.count_nonzero(taken.assignment != reference))
        moves += taken.is_move and before > 0
        closer += taken.is_move and distance < before
        hitting_step = step if hitting_step is None and distance == 0 else hitting_step
    return Drift(moves, closer, start_distance, hitting_step)


def alpha(moves: int, closer: int) -> float:
    """The share of moves that reduced the distance; nan without moves."""
    return closer / moves if moves else np.nan


def expected_hitting_bound(start_distance: float, share: float) -> float:
    """``h₀ / (2α − 1)``; infinite where α is not above one half (the theorem says nothing there)."""
    if start_distance == 0:
        return 0.0
    return start_distance / (2 * share - 1) if share > 0.5 else np.inf
