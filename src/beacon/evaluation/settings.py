"""What an evaluation measures."""

from __future__ import annotations

from dataclasses import dataclass, replace

from beacon.errors import UsageError, check_count
from beacon.evaluation.catalog import check_names
from beacon.evaluation.method import Budget
from beacon.query.query_set import SPLITS

MOST_SEEDS = 1_000_000


@dataclass(frozen=True)
class EvaluateSettings:
    """Methods, budgets and queries of an evaluation.

    >>> import beacon
    >>> beacon.EvaluateSettings(methods=("gls+",), seconds=(1, 0.1)).budget.seconds
    (0.1, 1)
    """

    methods: tuple[str, ...] = ("greedy", "gls+", "tree", "auto")
    """What to compare: greedy, gls+, tree, auto; with a guide also beacon-greedy, beacon-gls+ and beacon (the
    guide's tuned settings); and objects of your own as package.module:name."""
    lambdas: tuple[float, ...] = ()
    """Measure beacon-greedy and beacon-gls+ with each of these weights, too."""
    propagate: bool = False
    """First fix what the evidence implies; off in the published protocol."""
    steps: tuple[int, ...] = (500, 1000, 2000, 4000)
    """Budgets in steps."""
    seconds: tuple[float, ...] = ()
    """Budgets in seconds."""
    split: str = "test"
    """Queries of a query set to use: test, validation or train."""
    limit: int | None = None
    """Only the first N of these queries."""
    count: int = 100
    """Queries to sample for a network that has no query set."""
    seeds: int = 1
    """Repeat with this many seeds: S, S + 1, …; each has starts of its own."""

    def __post_init__(self) -> None:
        check_names(self.methods)
        _ = self.budget
        check_count("seeds", self.seeds, 1, MOST_SEEDS)
        check_count("count", self.count, 1)
        if self.limit is not None:
            check_count("limit", self.limit, 1)
        if self.split not in SPLITS:
            raise UsageError(f"split must be {', '.join(SPLITS[:-1])} or {SPLITS[-1]}; found {self.split!r}")

    @property
    def budget(self) -> Budget:
        """Both kinds of budgets."""
        return Budget(self.steps, self.seconds)

    def extended(self, methods: tuple[str, ...], seconds: float | None = None) -> EvaluateSettings:
        """With more methods, and one more budget in seconds, the limit of other solvers."""
        more = () if seconds is None else (seconds,)
        return replace(self, methods=self.methods + methods, seconds=self.seconds + more)
