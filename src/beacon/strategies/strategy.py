"""What a strategy is, and the strategies by name. docs/extending.md shows how to write one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

from beacon.engine.core import Begin, Clock, CoreState, draw_assignment, rebuild
from beacon.engine.incumbent import Limits
from beacon.errors import UsageError
from beacon.model.flat import FlatModel

if TYPE_CHECKING:
    from beacon.engine.cross import LaterOpinions


class Strategy(ABC):
    """A way to search: settings, and how they act on a state.

    A strategy never changes, since many searches share it. What one search must remember lives in the core
    state that all strategies have alike, and in a state of the strategy's own beside it.
    """

    name: ClassVar[str]
    """What results and tables call it."""
    flips: ClassVar[bool] = True
    """Does it choose single moves? Only then does the core keep local scores and gains up to date."""

    joins: ClassVar[bool] = False
    """May factors of equal scope be added up first? Not where a factor by itself means something."""

    @property
    def patience(self) -> float:
        """This many local optima in a row without a step between them mean that no step will come."""
        return math.inf

    def fitted(self, model: FlatModel) -> Self:
        """The same strategy with every setting that depends on the model filled in."""
        return self

    def weighted(self, penalty_weight: float) -> Strategy:
        """The same strategy with another weight of its penalties, where it has any."""
        raise UsageError(f"a penalty weight belongs to auto or gls+, not to {self.name}")

    def begin(self, model: FlatModel, core: CoreState) -> None:
        """Put a first assignment in place where none is given: a random one."""
        draw_assignment(model, core)

    def beginning(self, model: FlatModel, seconds: float, clock: Clock) -> Begin:
        """What puts a first assignment in place in a search that has this many seconds, or no time limit."""
        return self.begin

    def new_state(self, model: FlatModel, core: CoreState) -> Any:
        """What one search remembers beside its core: mostly a NamedTuple of arrays; None if nothing.

        The core has its first assignment by then, and nothing that depends on it yet.
        """
        return None

    def settle(self, model: FlatModel, core: CoreState, own: Any) -> None:
        """Bring both states up to date with an assignment that was put in place of the current one."""
        rebuild(model, core)

    @abstractmethod
    def advance(self, model: FlatModel, core: CoreState, own: Any, limits: Limits) -> int:
        """Run until a limit is reached; return RUNNING, OPTIMAL, STALLED or TARGET."""

    def take_opinions(self, own: Any, opinions: LaterOpinions) -> None:  # noqa: B027 - most have no use for them
        """Cross the best assignment with others as time goes by; the automatic mix alone does."""

    def at_work(self, own: Any) -> int:
        """Which of several parts of the strategy goes on next: work of each takes a time of its own."""
        return 0

    def stands_aside(self, model: FlatModel, others: Sequence[tuple[Strategy, Any]]) -> bool:
        """As an arm of the automatic mix: is it of no use beside ``others``, which have had a turn?

        It is asked before its first turn, so that an arm of no use costs nothing.
        """
        return False

    def stays(self, own: Any, leads: bool, has_news: bool) -> bool:
        """As an arm of the automatic mix: go on where it was left, or from the best of all arms?

        It may have the largest share of the time (``leads``), and the other arms may have found something
        better since it was left (``has_news``).
        """
        return leads or not has_news


STRATEGIES = {
    "auto": ("beacon.strategies.auto", "Auto"),
    "greedy": ("beacon.strategies.greedy", "Greedy"),
    "gls+": ("beacon.strategies.gls", "GlsPlus"),
    "tree": ("beacon.strategies.tree", "Tree"),
}
"""Where Beacon's own are defined; each is imported when it is first asked for. Installed packages may add
theirs (docs/extending.md)."""


def make_strategy(strategy: str | Strategy) -> Strategy:
    """A strategy by name, with its default settings; a strategy passes through."""
    if not isinstance(strategy, str):
        return _checked(strategy)
    if strategy in STRATEGIES:
        module, kind_name = STRATEGIES[strategy]
        return _checked(getattr(import_module(module), kind_name)())
    from beacon import plugins  # noqa: PLC0415 - only for names that are not Beacon's own

    kind = plugins.load_installed(plugins.STRATEGIES, strategy)
    if kind is None:
        raise UsageError(f"no strategy is called {strategy!r}; there are: {', '.join(strategy_names())}")
    return _checked(kind())


def strategy_names() -> list[str]:
    """Every strategy that can be asked for by name, Beacon's own first."""
    from beacon import plugins  # noqa: PLC0415

    installed = plugins.installed_names(plugins.STRATEGIES)
    return [*STRATEGIES, *(name for name in installed if name not in STRATEGIES)]


def _checked(strategy: Any) -> Strategy:
    """Refuse what cannot search, with a word on what was probably meant."""
    if isinstance(strategy, Strategy):
        return strategy
    if isinstance(strategy, type):
        name = strategy.__name__
        raise UsageError(f"expected a strategy, found the class {name}; write {name}()")
    raise UsageError(
        f"expected a strategy, such as 'gls+' or GlsPlus(); found {strategy!r}: "
        "strategies derive from beacon.extend.Strategy"
    )
