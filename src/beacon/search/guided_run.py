"""A strategy and a guide's scores, ready to run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.model.flat import FlatModel
from beacon.search.guidance import Guidance, new_advice
from beacon.search.guided import begin_losses, run_guided
from beacon.search.limits import Limits
from beacon.search.max_tree import LOWEST
from beacon.search.select import build_top_scores
from beacon.search.state import SearchState
from beacon.search.strategy import GlsPlus, Greedy, Strategy


def check_can_be_guided(strategy: Strategy) -> None:
    """Refuse strategies that do not choose single moves."""
    if not isinstance(strategy, Greedy | GlsPlus):
        raise UsageError(
            f"only 'greedy' and 'gls+' heed a guide's scores; the strategy is {strategy.name!r}: "
            "choose another, or leave the scores out"
        )


def with_losses(model: FlatModel, state: SearchState) -> SearchState:
    """The same search, from now on with the losses that guided selection needs."""
    if not len(state.losses):
        state = state._replace(losses=np.full(len(state.gains), LOWEST))
        begin_losses(model, state)
    return state


def guided_advance(
    strategy: Strategy,
    model: FlatModel,
    state: SearchState,
    scores: NDArray[np.float32],
    guidance: Guidance,
) -> Callable[[Limits], int]:
    """What to call in place of the strategy's own ``advance``. Cost of setting it up: the number of moves."""
    advice, numbers = new_advice(model, scores), guidance.constants()
    build_top_scores(model, state, advice)
    gls = strategy if isinstance(strategy, GlsPlus) else GlsPlus()
    constants = gls.constants(model)
    return lambda limits: run_guided(model, state, advice, numbers, constants, limits)
