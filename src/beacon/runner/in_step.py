"""Many guided searches in step: score them together, let them run on these scores, score again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from beacon.guided.guidance import GuideUse
from beacon.guided.guide import Guide, States
from beacon.model.evidence import Queries, resolve_queries
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.batch import BatchOptions, SearchBatch
from beacon.runner.result import Outcome
from beacon.runner.scored import ScoredStarts, scores_last
from beacon.runner.search import Search
from beacon.runner.stop import Start, Stop, check_bounded, first_assignments, perf_counter
from beacon.runner.warm_up import warm_up_guided, warm_up_scoring
from beacon.strategies.strategy import Strategy, make_strategy


class GuidedBatch:
    """One guided search per query; each is charged its share of every scoring, in seconds."""

    def __init__(
        self,
        model: GraphicalModel,
        queries: Queries,
        guide: Guide,
        use: GuideUse,
        strategy: str | Strategy = "gls+",
        start: Start = "random",
        seed: int = 0,
        **options: Unpack[BatchOptions],
    ) -> None:
        """Place every search where the guide would begin, or at ``start``.

        What the evidence implies outranks the guide's start, and a ``yielding_start`` too.
        """
        strategy = make_strategy(strategy)
        warm_up_scoring()
        evidences = resolve_queries(model, queries)
        empty = SearchBatch(model, [], strategy, log_zero=options.get("log_zero"))  # compiles model, kernels
        if use.guidance.is_heeded:
            warm_up_guided(strategy.name, empty.flat)
        began = perf_counter()
        self.guide, self.use = guide, use
        self.scores: NDArray[np.float32] | None = None
        self._scored: ScoredStarts | None = None
        if use.start == "guide":
            rows = first_assignments(model, start, evidences)
            self._scored = ScoredStarts.ask(model, empty.flat, evidences, guide, rows, seed)
            start, self.scores = self._scored.starts, self._scored.scores
            options["yielding_start"] = True
        self.batch = SearchBatch(model, evidences, strategy, start, seed, **options)
        self._refresh = math.inf if scores_last(guide, use) else use.refresh
        self._due = [self._refresh if math.isinf(self._refresh) else 0.0] * len(evidences)
        seconds = perf_counter() - began
        self.setup_seconds = seconds / max(1, len(evidences))
        self._charge(range(len(evidences)), seconds)

    @property
    def outcomes(self) -> list[Outcome]:
        """What each search has left behind so far, with the time that set-up and scoring took.

        Until the guide has said where to begin, nothing better is known than the start it was given; where
        it says, and how good that is, is known before the searches are set up.
        """
        outcomes = []
        for query, (search, reason) in enumerate(zip(self.batch.searches, self.batch.reasons, strict=True)):
            trace = search.trace
            if self._scored is not None:
                trace = self._scored.trace(query, trace, self.setup_seconds)
            outcomes.append(Outcome.of(search, reason, self.setup_seconds, trace))
        return outcomes

    def run_until(self, stop: Stop, on_improvement: Callable[[Search], None] | None = None) -> None:
        """Let every search run until ``stop``, whose limits count from its beginning, scoring included."""
        check_bounded(stop)
        guidance, num_queries = self.use.guidance, len(self.batch.searches)
        if not guidance.is_heeded:
            self.batch.run_each([stop] * num_queries, on_improvement=on_improvement)
            return
        unfinished: Sequence[int] = range(num_queries)
        while unfinished:
            self._score([query for query in unfinished if self._is_due(query)])
            stops = [stop | Stop(steps=due) for due in self._due]
            reasons = self.batch.run_each(stops, self.scores, guidance, on_improvement)
            unfinished = [
                query
                for query in unfinished
                if reasons[query] == "steps" and self.batch.searches[query].steps < stop.steps
            ]

    def _is_due(self, query: int) -> bool:
        return self.scores is None or self.batch.searches[query].steps >= self._due[query]

    def _score(self, queries: Sequence[int]) -> None:
        """Score where these searches stand, and say when that is to be done again."""
        if not queries:
            return
        began = perf_counter()
        rows = self.guide.score(States(self.batch.assignments[queries], self.batch.observed[queries]))
        if self.scores is None:
            self.scores = np.zeros((len(self.batch.searches), rows.shape[1]), dtype=np.float32)
        self.scores[queries] = rows
        for query in queries:
            self._due[query] = self.batch.searches[query].steps + self._refresh
        self._charge(queries, perf_counter() - began)

    def _charge(self, queries: Sequence[int], seconds: float) -> None:
        for query in queries:
            self.batch.searches[query].charge(seconds / len(queries))
