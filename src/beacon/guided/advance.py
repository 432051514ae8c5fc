"""A strategy and a guide's scores, ready to run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import SearchState
from beacon.engine.limits import Limits
from beacon.errors import UsageError
from beacon.guided.guidance import Guidance
from beacon.guided.kernel import run_guided
from beacon.guided.state import build_guide, new_guide_state
from beacon.model.flat import FlatModel
from beacon.strategies.strategy import GlsPlus, Greedy, Strategy

NO_PENALTIES = GlsPlus(penalty_weight=1.0)  # for Greedy: the kernel wants constants, and uses none of them


GUIDED_STRATEGIES = (Greedy.name, GlsPlus.name)  # those that choose single moves


def check_can_be_guided(strategy: Strategy) -> None:
    """Refuse strategies that do not choose single moves."""
    if strategy.name not in GUIDED_STRATEGIES:
        raise UsageError(
            f"only 'greedy' and 'gls+' heed a guide's scores; the strategy is {strategy.name!r}: "
            "choose another, or leave the scores out"
        )


def guided_advance(
    strategy: Strategy,
    model: FlatModel,
    state: SearchState,
    scores: NDArray[np.float32],
    guidance: Guidance,
) -> Callable[[Limits], int]:
    """What to call in place of the strategy's own ``advance``. Cost of setting it up: the number of moves."""
    row = np.array(scores, dtype=np.float32)  # its own and writable: kernels are compiled for that
    guide, numbers = new_guide_state(state, row), guidance.constants()
    if numbers.weight > 0:  # restarts alone need the scores, not the trees
        build_guide(model, state, guide, numbers)
    gls = strategy if isinstance(strategy, GlsPlus) else NO_PENALTIES
    constants = gls.constants(model)
    return lambda limits: run_guided(model, state, guide, numbers, constants, limits)
