"""GLS+: its settings, and the penalty weight that fits a model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from beacon.engine.core import CoreState, rebuild
from beacon.engine.incumbent import Limits
from beacon.errors import check_at_least, check_count, check_number, check_positive
from beacon.model.flat import FlatModel, once_per_model
from beacon.strategies.gls.kernel import GlsConstants, GlsState, new_gls_state, rebuild_utilities, run_gls
from beacon.strategies.strategy import Strategy


@dataclass(frozen=True)
class GlsPlus(Strategy):
    """Guided local search on penalties per table entry; see docs/gls.md for what the settings do.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> gls = beacon.GlsPlus(penalty_weight=2.0, restart_idle=50)
    >>> beacon.solve(ising_grid(4, 4), strategy=gls, stop=beacon.MaxSteps(50)).steps
    50
    """

    penalty_weight: float | None = None
    """What one unit of penalty costs, in nats; None: scaled to the model."""
    by_landscape: bool = False
    """Scale the weight to the first local optimum of each query instead of the model's tables."""
    smoothing: float = 1.0
    """Factor on all penalties at each smoothing; 1: none (published: 0.999)."""
    smoothing_interval: int = 200
    """Local optima between two smoothings; 0: never."""
    restart_interval: int = 0
    """Steps between two restarts from random; 0: never."""
    restart_idle: float = 200.0
    """Restart after this many steps per free variable without a new best; 0: never."""
    harvest_share: float = 0.1
    """Work on looking for better clusters, as a share of the other work; 0: none."""
    relative_utilities: bool = True
    """Count an entry's cost from the best entry of its table rather than from probability one."""

    name: ClassVar[str] = "gls+"

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if self.penalty_weight is not None:
            check_positive("penalty_weight", self.penalty_weight)
        for name in ("smoothing", "harvest_share"):
            check_number(name, getattr(self, name), 0, 1)
        for name in ("smoothing_interval", "restart_interval"):
            check_count(name, getattr(self, name), 0)
        check_at_least("restart_idle", self.restart_idle, 0)

    @property
    def patience(self) -> float:
        """Fading penalties settle where as much fades as is added, perhaps too low to leave an optimum.

        They are there after a few times ``smoothing_interval / (1 - smoothing)`` local optima.
        """
        if self.smoothing == 1 or self.smoothing_interval == 0:
            return math.inf
        return 1000 + 100 * self.smoothing_interval / (1 - self.smoothing)

    def fitted(self, model: FlatModel) -> GlsPlus:
        """Fill in the penalty weight."""
        if self.penalty_weight is not None:
            return self
        return replace(self, penalty_weight=default_penalty_weight(model))

    def weighted(self, penalty_weight: float) -> GlsPlus:
        """The same with this penalty weight."""
        return replace(self, penalty_weight=penalty_weight)

    def constants(self, model: FlatModel) -> GlsConstants:
        """The settings as the kernel takes them."""
        return GlsConstants(
            weight=float(self.fitted(model).penalty_weight or 0.0),
            by_landscape=self.by_landscape,
            smoothing=float(self.smoothing),
            smoothing_interval=int(self.smoothing_interval) if self.smoothing < 1 else 0,
            restart_interval=int(self.restart_interval),
            restart_idle=float(self.restart_idle),
            harvest_share=float(self.harvest_share),
            relative_utilities=self.relative_utilities,
        )

    def new_state(self, model: FlatModel, core: CoreState) -> GlsState:
        """Start without penalties."""
        return new_gls_state(model, core, self.constants(model))

    def settle(self, model: FlatModel, core: CoreState, own: GlsState) -> None:
        """Rebuild the core and the utilities; penalties stay."""
        rebuild(model, core)
        rebuild_utilities(model, core, own)

    def advance(self, model: FlatModel, core: CoreState, own: GlsState, limits: Limits) -> int:
        """Run the kernel."""
        return run_gls(model, core, own, self.constants(model), limits)


@once_per_model
def default_penalty_weight(model: FlatModel) -> float:
    """A typical range of the tables, less where variables have many factors.

    Where a tenth of the tables or more have zeros, these hard constraints set the scale. The figures are in
    research/gls-settings.md.
    """
    sizes = np.diff(model.table_starts)
    starts = model.table_starts[:-1][sizes > 1]
    if not len(starts):
        return 1.0  # no table distinguishes anything: any weight will do
    bounds = np.column_stack([starts, starts + sizes[sizes > 1]]).ravel()
    padded = np.append(model.log_table, 0.0)  # reduceat wants every bound inside the array
    lowest, highest = np.minimum.reduceat(padded, bounds)[::2], np.maximum.reduceat(padded, bounds)[::2]
    ranges, is_hard = highest - lowest, lowest == model.log_zero
    typical_range = float(np.sqrt(np.mean(ranges[is_hard] ** 2 if is_hard.mean() >= 0.1 else ranges**2)))
    num_choices = int(np.count_nonzero(model.domain_sizes > 1))
    factors_per_variable = len(model.scopes) / max(1, num_choices)
    return typical_range * math.sqrt(min(1.0, 4 / max(1.0, factors_per_variable))) or 1.0
