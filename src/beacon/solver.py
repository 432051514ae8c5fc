"""The front door with a guide: solve one query, or many on the same model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.guide.checkpoint import load_guide
from beacon.guided.advance import GUIDED_STRATEGIES
from beacon.guided.evidence_guide import EvidenceGuide
from beacon.guided.guide import Guide
from beacon.guided.use import GuideUse
from beacon.model.checks import check_is_model, check_seed
from beacon.model.evidence import Evidence
from beacon.model.fixed import as_fixed
from beacon.model.graphical_model import GraphicalModel
from beacon.model.queries import Queries, resolve_queries
from beacon.query.query_set import QuerySet
from beacon.runner import solve as unguided
from beacon.runner.guided_batch import GuidedBatch
from beacon.runner.result import Result
from beacon.runner.result_list import ResultList
from beacon.runner.scored import given_starts, guided_start, scores_last
from beacon.runner.search import Search
from beacon.runner.start import Start, first_assignments
from beacon.runner.stop import DEFAULT_STOP, Stop, stop_or_default
from beacon.strategies.strategy import Strategy

AnyGuide = Guide | str | os.PathLike[str]
GuidedStart = Literal["guide"] | Start

BATCH_BYTES = 2**30  # searches that run in step are all alive at once: as many as fit in this
BYTES_PER_ENTRY = 40  # of a search's state, for every table entry
MAX_BATCH = 256


def solve(
    model: GraphicalModel,
    evidence: Evidence | None = None,
    *,
    guide: AnyGuide | None = None,
    use: GuideUse | None = None,
    strategy: str | Strategy | None = None,
    stop: Stop | None = DEFAULT_STOP,
    start: GuidedStart | None = None,
    propagate: bool = True,
    seed: int = 0,
    log_zero: float | None = None,
    on_improvement: Callable[[Search], None] | None = None,
) -> Result:
    """Find the most probable explanation of one query; see :func:`solve_many`.

    Ctrl-C ends the search and returns the best assignment so far. ``on_improvement`` is called, at most
    every few milliseconds, with the search when it has found something better.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> result = beacon.solve(ising_grid(6, 6), {"x_0_0": "1"}, stop=beacon.MaxSteps(2_000), seed=0)
    >>> result.named_assignment["x_0_0"], result.zero_factors
    ('1', 0)
    >>> heard = []
    >>> result = beacon.solve(
    ...     ising_grid(6, 6), stop=beacon.MaxSteps(2_000), on_improvement=lambda s: heard.append(s.best_score)
    ... )
    >>> bool(heard[-1] == result.trace.scores[-1])
    True
    """
    (result,) = solve_many(
        model,
        [evidence],
        guide=guide,
        use=use,
        strategy=strategy,
        stop=stop,
        start=start,
        propagate=propagate,
        seed=seed,
        log_zero=log_zero,
        threads=1,
        on_improvement=on_improvement,
    )
    return result


def solve_many(
    model: GraphicalModel,
    evidences: Queries | QuerySet,
    *,
    guide: AnyGuide | None = None,
    use: GuideUse | None = None,
    strategy: str | Strategy | None = None,
    stop: Stop | None = DEFAULT_STOP,
    start: GuidedStart | None = None,
    propagate: bool = True,
    seed: int = 0,
    log_zero: float | None = None,
    threads: int | None = None,
    on_result: Callable[[int, Result], None] | None = None,
    on_improvement: Callable[[Search], None] | None = None,
) -> ResultList:
    """Solve many queries on one model, each under the same ``stop``, spread over ``threads``.

    ``evidences`` are mappings, a query set, or a table (of pandas, polars or Arrow, or columns by name) with
    a column per variable and a row per query; see :func:`beacon.model.data_frame.evidence_of_table`.
    ``guide`` is a trained guide or its folder; ``use`` says what it is asked for (what tuning chose, or else
    where to begin). ``start`` is "random", "guide", an assignment for all or one for each query; it outranks
    ``use``. ``strategy`` is "auto" unless given; where the guide has a say in moves or restarts,
    "gls+". A query's result depends on the model, its evidence, its start, the guide and the seed, not on
    its place in the list or the number of threads (as long as the stop counts steps, not seconds).
    ``on_result`` hears of each result as it comes. Ctrl-C ends all searches and returns what they have.
    With ``propagate``, values that the evidence implies (through zero potentials) are fixed before.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> results = beacon.solve_many(ising_grid(6, 6), [{"x_0_0": 0}, {"x_0_0": 1}], stop=beacon.MaxSteps(500))
    >>> [result.steps for result in results]
    [500, 500]
    """
    queries = evidence_of_queries(model, evidences)
    check_seed(seed)
    options: dict[str, Any] = {
        "stop": stop_or_default(stop),
        "propagate": propagate,
        "seed": seed,
        "log_zero": log_zero,
        "threads": threads,
        "on_result": on_result,
        "on_improvement": on_improvement,
    }
    if guide is None:
        if use is not None or _is_guide(start):
            raise UsageError("start='guide' and use need a guide; pass guide=..., or leave them out")
        first = "random" if start is None else start
        return unguided.solve_many(model, queries, strategy=strategy or "auto", start=first, **options)
    loaded = load_guide(guide, model) if isinstance(guide, str | os.PathLike) else guide
    use = use or tuned_use(loaded)
    if start is not None:
        use = replace(use, start="guide" if _is_guide(start) else "random")
    first = "random" if start is None or _is_guide(start) else start
    job = _GuidedJob(model, loaded, use, strategy or default_strategy(loaded, use), first, options)
    return job.solve(queries)


def evidence_of_queries(model: GraphicalModel, queries: Queries | QuerySet) -> list[dict[int, int]]:
    """The evidence of each query, whatever the queries come as."""
    check_is_model(model)
    if isinstance(queries, QuerySet):
        queries.check_model(model)
        return [queries.evidence(query) for query in range(len(queries))]
    return resolve_queries(model, queries)


def _is_guide(start: GuidedStart | None) -> bool:
    return isinstance(start, str) and start == "guide"


def tuned_use(guide: Guide) -> GuideUse:
    """How a guide is best used, as tuning has found; otherwise for the start alone."""
    return GuideUse.from_dict(_tuned(guide).get("use", {}))


def default_strategy(guide: Guide, use: GuideUse) -> str:
    """The strategy that tuning found best; otherwise the automatic mix, unless moves are to be guided."""
    tuned = str(_tuned(guide).get("strategy", "auto"))
    return "gls+" if use.guidance.is_heeded and tuned not in GUIDED_STRATEGIES else tuned


def _tuned(guide: Guide) -> dict[str, Any]:
    tuned: dict[str, Any] = getattr(guide, "facts", {}).get("tuned", {})
    return tuned


@dataclass(frozen=True)
class _GuidedJob:
    """Some queries to be solved with a guide."""

    model: GraphicalModel
    guide: Guide
    use: GuideUse
    strategy: str | Strategy
    start: Start
    options: dict[str, Any]

    def solve(self, evidences: Sequence[dict[int, int]]) -> ResultList:
        if self._can_score_first or not self.use.guidance.is_heeded:
            return self._score_once(evidences)
        return self._in_step(evidences)

    @property
    def _can_score_first(self) -> bool:
        """Can the guide say all it has to say before the searches are at their starts?"""
        is_asked_once = scores_last(self.guide, self.use)
        return is_asked_once and (self.use.start == "guide" or isinstance(self.guide, EvidenceGuide))

    def _score_once(self, evidences: Sequence[dict[int, int]]) -> ResultList:
        """Ask the guide about all queries at once; after that each search is on its own."""
        began = perf_counter()
        start, scores = self.start, None
        if self.use.asks_guide and evidences:
            given = self._given(evidences)
            guided, scores = guided_start(self.model, evidences, self.guide, given)
            start = guided if self.use.start == "guide" else start
        return unguided.solve_many(
            self.model,
            evidences,
            strategy=self.strategy,
            start=start,
            scores=scores if self.use.guidance.is_heeded else None,
            guidance=self.use.guidance,
            yielding_start=self.use.start == "guide",
            spent_seconds=(perf_counter() - began) / max(1, len(evidences)),
            **self.options,
        )

    def _given(self, evidences: Sequence[dict[int, int]]) -> NDArray[np.int64]:
        """Where the guide is asked. One of the evidence alone need not see more than that."""
        if isinstance(self.guide, EvidenceGuide) and isinstance(self.start, str):
            rows = [as_fixed(evidence, self.model.num_variables) for evidence in evidences]
            return np.maximum(np.array(rows, dtype=np.int64), 0)
        return given_starts(self.model, evidences, self.start, self.options["seed"])

    def _in_step(self, evidences: Sequence[dict[int, int]]) -> ResultList:
        """Searches that ask again and again do so together, a batch of them after another."""
        results = ResultList()
        stop, on_result, interrupted = self.options["stop"], self.options["on_result"], False
        size = _batch_size(self.model)
        for first in range(0, len(evidences), size):
            batch = self._batch(evidences, slice(first, first + size))
            try:
                if not interrupted:  # else the rest stay where they begin
                    batch.run_until(stop, self.options["on_improvement"])
            except KeyboardInterrupt:
                interrupted = True
            for result in batch.results:
                results.append(_interrupted(result, stop) if interrupted else result)
                if on_result is not None:
                    on_result(len(results) - 1, results[-1])
        return results

    def _batch(self, evidences: Sequence[dict[int, int]], some: slice) -> GuidedBatch:
        options = {name: self.options[name] for name in ("seed", "propagate", "log_zero", "threads")}
        starts = first_assignments(self.model, self.start, evidences)[some]
        given = "random" if starts[0] is None else np.array(starts)
        return GuidedBatch(self.model, evidences[some], self.guide, self.use, self.strategy, given, **options)


def _interrupted(result: Result, stop: Stop) -> Result:
    """A result after Ctrl-C: a search between two scorings seems to have come to its last step."""
    is_cut = result.stop == "steps" and result.steps < stop.steps
    return replace(result, stop="interrupted") if is_cut else result


def _batch_size(model: GraphicalModel) -> int:
    entries = sum(factor.log_table.size for factor in model.factors)
    return max(1, min(MAX_BATCH, BATCH_BYTES // (BYTES_PER_ENTRY * (entries + model.num_variables))))
