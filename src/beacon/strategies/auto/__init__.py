"""The automatic mix: its settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from beacon.engine.construct import construct_assignment
from beacon.engine.core import Begin, Clock, CoreState, draw_assignment
from beacon.engine.incumbent import STALLED, Limits
from beacon.engine.rows import layout_of
from beacon.errors import UsageError, check_count, check_is_number, shown
from beacon.model.flat import FlatModel
from beacon.strategies.auto.mix import Mix, new_mix, run_mix, settle_mix
from beacon.strategies.gls import GlsPlus, GlsState
from beacon.strategies.strategy import Strategy
from beacon.strategies.tree import Tree

if TYPE_CHECKING:
    from beacon.engine.cross import LaterOpinions

ENTRIES_PER_WORK = 10  # to set up an arm takes its tables, or rows: a turn is to take longer than that


@dataclass(frozen=True)
class OtherWeight(GlsPlus):
    """GLS+ with the landscape's weight, beside one with the tables': idle where the two are alike.

    It restarts soon, the other one late: research/arms.md has the figures.
    """

    by_landscape: bool = True
    restart_idle: float = 6.0
    restart_doubling: bool = True
    alike: float = 2.0
    """Weights that are less than this factor apart are alike."""

    name: ClassVar[str] = "gls+ by landscape"

    def stands_aside(self, model: FlatModel, others: Sequence[tuple[Strategy, Any]]) -> bool:
        """Whoever searches by GLS+ from the same start has met the same first local optimum."""
        return any(self._is_alike(model, own) for arm, own in others if isinstance(arm, GlsPlus))

    def advance(self, model: FlatModel, core: CoreState, own: GlsState, limits: Limits) -> int:
        """Run the kernel, unless the weight turns out to be no other."""
        return STALLED if self._is_alike(model, own) else super().advance(model, core, own, limits)

    def _is_alike(self, model: FlatModel, own: GlsState) -> bool:
        ratio = float(own.weight[1]) / self.constants(model).weight
        return 1 / self.alike < ratio < self.alike


@dataclass(frozen=True)
class Auto(Strategy):
    """Several strategies in turns on one incumbent; time goes to what pays. See docs/strategies.md.

    >>> import beacon
    >>> len(beacon.Auto(arms=(beacon.GlsPlus(penalty_weight=3.0), beacon.Tree(), beacon.Greedy())).arms)
    3
    """

    arms: tuple[Strategy, ...] = (GlsPlus(), Tree(), OtherWeight())
    """The strategies; the first to go is the first here."""
    min_share: float = 0.05
    """The least share of the work for each of them."""
    first_round: int | None = None
    """Work of the first round; None: by the size of the model."""
    exact: bool = True
    """Solve the parts of a query exactly where that is cheap, and bound the rest. See docs/exactness.md."""
    start: Literal["messages", "constructed", "random"] = "messages"
    """Where it begins if nobody says otherwise; by messages only where that pays, else constructed."""

    name: ClassVar[str] = "auto"
    flips: ClassVar[bool] = False
    joins: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if not isinstance(self.arms, tuple) or not self.arms:
            raise UsageError(f"arms needs strategies, such as (GlsPlus(), Tree()); found {shown(self.arms)}")
        for arm in self.arms:
            if not isinstance(arm, Strategy):
                raise UsageError(f"arms needs strategies, such as (GlsPlus(), Tree()); found {shown(arm)}")
        check_is_number("min_share", self.min_share)
        if self.first_round is not None:
            check_count("first_round", self.first_round, 1)
        if not 0 < self.min_share <= 1 / len(self.arms):
            most = f"{1 / len(self.arms):g} for {len(self.arms)} arms"
            raise UsageError(f"min_share must lie in 0..{most}, above 0; found {self.min_share}")
        if self.start not in {"messages", "constructed", "random"}:
            raise UsageError(f"start must be 'messages', 'constructed' or 'random'; found {self.start!r}")

    def fitted(self, model: FlatModel) -> Auto:
        """Fit every arm."""
        return replace(self, arms=tuple(arm.fitted(model) for arm in self.arms))

    def weighted(self, penalty_weight: float) -> Auto:
        """With one arm of GLS+, which has this weight: the others are there for their weights."""
        first = GlsPlus(penalty_weight=penalty_weight)
        return replace(self, arms=(first, *(arm for arm in self.arms if not isinstance(arm, GlsPlus))))

    def begin(self, model: FlatModel, core: CoreState) -> None:
        """Begin as in a search without a time limit."""
        self.beginning(model, math.inf, perf_counter)(model, core)

    def beginning(self, model: FlatModel, seconds: float, clock: Clock) -> Begin:
        """Begin by messages, at a constructed assignment, or at random."""
        if self.start == "messages":
            from beacon.engine.message_start import begin_where_it_pays  # noqa: PLC0415 - few searches need it

            return begin_where_it_pays(model, seconds, clock)
        return construct_assignment if self.start == "constructed" else draw_assignment

    def new_state(self, model: FlatModel, core: CoreState) -> Mix:
        """All arms begin at the same place."""
        return new_mix(model, core, self.arms)

    def take_opinions(self, own: Mix, opinions: LaterOpinions) -> None:
        """Cross the best with them between the arms' turns."""
        from beacon.engine.cross import Crossings  # noqa: PLC0415 - few searches have any

        own.crossings = Crossings(opinions)

    def at_work(self, own: Mix) -> int:
        """The arm at work."""
        return own.at

    def settle(self, model: FlatModel, core: CoreState, own: Mix) -> None:
        """Place the first arm; the others follow when their turn comes."""
        settle_mix(model, core, own)

    def advance(self, model: FlatModel, core: CoreState, own: Mix, limits: Limits) -> int:
        """Run the arm at work, and hand over to the next at the end of its phase."""
        set_up = layout_of(model).num_rows or model.num_entries
        least = max(50_000, 10 * len(model.scopes), set_up // ENTRIES_PER_WORK)
        first_round = self.first_round or len(self.arms) * least
        return run_mix(model, core, own, self.min_share, first_round, limits)
