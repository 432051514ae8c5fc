"""Solve one query, or many on the same model.

Each query takes one way: its evidence reduces the model; the parts that are left are eliminated where that is
cheap, else searched, with an upper bound beside the search; the answer is scored again and becomes a result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, cast

from beacon.errors import UsageError, check_seed
from beacon.model.evidence import Evidence, Queries, check_is_model, resolve_queries
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.pool import Cancelled, has_workers
from beacon.runner.result import Outcome, Result, ResultList, checked_result
from beacon.runner.runner import Listener, Query, Runner
from beacon.runner.stop import (
    DEFAULT_STOP,
    Start,
    Stop,
    first_assignments,
    kind_of,
    perf_counter,
    stop_or_default,
)
from beacon.strategies.strategy import Strategy

if TYPE_CHECKING:
    from beacon.engine.core import Begin
    from beacon.guided.guidance import GuideUse
    from beacon.guided.guide import Guide
    from beacon.peers.proof import Prover
    from beacon.query.query_set import QuerySet
    from beacon.runner.asked import Asked

    AnyGuide = Guide | str | os.PathLike[str]
    AnyUse = GuideUse | Mapping[str, Any]
GuidedStart = Literal["guide"] | Start


def solve(
    model: GraphicalModel,
    evidence: Evidence | None = None,
    *,
    guide: AnyGuide | None = None,
    use: AnyUse | None = None,
    strategy: str | Strategy | None = None,
    stop: Stop | None = DEFAULT_STOP,
    start: GuidedStart | None = None,
    propagate: bool = True,
    prove: bool = False,
    seed: int = 0,
    log_zero: float | None = None,
    alternatives: int | None = None,
    distance: int = 1,
    margins: bool = False,
    suppose: Evidence | None = None,
    on_improvement: Listener | None = None,
    cancelled: Cancelled | None = None,
) -> Result:
    """Find the most probable explanation of one query; see :func:`solve_many`.

    Ctrl-C ends the search and returns the best assignment so far. ``on_improvement`` is called, at most
    every few milliseconds, with the search when it has found something better, or a better upper bound.

    Besides the answer, ``alternatives`` asks for this many best assignments, the answer among them, any two
    of which differ in at least ``distance`` variables (``result.alternatives``); ``margins`` for what each
    value of each variable would lose (``result.margins``); ``suppose`` for the best assignment with some
    values besides the evidence (``result.supposed``). They are exact where elimination solves the query, but
    for the largest tables and for alternatives that are many and far apart; ``exact`` says whether they are.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> result = beacon.solve(ising_grid(6, 6), {"x_0_0": "1"}, seed=0)
    >>> result.named_assignment["x_0_0"], result.zero_factors, result.is_optimal
    ('1', 0, True)
    >>> heard, grid = [], ising_grid(40, 40)  # too wide to be solved exactly: it is searched
    >>> result = beacon.solve(
    ...     grid, stop=beacon.MaxSteps(2_000), on_improvement=lambda search: heard.append(search.best_score)
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
        prove=prove,
        seed=seed,
        log_zero=log_zero,
        alternatives=alternatives,
        distance=distance,
        margins=margins,
        suppose=suppose,
        threads=1,
        on_improvement=on_improvement,
        cancelled=cancelled,
    )
    return result


def solve_many(
    model: GraphicalModel,
    evidences: Queries | QuerySet,
    *,
    guide: AnyGuide | None = None,
    use: AnyUse | None = None,
    strategy: str | Strategy | None = None,
    stop: Stop | None = DEFAULT_STOP,
    start: GuidedStart | None = None,
    propagate: bool = True,
    prove: bool = False,
    seed: int = 0,
    log_zero: float | None = None,
    alternatives: int | None = None,
    distance: int = 1,
    margins: bool = False,
    suppose: Evidence | None = None,
    threads: int | None = None,
    on_result: Callable[[int, Result], None] | None = None,
    on_improvement: Listener | None = None,
    cancelled: Cancelled | None = None,
) -> ResultList:
    """Solve many queries on one model, each under the same ``stop``, spread over ``threads``.

    Or over the workers that ``joblib.parallel_config`` names: processes (``loky``), or those of Dask or Ray.
    Then ``on_improvement`` hears nothing, and Ctrl-C leaves queries that are not done where they begin.

    ``evidences`` are mappings, a query set, or a table (of pandas, polars or Arrow, or columns by name) with
    a column per variable and a row per query; see :func:`beacon.model.data_frame.evidence_of_table`.
    ``guide`` is a trained guide or its folder; ``use`` says what it is asked for (what tuning chose, or else
    where to begin; a mapping changes some of that). ``start`` is "random", "constructed", "guide", an
    assignment for all or one for each query; it outranks ``use``. Without it "auto" begins by messages where
    that pays, else constructed; the others at random. ``strategy`` is "auto" unless given; where the guide
    has a say in moves or restarts, "gls+". A query's result depends on the model, its evidence, its start,
    the guide and the seed, not on its place in the list or the number of threads (as long as the stop counts
    steps, not seconds).
    ``on_result`` hears of each result as it comes. Ctrl-C ends all searches and returns what they have, and
    so does ``cancelled`` (a ``threading.Event``) once it is set.
    With ``propagate``, values that the evidence implies (through zero potentials) are fixed before.
    With ``prove``, half of the time limit is kept for toulbar2, which has to be installed: it gets what is
    left of a query that ends without a proof.
    ``alternatives``, ``distance``, ``margins`` and ``suppose`` are those of :func:`solve`, for each query.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> results = beacon.solve_many(ising_grid(6, 6), [{"x_0_0": 0}, {"x_0_0": 1}], stop=beacon.MaxSteps(500))
    >>> [result.proof for result in results]
    ['elimination', 'elimination']
    """
    called = perf_counter()
    resolved = evidence_of_queries(model, evidences)
    check_seed(seed)
    limits, prover = stop_or_default(stop), None
    if prove:
        from beacon.peers.proof import Prover  # noqa: PLC0415 - most solves need no other solver

        prover = Prover(limits.seconds)
        limits = replace(limits, seconds=prover.search_seconds)
    asked = None
    if alternatives is not None or distance != 1 or margins or suppose:
        from beacon.runner.asked import Asked  # noqa: PLC0415 - most solves want the answer alone

        asked = Asked.of(model, alternatives, distance, margins, suppose)
        for evidence in resolved:
            asked.check(model, evidence)
    loaded, use = guide_and_use(model, guide, use, start)
    starts = first_assignments(model, "random" if start is None or _is_guide(start) else start, resolved)
    queries = [Query(evidence, first) for evidence, first in zip(resolved, starts, strict=True)]
    answering = Answering(
        model=model,
        strategy=strategy or default_strategy(loaded, use),
        guide=loaded,
        use=use,
        seed=seed,
        propagate=propagate,
        log_zero=log_zero,
        begin=kind_of(start),
        limits=limits,
        prover=prover,
        asked=asked,
    )
    cancelled, results = cancelled or Cancelled(), dict[int, Result]()
    if len(queries) > 1 and has_workers():
        done = answering.by_workers(queries, threads, cancelled)
    else:
        done = answering.here(queries, threads, cancelled, on_improvement, called)
    for k, result in done:
        results[k] = result
        try:
            if on_result is not None:
                on_result(k, result)
        except KeyboardInterrupt:  # the other results are still to come
            cancelled.set()
    return ResultList(results[k] for k in range(len(queries)))


@dataclass(frozen=True, eq=False)
class Answering:
    """How queries are answered: all that is the same for every one of them. Workers are sent this."""

    model: GraphicalModel
    strategy: str | Strategy
    guide: Guide | None
    use: GuideUse | None
    seed: int
    propagate: bool
    log_zero: float | None
    begin: Begin | None
    limits: Stop
    prover: Prover | None
    asked: Asked | None

    @property
    def kept(self) -> tuple[object, ...]:
        """Every result refers to its model."""
        return (self.model,)

    def __call__(self, queries: Sequence[Query]) -> list[Result]:
        """A worker's part: the results of some queries, one after another."""
        return [result for _, result in sorted(self.here(queries, 1, Cancelled()), key=itemgetter(0))]

    def here(
        self,
        queries: Sequence[Query],
        threads: int | None,
        cancelled: Cancelled,
        on_improvement: Listener | None = None,
        called: float | None = None,
    ) -> Iterator[tuple[int, Result]]:
        """Results as they come from threads of this process; all are to be done in time since ``called``."""
        called = perf_counter() if called is None else called
        runner = Runner(
            self.model,
            self.strategy,
            self.guide,
            self.use,
            seed=self.seed,
            propagate=self.propagate,
            log_zero=self.log_zero,
            threads=threads,
            begin=self.begin,
        )

        def finish(k: int, outcome: Outcome) -> Result:
            evidence = queries[k].evidence
            if self.prover is not None:
                outcome = self.prover.proved(runner.flat, evidence, outcome, cancelled)
            result = checked_result(self.model, evidence, outcome, runner.flat, self.seed)
            return (
                result if self.asked is None else self.asked.answered(result, runner, self.limits, cancelled)
            )

        return runner.run(
            queries,
            [self.limits],
            finish,
            cancelled=cancelled,
            keeps_all=True,
            on_improvement=on_improvement,
            spent_seconds=perf_counter() - called - runner.loading_seconds,
        )

    def by_workers(
        self, queries: Sequence[Query], jobs: int | None, cancelled: Cancelled
    ) -> Iterator[tuple[int, Result]]:
        """Results as they come from other processes; after Ctrl-C, the rest are left where they begin."""
        from beacon.runner.workers import spread  # noqa: PLC0415 - most queries are answered here

        left = set(range(len(queries)))
        try:
            for k, result in spread(self, queries, jobs, cancelled):
                left.remove(k)
                yield k, result
        except KeyboardInterrupt:
            cancelled.set()
        rest = sorted(left)
        for k, result in self.here([queries[k] for k in rest], 1, cancelled) if rest else ():
            yield rest[k], result


def evidence_of_queries(model: GraphicalModel, queries: Queries | QuerySet) -> list[dict[int, int]]:
    """The evidence of each query, whatever the queries come as."""
    check_is_model(model)
    if hasattr(queries, "check_model"):  # a query set
        query_set = cast("QuerySet", queries)
        query_set.check_model(model)
        return [query_set.evidence(query) for query in range(len(query_set))]
    return resolve_queries(model, queries)


def tuned_use(guide: Guide, changes: Mapping[str, Any] | None = None) -> GuideUse:
    """How a guide is best used, as tuning has found, with changes; otherwise for the start alone."""
    from beacon.guided.guidance import OWN_STARTS, GuideUse  # noqa: PLC0415 - most solves have no guide

    changes, tuned = changes or {}, dict(_tuned(guide).get("use", {}))
    settings = {**tuned, **changes}
    is_heeded = settings.get("weight") or settings.get("restart_from") == "guide"
    if is_heeded and "start" not in changes and settings.get("start") in OWN_STARTS:
        settings["start"] = "guide"  # a guide that is heeded has no say beside a start that tuning found
    if settings.get("start") != tuned.get("start") and "opinions" not in changes:
        settings.pop("opinions", None)  # they were found for the start that tuning chose
    use = GuideUse.from_dict(settings)
    return use.whatever_the_time() if changes else use


def default_strategy(guide: Guide | None, use: GuideUse | None) -> str | Strategy:
    """The strategy that tuning found best; otherwise the automatic mix, unless moves are to be guided."""
    tuned = str(_tuned(guide).get("strategy", "auto"))
    if use is not None and use.guidance.is_heeded:
        return tuned if tuned in {"greedy", "gls+"} else "gls+"
    if "profile" in _tuned(guide):
        from beacon.strategies.auto.profile import Profile  # noqa: PLC0415 - few guides have one

        return Profile.from_dict(_tuned(guide)["profile"]).strategy()
    return tuned


def guide_and_use(
    model: GraphicalModel, guide: AnyGuide | None, use: AnyUse | None, start: GuidedStart | None
) -> tuple[Guide | None, GuideUse | None]:
    """The guide, loaded, and what it is asked for."""
    if guide is None:
        if use or _is_guide(start):
            raise UsageError("start='guide' and use need a guide; pass guide=..., or leave them out")
        return None, None
    if isinstance(guide, str | os.PathLike):
        from beacon.guide.checkpoint import load_guide  # noqa: PLC0415

        guide = load_guide(guide, model)
    begun: dict[str, Any] = {} if start is None else {"start": "guide" if _is_guide(start) else "random"}
    if use is None or isinstance(use, Mapping):
        return guide, tuned_use(guide, {**(use or {}), **begun})
    return guide, replace(use.whatever_the_time(), **begun) if begun else use


def _is_guide(start: GuidedStart | None) -> bool:
    return isinstance(start, str) and start == "guide"


def _tuned(guide: Guide | None) -> dict[str, Any]:
    tuned: dict[str, Any] = getattr(guide, "facts", {}).get("tuned", {})
    return tuned
