"""Many searches on one model, side by side: for guides, teachers and experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.engine.core import rebuild, sibling
from beacon.errors import check_seed
from beacon.guided.advance import check_can_be_guided
from beacon.guided.guidance import Guidance, as_guidance, checked_scores
from beacon.model.evidence import Queries, observed_rows, resolve_queries
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.propagate import fixed_values
from beacon.runner.pool import Cancelled, Pool
from beacon.runner.result import Outcome, Result, checked_result
from beacon.runner.search import Search, Trace
from beacon.runner.stop import MaxSteps, Start, Stop, check_bounded, first_assignments, kind_of
from beacon.runner.warm_up import warm_up, warm_up_guided
from beacon.strategies.strategy import Strategy, make_strategy


class BatchOptions(TypedDict, total=False):
    """What else a batch can be told; see :class:`SearchBatch`."""

    propagate: bool
    log_zero: float | None
    threads: int | None
    yielding_start: bool


class SearchBatch:
    """One independent search per query over the same compiled model.

    All states are alive at once (a few times the model's tables each); :func:`beacon.solve_many` keeps
    only one per thread. Arrays have one row per query.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> batch = beacon.SearchBatch(ising_grid(4, 4), [{0: 0}, {0: 1}], strategy="gls+")
    >>> batch.run(100)  # this many steps more, each
    >>> batch.assignments.shape, batch.gains.shape
    ((2, 16), (2, 32))
    """

    def __init__(
        self,
        model: GraphicalModel,
        queries: Queries,
        strategy: str | Strategy = "gls+",
        start: Start = "random",
        seed: int = 0,
        *,
        propagate: bool = True,
        log_zero: float | None = None,
        threads: int | None = None,
        yielding_start: bool = False,
    ) -> None:
        """Place every search at its start; ``queries`` are mappings, or a table with a row for each.

        A ``yielding_start`` gives way to what the evidence implies.
        """
        self.evidences = resolve_queries(model, queries)
        check_seed(seed)
        self.model = model
        self.flat = compile_model(model, log_zero)
        self.seed = seed
        self.pool = Pool(threads)
        self.strategy = make_strategy(strategy).fitted(self.flat)
        warm_up(self.strategy, self.flat)
        starts = first_assignments(model, start, self.evidences)
        self.searches = [
            Search(
                self.flat,
                fixed_values(self.flat, evidence, None if yielding_start else first, propagate),
                self.strategy,
                first,
                seed,
                begin=kind_of(start),
            )
            for evidence, first in zip(self.evidences, starts, strict=True)
        ]
        self.reasons = ["steps"] * len(self.searches)

    def run(self, steps: int, scores: ArrayLike | None = None, weight: float | Guidance = 0.0) -> None:
        """Advance every search by this many steps (fewer for one that is proved optimal).

        ``scores`` [queries, moves] are a guide's, fresh or from earlier states; ``weight`` is their share in
        the choice of moves, or a whole :class:`Guidance`. Only Greedy and GLS+ can be guided.
        """
        more = MaxSteps(steps)
        check_bounded(more)
        stops = [Stop(steps=search.steps + more.steps) for search in self.searches]
        self.run_each(stops, scores, as_guidance(weight))

    def run_until(self, stop: Stop, scores: ArrayLike | None = None, weight: float | Guidance = 0.0) -> None:
        """Let every search run freely until ``stop``, whose limits count from its beginning."""
        check_bounded(stop)
        self.run_each([stop] * len(self.searches), scores, as_guidance(weight))

    def run_each(
        self,
        stops: Sequence[Stop],
        scores: ArrayLike | None = None,
        guidance: Guidance | None = None,
        on_improvement: Callable[[Search], None] | None = None,
    ) -> list[str]:
        """Let each search run until a stop of its own, and say why each ended; Ctrl-C ends them all."""
        guidance = guidance or Guidance()
        rows = self._rows_of(scores, guidance)
        cancelled = Cancelled()

        def advance(query: int) -> None:
            search, row = self.searches[query], rows[query]
            self.reasons[query] = search.run(stops[query], cancelled, on_improvement, row, guidance)

        self.pool.each(advance, len(self.searches), cancelled)
        return self.reasons

    def _rows_of(self, scores: ArrayLike | None, guidance: Guidance) -> Sequence[NDArray[np.float32] | None]:
        """Each query's scores, checked; None for all where there is no guide."""
        if scores is None:
            return [None] * len(self.searches)
        check_can_be_guided(self.strategy)
        if guidance.is_heeded:
            warm_up_guided(self.strategy.name, self.flat)
        return list(checked_scores(scores, len(self.searches), self.flat.num_moves))

    @property
    def assignments(self) -> NDArray[np.int64]:
        """[queries, variables] where each search stands."""
        rows = [search.core.assignment for search in self.searches]
        return np.array(rows, dtype=np.int64).reshape(len(rows), self.model.num_variables)

    @cached_property
    def observed(self) -> NDArray[np.bool_]:
        """[queries, variables] whether a variable is evidence (as given: not what it implies)."""
        return observed_rows(self.evidences, self.model.num_variables)

    @property
    def gains(self) -> NDArray[np.float64]:
        """[queries, moves] what each move adds to the strategy's own score; 0 for the current values.

        Moves of variables that are fixed, by evidence or by what it implies, have no meaning.
        """
        rows = [self._gains(search) for search in self.searches]
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.flat.num_moves)

    @property
    def best_assignments(self) -> NDArray[np.int64]:
        """[queries, variables] the best assignment of each search."""
        rows = [search.best_assignment for search in self.searches]
        return np.array(rows, dtype=np.int64).reshape(len(rows), self.model.num_variables)

    @property
    def best_scores(self) -> NDArray[np.float64]:
        """[queries] floored score of the best assignments."""
        return np.array([search.best_score for search in self.searches])

    @property
    def traces(self) -> list[Trace]:
        """The improvements of each search."""
        return [search.trace for search in self.searches]

    @property
    def results(self) -> list[Result]:
        """The best of each search so far, re-scored."""
        outcomes = map(Outcome.of, self.searches, self.reasons)
        rows = zip(self.evidences, outcomes, strict=True)
        return [
            checked_result(self.model, evidence, outcome, self.flat, self.seed) for evidence, outcome in rows
        ]

    def _gains(self, search: Search) -> NDArray[np.float64]:
        core = search.core
        if not search.strategy.flips:  # it keeps no local scores
            core = sibling(self.flat, core)
            rebuild(self.flat, core)
        current = core.local_scores[self.flat.move_starts[:-1] + core.assignment]
        gains: NDArray[np.float64] = core.local_scores - np.repeat(current, self.flat.domain_sizes)
        return gains
