"""A guide at work: score the moves of many searches at once, let them run on these scores, score again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.evaluate.drift import Step
from beacon.evaluate.engine_method import strategy_settings
from beacon.evaluate.method import Budget, Network, Query, Run
from beacon.guide.guide import Guide, StateBatch, States
from beacon.search.batch import SearchBatch
from beacon.search.strategy import Strategy
from beacon.search.trace import Trace
from beacon.search.warm_up import warm_up

BLOCK_STEPS = 1000  # between two looks at the clock where scores are never made anew

Begin = Callable[[StateBatch], NDArray[np.int64]]
"""From random starts to better ones: [states, variables]."""


@dataclass(frozen=True)
class GuidedMethod:
    """A strategy whose moves, start or both follow a guide.

    Queries are scored together, ``batch_size`` at a time; a query's clock counts its own search and its
    share of every scoring.
    """

    name: str
    guide: Guide
    strategy: Strategy
    baseline: str | None
    weight: float | None = 0.5
    """λ; None: the guide chooses the start alone."""
    guidance: Any = None
    """What the batch takes in place of a weight, if there is more to say; None: the weight."""
    refresh: int = 50
    """Steps between two scorings; 0: score once."""
    begin: Begin | None = None
    """Where to begin, given the random start; None: there."""
    batch_size: int = 100
    propagate: bool = False
    facts: dict[str, Any] = field(default_factory=dict)
    """Where the guide comes from, for the record."""
    make_batch: Callable[..., Any] = SearchBatch
    counts_steps: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if self.weight is not None and not 0 <= self.weight <= 1:
            raise UsageError(f"weight (λ) must lie in 0..1; found {self.weight}")
        if self.refresh < 0 or self.batch_size < 1:
            raise UsageError(
                f"refresh must be 0 or more and batch_size 1 or more; found {self.refresh}, {self.batch_size}"
            )

    @property
    def walks(self) -> bool:
        """Is every step a single flip?"""
        return not self.strategy.growing

    def settings(self) -> dict[str, Any]:
        """The strategy's settings and the guide's."""
        own = {name: getattr(self, name) for name in ("weight", "refresh", "batch_size", "propagate")}
        start = "random" if self.begin is None else "guide"
        return {**strategy_settings(self.strategy), **own, "start": start, "guide": self.facts}

    def prepare(self, network: Network) -> None:
        """Load the kernels, and let the guide warm up on one state."""
        warm_up(self.strategy.fitted(network.flat))
        sizes = (1, network.model.num_variables)
        self.guide.score(States(np.zeros(sizes, np.int64), np.zeros(sizes, np.bool_)))

    def run(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[tuple[Query, Run]]:
        """A batch of queries after another."""
        for first in range(0, len(queries), self.batch_size):
            some = queries[first : first + self.batch_size]
            yield from zip(some, _GuidedBatch(self, network, some, seed, threads).runs(budget), strict=True)

    def walk(self, network: Network, query: Query, seed: int, steps: int) -> Iterator[Step]:
        """Run one step at a time, scoring as often as ``run`` does."""
        guided = _GuidedBatch(self, network, [query], seed, 1)
        before = guided.batch.assignments[0]
        for _ in range(steps):
            if not guided.advance(1):
                return
            now = guided.batch.assignments[0]
            yield Step(now, is_move=np.count_nonzero(now != before) == 1)
            before = now


class _GuidedBatch:
    """Some queries under way, and what the guide has cost them."""

    def __init__(
        self, method: GuidedMethod, network: Network, queries: Sequence[Query], seed: int, threads: int
    ) -> None:
        self.method = method
        began = perf_counter()
        self.batch = method.make_batch(
            network.model,
            [query.evidence for query in queries],
            method.strategy,
            _starts(method, queries),
            seed,
            propagate=method.propagate,
            log_zero=network.flat.log_zero,
            threads=threads,
        )
        self.setup_seconds = (perf_counter() - began) / len(queries)
        self.made_steps = 0
        self.scores: NDArray[np.float32] | None = None
        self.scored_at: list[int] = []  # steps made before each scoring
        self.shares = [0.0]  # each query's share of all scorings up to that one

    def runs(self, budget: Budget) -> list[Run]:
        """Run until both budgets are used up, or nothing moves any more."""
        is_moving = True
        while is_moving and (block := self._next_block(budget)):
            is_moving = self.advance(block)
        return [self._run(query) for query in range(len(self.batch.searches))]

    def advance(self, steps: int) -> bool:
        """So many steps on scores that are as fresh as they should be; did any search move?"""
        weight, refresh = self.method.weight, self.method.refresh
        if weight and (self.scores is None or (refresh and self.made_steps % refresh == 0)):
            self._score()
        before = [search.steps for search in self.batch.searches]
        guidance = self.method.guidance if weight else None
        self.batch.run(steps, scores=self.scores, weight=guidance if guidance is not None else weight or 0.0)
        self.made_steps += steps
        return any(search.steps > made for search, made in zip(self.batch.searches, before, strict=True))

    def _next_block(self, budget: Budget) -> int:
        """Steps until the next scoring, the end of the steps, or the next look at the clock; 0: done."""
        refresh = self.method.refresh if self.method.weight else 0
        block = refresh - self.made_steps % refresh if refresh else BLOCK_STEPS
        if self.made_steps < budget.max_steps:
            return min(block, budget.max_steps - self.made_steps)
        slowest = min(search.seconds for search in self.batch.searches)
        return block if self.setup_seconds + self.shares[-1] + slowest < budget.max_seconds else 0

    def _score(self) -> None:
        began = perf_counter()
        self.scores = self.method.guide.score(self.batch)
        self.scored_at.append(self.made_steps)
        self.shares.append(self.shares[-1] + (perf_counter() - began) / len(self.batch.searches))

    def _run(self, query: int) -> Run:
        search, trace = self.batch.searches[query], self.batch.traces[query]
        guiding = np.array(self.shares)[np.searchsorted(self.scored_at, trace.steps, side="left")]
        seconds = np.where(trace.steps > 0, trace.seconds + guiding + self.setup_seconds, 0.0)
        return Run(
            trace=Trace(trace.steps, seconds, trace.scores, trace.zero_factors),
            assignment=self.batch.best_assignments[query],
            steps=search.steps,
            setup_seconds=self.setup_seconds,
            seconds=search.seconds + self.shares[-1],
            stop="budget",
            proved=False,
        )


def _starts(method: GuidedMethod, queries: Sequence[Query]) -> NDArray[np.int64]:
    starts = np.array([query.start for query in queries])
    if method.begin is None:
        return starts
    observed = np.zeros(starts.shape, dtype=np.bool_)
    for row, query in zip(observed, queries, strict=True):
        row[list(query.evidence)] = True
    return method.begin(States(starts, observed))
