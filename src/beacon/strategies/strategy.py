"""The strategies by name: frozen settings that check themselves, and the kernel each one runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

from beacon import plugins
from beacon.engine.core import SearchState
from beacon.engine.limits import Limits
from beacon.errors import UsageError, shown
from beacon.model.checks import check_at_least, check_count, check_is_number, check_number, check_positive
from beacon.model.flat import FlatModel
from beacon.plugins import installed_names, load_installed
from beacon.strategies.auto.mix import AutoConstants, run_auto
from beacon.strategies.gls.kernel import GlsConstants, clear_penalties, run_gls
from beacon.strategies.gls.penalty_weight import default_penalty_weight
from beacon.strategies.greedy import run_greedy
from beacon.strategies.tree.block_state import MAX_BLOCK_ENTRIES
from beacon.strategies.tree.kernel import TreeConstants, run_tree


class Strategy(Protocol):
    """A way to search: settings, and how they act on a state. docs/extending.md shows how to write one.

    A strategy never changes, since many searches share it: what one search must remember lives in its state.
    """

    name: ClassVar[str]
    penalising: ClassVar[bool]
    """Does it use penalties?"""
    growing: ClassVar[bool]
    """Does it make tree moves?"""

    @property
    def patience(self) -> float:
        """So many local optima in a row without a step between them mean that no step will come."""

    def fitted(self, model: FlatModel) -> Strategy:
        """The same strategy with every setting that depends on the model filled in."""

    def prepare(self, model: FlatModel, state: SearchState) -> None:
        """Set up what only this strategy needs, before the state is built from its assignment."""

    def advance(self, model: FlatModel, state: SearchState, limits: Limits) -> int:
        """Run until a limit is reached; return RUNNING, OPTIMAL, STALLED or TARGET."""


@dataclass(frozen=True)
class Greedy:
    """Best improvement with a random restart at every local optimum.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> beacon.solve(ising_grid(4, 4), strategy=beacon.Greedy(), stop=beacon.MaxSteps(50)).method
    'greedy'
    """

    name: ClassVar[str] = "greedy"
    penalising: ClassVar[bool] = False
    growing: ClassVar[bool] = False
    patience: ClassVar[float] = math.inf  # its kernel counts restarts itself

    def fitted(self, model: FlatModel) -> Greedy:
        """No setting depends on the model."""
        return self

    def prepare(self, model: FlatModel, state: SearchState) -> None:
        """Nothing to set up."""

    def advance(self, model: FlatModel, state: SearchState, limits: Limits) -> int:
        """Run the kernel."""
        return run_greedy(model, state, limits)


@dataclass(frozen=True)
class GlsPlus:
    """Guided local search on penalties per table entry; see docs/gls.md for what the settings do.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> gls = beacon.GlsPlus(penalty_weight=2.0, restart_idle=50)
    >>> beacon.solve(ising_grid(4, 4), strategy=gls, stop=beacon.MaxSteps(50)).steps
    50
    """

    penalty_weight: float | None = None
    """What one unit of penalty costs, in nats; None: scaled to the model."""
    smoothing: float = 1.0
    """Factor on all penalties at each smoothing; 1: none (published: 0.999)."""
    smoothing_interval: int = 200
    """Local optima between two smoothings; 0: never."""
    restart_interval: int = 0
    """Steps between two restarts from random; 0: never."""
    restart_idle: float = 200.0
    """Restart after so many steps per free variable without a new best; 0: never."""
    harvest_share: float = 0.1
    """Work on looking for better clusters, as a share of the other work; 0: none."""
    relative_utilities: bool = True
    """Count an entry's cost from the best entry of its table rather than from probability one."""

    name: ClassVar[str] = "gls+"
    penalising: ClassVar[bool] = True
    growing: ClassVar[bool] = False

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

    def constants(self, model: FlatModel) -> GlsConstants:
        """The settings as the kernel takes them."""
        return GlsConstants(
            weight=float(self.fitted(model).penalty_weight or 0.0),
            smoothing=float(self.smoothing),
            smoothing_interval=int(self.smoothing_interval) if self.smoothing < 1 else 0,
            restart_interval=int(self.restart_interval),
            restart_idle=float(self.restart_idle),
            harvest_share=float(self.harvest_share),
            relative_utilities=self.relative_utilities,
        )

    def prepare(self, model: FlatModel, state: SearchState) -> None:
        """Start without penalties."""
        clear_penalties(model, state, self.constants(model))

    def advance(self, model: FlatModel, state: SearchState, limits: Limits) -> int:
        """Run the kernel."""
        return run_gls(model, state, self.constants(model), limits)


@dataclass(frozen=True)
class Tree:
    """Exact moves on blocks of bounded width, or on forests, in perturbed regions; see docs/strategies.md.

    >>> import beacon
    >>> beacon.Tree(max_region=40).max_region
    40
    """

    min_region: int = 8
    """Fewest variables of a region."""
    max_region: int = 200
    """Most variables of a region."""
    block_entries: int = 256
    """Most entries of a table that eliminates a variable of a block; 0: forests instead of blocks."""
    sweeps: int = 3
    """Blocks or forests tried in each region."""
    first_sweeps: int = 6
    """Forests over all free variables at the beginning."""
    acceptance: float = 0.0
    """Keep an outcome of a region that is worse by x nats with probability exp(-x / acceptance); 0: never."""
    restart_idle: float = 10.0
    """Begin afresh after so many steps per free variable without a gain; 0: never."""

    name: ClassVar[str] = "tree"
    penalising: ClassVar[bool] = False
    growing: ClassVar[bool] = True
    patience: ClassVar[float] = math.inf  # tree moves always make steps

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        for name in ("min_region", "max_region", "sweeps", "first_sweeps"):
            check_count(name, getattr(self, name), 1)
        check_count("block_entries", self.block_entries, 0, MAX_BLOCK_ENTRIES)
        for name in ("acceptance", "restart_idle"):
            check_at_least(name, getattr(self, name), 0)
        if self.min_region > self.max_region:
            raise UsageError(
                f"regions need min_region ≤ max_region; found {self.min_region} and {self.max_region}"
            )

    def fitted(self, model: FlatModel) -> Tree:
        """No setting depends on the model."""
        return self

    def prepare(self, model: FlatModel, state: SearchState) -> None:
        """Nothing to set up."""

    def advance(self, model: FlatModel, state: SearchState, limits: Limits) -> int:
        """Run the kernel."""
        return run_tree(model, state, self.constants(model), limits)

    def constants(self, model: FlatModel) -> TreeConstants:
        """The settings as the kernel takes them."""
        return TreeConstants(
            min_region=self.min_region,
            max_region=self.max_region,
            block_entries=self.block_entries,
            sweeps=self.sweeps,
            first_sweeps=self.first_sweeps,
            acceptance=float(self.acceptance),
            restart_idle=float(self.restart_idle),
            hard_zero=model.hard_zero,
        )


@dataclass(frozen=True)
class Auto:
    """GLS+ and tree moves in turns on one incumbent; time goes to what pays. See docs/strategies.md.

    >>> import beacon
    >>> beacon.Auto(gls=beacon.GlsPlus(penalty_weight=3.0)).gls.penalty_weight
    3.0
    """

    gls: GlsPlus = field(default_factory=GlsPlus)
    """Settings of GLS+."""
    tree: Tree = field(default_factory=Tree)
    """Settings of the tree moves."""
    min_share: float = 0.05
    """The least share of the work for each of the two."""
    first_round: int | None = None
    """Work of the first round; None: by the size of the model."""

    name: ClassVar[str] = "auto"
    penalising: ClassVar[bool] = True
    growing: ClassVar[bool] = True
    patience: ClassVar[float] = math.inf  # tree moves always make steps

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        for name, kind in (("gls", GlsPlus), ("tree", Tree)):
            if not isinstance(getattr(self, name), kind):
                found = shown(getattr(self, name))
                raise UsageError(f"{name} needs settings, such as {kind.__name__}(); found {found}")
        check_is_number("min_share", self.min_share)
        if self.first_round is not None:
            check_count("first_round", self.first_round, 1)
        if not 0 < self.min_share <= 0.5:
            raise UsageError(f"min_share must lie in 0..0.5, above 0; found {self.min_share}")

    @property
    def block_entries(self) -> int:
        """As the tree moves have it."""
        return self.tree.block_entries

    def fitted(self, model: FlatModel) -> Auto:
        """Fill in the penalty weight."""
        gls = self.gls.fitted(model)
        return self if gls is self.gls else replace(self, gls=gls)

    def prepare(self, model: FlatModel, state: SearchState) -> None:
        """Start without penalties."""
        self.gls.prepare(model, state)

    def advance(self, model: FlatModel, state: SearchState, limits: Limits) -> int:
        """Run the arm at work, and switch when it is the other's turn."""
        return run_auto(model, state, self.constants(model), limits)

    def constants(self, model: FlatModel) -> AutoConstants:
        """The settings as the kernel takes them."""
        return AutoConstants(
            gls=self.gls.constants(model),
            tree=self.tree.constants(model),
            min_share=self.min_share,
            first_round=self.first_round or max(100_000, 20 * len(model.scopes)),
        )


STRATEGIES: dict[str, type[Greedy] | type[GlsPlus] | type[Tree] | type[Auto]] = {
    kind.name: kind for kind in (Auto, Greedy, GlsPlus, Tree)
}
"""Beacon's own; installed packages may add theirs (docs/extending.md)."""
NEEDED = ("name", "penalising", "growing", "patience", "fitted", "prepare", "advance")


def make_strategy(strategy: str | Strategy) -> Strategy:
    """A strategy by name, with its default settings; a strategy passes through."""
    if not isinstance(strategy, str):
        return _checked(strategy)
    if strategy in STRATEGIES:
        return STRATEGIES[strategy]()
    kind = load_installed(plugins.STRATEGIES, strategy)
    if kind is None:
        raise UsageError(f"no strategy is called {strategy!r}; there are: {', '.join(strategy_names())}")
    return _checked(kind())


def strategy_names() -> list[str]:
    """Every strategy that can be asked for by name, Beacon's own first."""
    return [*STRATEGIES, *(name for name in installed_names(plugins.STRATEGIES) if name not in STRATEGIES)]


def _checked(strategy: Any) -> Strategy:
    """Refuse what cannot search, with a word on what was probably meant."""
    if isinstance(strategy, type):
        name = strategy.__name__
        raise UsageError(f"expected a strategy, found the class {name}; write {name}()")
    lacking = [name for name in NEEDED if not hasattr(strategy, name)]
    if lacking:
        raise UsageError(
            f"expected a strategy, such as 'gls+' or GlsPlus(); found {strategy!r}, which has no {lacking[0]}"
        )
    checked: Strategy = strategy
    return checked
