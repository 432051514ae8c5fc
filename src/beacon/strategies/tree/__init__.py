"""Tree moves: their settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from beacon.engine.core import CoreState, recount
from beacon.engine.incumbent import Limits
from beacon.errors import UsageError, check_at_least, check_count
from beacon.model.flat import FlatModel
from beacon.strategies.strategy import Strategy
from beacon.strategies.tree.kernel import TreeConstants, run_tree
from beacon.strategies.tree.state import MAX_BLOCK_ENTRIES, TreeState, new_tree_state


@dataclass(frozen=True)
class Tree(Strategy):
    """Exact moves on blocks of bounded width in perturbed regions; see docs/strategies.md.

    >>> import beacon
    >>> beacon.Tree(max_region=40).max_region
    40
    """

    min_region: int = 8
    """Fewest variables of a region."""
    max_region: int = 200
    """Most variables of a region."""
    block_entries: int = 256
    """Most entries of a table that eliminates a variable of a block."""
    blocks: int = 3
    """Blocks tried in each region."""
    first_sweeps: int = 6
    """Sweeps of blocks over all free variables at the beginning."""
    restart_idle: float = 10.0
    """Begin afresh after this many steps per free variable without a gain; 0: never."""

    name: ClassVar[str] = "tree"
    flips: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        for name in ("min_region", "max_region", "blocks", "first_sweeps"):
            check_count(name, getattr(self, name), 1)
        check_count("block_entries", self.block_entries, 2, MAX_BLOCK_ENTRIES)
        check_at_least("restart_idle", self.restart_idle, 0)
        if self.min_region > self.max_region:
            raise UsageError(
                f"regions need min_region ≤ max_region; found {self.min_region} and {self.max_region}"
            )

    def new_state(self, model: FlatModel, core: CoreState) -> TreeState:
        """Room for regions and blocks."""
        return new_tree_state(model, core, self.block_entries, self.max_region)

    def settle(self, model: FlatModel, core: CoreState, own: TreeState) -> None:
        """Count the scores; there are no gains to keep."""
        recount(model, core)

    def advance(self, model: FlatModel, core: CoreState, own: TreeState, limits: Limits) -> int:
        """Run the kernel."""
        constants = TreeConstants(
            min_region=self.min_region,
            max_region=self.max_region,
            block_entries=self.block_entries,
            blocks=self.blocks,
            first_sweeps=self.first_sweeps,
            restart_idle=float(self.restart_idle),
            hard_zero=model.hard_zero,
        )
        return run_tree(model, core, own, constants, limits)

    def stays(self, own: TreeState, leads: bool, has_news: bool) -> bool:
        """Stay on a fresh start until it is crossed; otherwise work on the best of all arms."""
        return bool(own.counters[0]["is_fresh"])
