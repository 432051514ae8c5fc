"""A strategy and a guide's scores, ready to run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import CoreState
from beacon.engine.incumbent import Limits
from beacon.errors import UsageError
from beacon.guided.guidance import Guidance
from beacon.guided.kernel import run_guided_gls, run_guided_greedy
from beacon.guided.state import build_guide, new_guide_state
from beacon.model.flat import FlatModel
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import Strategy

GUIDED_STRATEGIES = (Greedy.name, GlsPlus.name)  # those that choose single moves


def check_can_be_guided(strategy: Strategy) -> None:
    """Refuse strategies that do not choose single moves."""
    if strategy.name not in GUIDED_STRATEGIES:
        raise UsageError(
            f"only 'greedy' and 'gls+' heed a guide's scores; the strategy is {strategy.name!r}: "
            "choose another, or leave the scores out"
        )


class GuidedAdvance:
    """One search with a guide: what is called in place of the strategy's own ``advance``."""

    def __init__(self, strategy: Strategy, model: FlatModel, core: CoreState, own: Any) -> None:
        check_can_be_guided(strategy)
        self.strategy, self.model, self.core, self.own = strategy, model, core, own
        self._guide = new_guide_state(core)
        self._numbers = Guidance().constants()

    def take(self, scores: NDArray[np.float32], guidance: Guidance) -> None:
        """Search with these scores from now on. Cost: the number of moves."""
        self._numbers = guidance.constants()
        self._guide.scores[:] = scores
        if guidance.weight > 0:  # restarts alone need the scores, not the trees
            build_guide(self.model, self.core, self._guide, self._numbers)

    def __call__(self, limits: Limits) -> int:
        """Run the kernel."""
        model, core, guide = self.model, self.core, self._guide
        if isinstance(self.strategy, GlsPlus):
            constants = self.strategy.constants(model)
            return run_guided_gls(model, core, self.own, constants, guide, self._numbers, limits)
        return run_guided_greedy(model, core, guide, self._numbers, limits)
