"""The one place that runs searches: what is known first, what a query is charged, how a guide is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import warn_of_lost_digits
from beacon.model.flat import FlatModel, as_fixed, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.propagate import contradicts, fixed_values
from beacon.runner.pool import Cancelled, Pool
from beacon.runner.result import Outcome
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps, Stop, perf_counter
from beacon.runner.warm_up import (
    warm_up,
    warm_up_crossing,
    warm_up_exact,
    warm_up_guided,
    warm_up_joining,
    warm_up_long_way,
    warm_up_scoring,
    warm_up_search,
    warm_up_start,
)
from beacon.strategies.strategy import Strategy, make_strategy

if TYPE_CHECKING:
    from beacon.engine.core import Begin, Clock
    from beacon.engine.cross import LaterOpinions
    from beacon.exact.solve import SolvedParts
    from beacon.guided.guidance import Guidance, GuideUse
    from beacon.guided.guide import Guide
    from beacon.runner.known import Effort

    Begun = Callable[["Query", float, Clock], "Query"]
    """Says where a query begins that has this many seconds left."""

T = TypeVar("T")
U = TypeVar("U")
Listener = Callable[[Search], None]
"""Hears of improvements and better upper bounds, at most every few milliseconds."""
Finish = Callable[[int, Outcome], T]
"""What is made of each outcome, in the thread that searched."""

BATCH_BYTES = 2**30  # searches that run in step are all alive at once: as many as fit in this
BYTES_PER_ENTRY = 40  # of a search's state, for every table entry
MAX_BATCH = 256
LEAST_SHARE = 0.5  # of its time limit: what a query gets even if earlier ones took more than theirs


@dataclass(frozen=True, eq=False)
class Query:
    """One query: what is observed, and where to begin."""

    evidence: dict[int, int]
    start: NDArray[np.int64] | None = None
    """None: as ``begin`` says."""
    yields: bool = False
    """Does the start give way to what the evidence implies? Else nothing that contradicts it is fixed."""
    opinions: NDArray[np.integer] | None = None
    """Assignments to cross the start with."""
    later: LaterOpinions | None = None
    """What the strategy is to cross its best with as time goes by."""
    seed: int | None = None
    """None: the runner's."""
    begin: Begin | None = None
    """What puts a start in place; None: as the runner or the strategy does."""


class Knowledge(NamedTuple):
    """What is known about a query before it is searched."""

    best: tuple[NDArray[np.integer], float] | None = None
    """A best assignment and its score, where elimination has found one."""
    parts: SolvedParts | None = None
    """Else, what there is to know about the parts."""
    seconds: float = 0.0
    """What it took to find out."""


class Runner:
    """Runs queries on one model with one strategy, with a guide or without."""

    def __init__(
        self,
        model: GraphicalModel,
        strategy: str | Strategy,
        guide: Guide | None = None,
        use: GuideUse | None = None,
        *,
        seed: int = 0,
        propagate: bool = True,
        log_zero: float | None = None,
        flat: FlatModel | None = None,
        threads: int | None = None,
        batch_size: int | None = None,
        begin: Begin | None = None,
    ) -> None:
        """Compile model (unless ``flat`` has it) and kernels, before any clock runs.

        ``use`` says what the guide is asked for, ``begin`` where queries without a start begin.
        """
        self.model, self.seed, self.propagate = model, seed, propagate
        is_asked = guide is not None and use is not None and use.asks_guide
        self.guide: Guide | None = guide if is_asked else None
        self.use: GuideUse | None = use if is_asked else None
        began = perf_counter()
        chosen = make_strategy(strategy)
        if chosen.joins:
            warm_up_joining()
        loading_seconds = perf_counter() - began
        self.flat = compile_model(model, log_zero) if flat is None else flat
        warn_of_lost_digits(self.flat)
        self.searched = _joined(self.flat) if chosen.joins else self.flat
        """What is searched; ``flat`` has the factors that scores are made of."""
        self.strategy = chosen.fitted(self.searched)
        self.pool = Pool(threads)
        self.begin = begin
        self.batch_size = batch_size or _batch_size(model)
        self.knows = propagate and bool(getattr(self.strategy, "exact", False))
        began = perf_counter()
        if self.knows:
            warm_up_exact()  # what a search needs is loaded when one is needed
        else:
            warm_up(self.strategy, self.searched)
        if begin is not None:
            warm_up_start(begin, self.searched)
        if self.use is not None:
            warm_up_scoring()
            if self.begins_itself:
                _warm_up_own_starts(self.searched)
            from beacon.runner.scored import crosses  # noqa: PLC0415

            if self.guide is not None and crosses(self.guide, self.use):
                warm_up_crossing(self.searched)
            if self.use.guidance.is_heeded:
                warm_up_guided(self.strategy.name, self.searched)
        self.loading_seconds = loading_seconds + perf_counter() - began
        """What it took to load modules, and to load or compile kernels: no query is charged for it."""

    def run(
        self,
        queries: Sequence[Query],
        stops: Sequence[Stop],
        finish: Finish[T],
        *,
        cancelled: Cancelled | None = None,
        keeps_all: bool = False,
        on_improvement: Listener | None = None,
        spent_seconds: float | None = None,
    ) -> Iterator[tuple[int, T]]:
        """Search every query until one stop after the other; yield each outcome as it comes, in any order.

        Ctrl-C cancels all searches. With ``keeps_all`` their outcomes still come, else it goes on to the
        caller. With ``spent_seconds`` all queries together are to end in time: what was spent before is
        shared by them, and so is what some take beyond their limit. Without it each has its whole limit.
        """
        rounds = max(1, math.ceil(len(queries) / self.pool.threads))
        cancelled, spent = cancelled or Cancelled(), (spent_seconds or 0.0) / rounds
        ends = math.inf
        if spent_seconds is not None:
            ends = perf_counter() - spent_seconds + rounds * stops[-1].seconds
        job = _Job(self, queries, stops, finish, cancelled, keeps_all, on_improvement, spent, ends)
        use = None if self.use is None else self.use.within(stops[-1].seconds)
        if self.guide is None or use is None:
            return job.each_alone()
        if use.is_own_start:
            return job.each_alone(partial(self._begun, use))
        from beacon.runner.scored import is_asked_first  # noqa: PLC0415 - most searches have no guide

        return job.scored_once() if is_asked_first(self.guide, use) else job.in_step()

    def outcome(
        self,
        query: Query,
        stops: Sequence[Stop],
        *,
        cancelled: Cancelled | None = None,
        on_improvement: Listener | None = None,
        scores: NDArray[np.float32] | None = None,
        spent_seconds: float = 0.0,
        knowledge: Knowledge | None = None,
    ) -> Outcome:
        """Answer one query: what is cheap to know is computed, the rest is searched."""
        if knowledge is None:
            is_over = cancelled is not None and cancelled.is_set()
            knowledge = Knowledge() if is_over else self.know(query, stops)
        began = perf_counter() - spent_seconds - knowledge.seconds
        if knowledge.best is not None:
            from beacon.runner.known import proved  # noqa: PLC0415

            return proved(*knowledge.best, self.strategy.name, began, spent_seconds)
        if self.knows:
            began += warm_up_search(self.strategy, self.searched)
        bounding, known = None, knowledge.parts
        if known is not None:
            from beacon.runner.bounding import Bounding  # noqa: PLC0415
            from beacon.runner.known import Effort  # noqa: PLC0415

            bounding = Bounding(known, Effort.within(stops[-1].seconds))
            bounding.before(perf_counter() - began)
        left = stops[-1].seconds - (perf_counter() - began)
        search, turn = self._new_search(query, known, left, cancelled), None
        if bounding is not None:
            search.lower(bounding.limit, bounding.slack)
            turn = bounding.turn
        if known is not None and known.is_impossible:  # a short search for few zeros is enough
            stops = [stops[-1] | MaxSteps(self.searched.num_variables)]
        setup_seconds = perf_counter() - began
        search.charge(setup_seconds)
        reason = "steps"
        for stop in stops:
            if reason in {"steps", "seconds"}:
                reason = search.run(stop, cancelled, on_improvement, scores, self._guidance, turn)
        outcome = Outcome.of(search, reason, setup_seconds)
        return outcome if bounding is None else bounding.completed(outcome)

    def know(self, query: Query, stops: Sequence[Stop], so_far: Knowledge | None = None) -> Knowledge:
        """What a part of the first time limit can tell before any search; nothing where none is wanted.

        ``so_far`` is what :meth:`know_at_once` has told.
        """
        so_far = so_far or self.know_at_once(query, stops)
        effort = self._effort(stops)
        if so_far.best is not None or effort is None:
            return so_far
        from beacon.runner.known import know  # noqa: PLC0415

        warm_up_long_way()
        began = perf_counter() - so_far.seconds
        known = know(self.searched, query.evidence, effort, self._seed_of(query))
        solved = (known.complete(), known.score) if known.is_optimum else None
        return Knowledge(solved, known, perf_counter() - began)

    def know_at_once(self, query: Query, stops: Sequence[Stop]) -> Knowledge:
        """The optimum, where one quick call finds it."""
        effort = self._effort(stops)
        if effort is None:
            return Knowledge()
        from beacon.exact.at_once import at_once  # noqa: PLC0415

        began, given = perf_counter(), as_fixed(query.evidence, self.flat.num_variables)
        best = at_once(self.searched).answer(self.searched, given, self._seed_of(query), effort.caps)
        return Knowledge(best, seconds=perf_counter() - began)

    def _seed_of(self, query: Query) -> int:
        return self.seed if query.seed is None else query.seed

    def _effort(self, stops: Sequence[Stop]) -> Effort | None:
        """What may be spent on knowing; None: nothing."""
        if not self.knows:
            return None
        from beacon.runner.known import Effort  # noqa: PLC0415 - most strategies know nothing

        effort = Effort.within(stops[0].seconds)
        return effort if effort.pays_to_reduce(self.searched) else None

    def _new_search(
        self, query: Query, known: SolvedParts | None, seconds: float, cancelled: Cancelled | None
    ) -> Search:
        held = None if query.yields else query.start
        if known is None or (held is not None and contradicts(held, known.reduced.fixed)):
            fixed = fixed_values(self.searched, query.evidence, held, self.propagate)
        else:
            fixed = known.fixed
        begin = query.begin or self.begin
        if query.start is None and begin is None:
            begin = self.strategy.beginning(self.searched, *_time_left(seconds, cancelled))
        return Search(
            self.searched,
            fixed,
            self.strategy,
            query.start,
            self._seed_of(query),
            begin=begin,
            opinions=query.opinions,
            later=query.later,
        )

    @property
    def begins_itself(self) -> bool:
        """Does a search begin at a start that needs no guide, to be crossed with what the guide knows?"""
        return self.use is not None and self.use.is_own_start

    def _own_begin(self, use: GuideUse, seconds: float, clock: Clock) -> Begin | None:
        """What puts a start in place that needs no guide, within a time limit; None: the strategy does."""
        if use.start == "own":
            return None
        if use.start == "messages":
            from beacon.engine.message_start import begin_in_time  # noqa: PLC0415

            return begin_in_time(self.searched, seconds, clock)
        from beacon.engine.construct import construct_assignment  # noqa: PLC0415

        return construct_assignment

    def _begun(self, use: GuideUse, query: Query, seconds: float, clock: Clock) -> Query:
        """A query with its own kind of start, crossed with what the guide knows; a given one is so later."""
        from beacon.runner.scored import with_opinions  # noqa: PLC0415

        assert self.guide is not None
        if query.start is not None:
            return with_opinions(query, self.searched, self.guide, replace(use, opinions=0), seconds)
        query = with_opinions(query, self.searched, self.guide, use, seconds)
        return replace(query, begin=self._own_begin(use, seconds, clock))

    @property
    def _guidance(self) -> Guidance | None:
        return None if self.use is None else self.use.guidance


@dataclass(frozen=True, eq=False)
class _Job(Generic[T]):
    """Some queries to be run, in one of three ways."""

    runner: Runner
    queries: Sequence[Query]
    stops: Sequence[Stop]
    finish: Finish[T]
    cancelled: Cancelled
    keeps_all: bool
    on_improvement: Listener | None
    spent_seconds: float
    ends: float
    """When all are to be done; infinity: whenever they are."""

    def each_alone(self, begun: Begun | None = None) -> Iterator[tuple[int, T]]:
        """Each search by itself, as many at once as there are threads; ``begun`` says where it begins."""
        runner, first = self.runner, self._know_the_only_one()
        if first is not None and first.best is not None:
            yield 0, self._settled(0, first)
            return

        def work(k: int) -> T:
            query, is_over = self.queries[k], self.cancelled.is_set()
            stops = self._stops_in_time(len(self.queries) - k, self.spent_seconds)
            knowledge = None if is_over else runner.know(query, stops, so_far=first)
            began = perf_counter()
            if begun is not None and (knowledge is None or knowledge.best is None):
                charged = self.spent_seconds + (knowledge.seconds if knowledge is not None else 0.0)
                query = begun(query, *_time_left(stops[-1].seconds - charged, self.cancelled))
            spent = self.spent_seconds + perf_counter() - began
            outcome = runner.outcome(query, stops, knowledge=knowledge, spent_seconds=spent, **self._options)
            return self.finish(k, outcome)

        yield from self._in_threads(work, len(self.queries))

    def scored_once(self) -> Iterator[tuple[int, T]]:
        """Ask the guide about a batch of queries at once; after that each search is on its own.

        It is not asked about queries that elimination answers.
        """
        for first in range(0, len(self.queries), self.runner.batch_size):
            yield from self._known_or_scored(range(len(self.queries))[first : first + self.runner.batch_size])

    def in_step(self) -> Iterator[tuple[int, T]]:
        """Searches that ask again and again do so together, one batch of them after another."""
        for first in range(0, len(self.queries), self.runner.batch_size):
            some = self.queries[first : first + self.runner.batch_size]
            for k, outcome in enumerate(self._outcomes_in_step(some), first):
                yield k, self.finish(k, outcome)

    def _settled(self, number: int, knowledge: Knowledge) -> T:
        """What is made of a query whose best assignment is known."""
        query, spent = self.queries[number], self.spent_seconds
        outcome = self.runner.outcome(query, self.stops, knowledge=knowledge, spent_seconds=spent)
        return self.finish(number, outcome)

    def _know_the_only_one(self) -> Knowledge | None:
        """Of a single query: to start a thread takes longer than most answers. None: of no use here."""
        if len(self.queries) != 1 or self.cancelled.is_set():
            return None
        try:
            return self.runner.know_at_once(self.queries[0], self.stops)
        except KeyboardInterrupt:
            if not self.keeps_all:
                raise
            self.cancelled.set()
            return None

    def _stops_in_time(self, num_left: int, charged: float) -> Sequence[Stop]:
        """When the next query stops: its limit, or its share of the time that this many queries have left.

        ``charged`` is what it is charged before it begins. Half of the limit is its in any case.
        """
        if self.ends == math.inf:
            return self.stops
        last = self.stops[-1]
        share = (self.ends - perf_counter()) / math.ceil(num_left / self.runner.pool.threads)
        seconds = min(last.seconds, max(share + charged, LEAST_SHARE * last.seconds))
        return [*self.stops[:-1], replace(last, seconds=seconds)]

    @property
    def _options(self) -> dict[str, Any]:
        listener = None if self.on_improvement is None else self._hear
        return {"cancelled": self.cancelled, "on_improvement": listener}

    def _hear(self, search: Search) -> None:
        """Tell the listener; Ctrl-C in there ends the search like any other."""
        assert self.on_improvement is not None
        try:
            self.on_improvement(search)
        except KeyboardInterrupt:
            if not self.keeps_all:
                raise
            self.cancelled.set()

    def _in_threads(self, work: Callable[[int], U], count: int) -> Iterator[tuple[int, U]]:
        return self.runner.pool.as_done(work, count, self.cancelled, keeps_all=self.keeps_all)

    def _known_or_scored(self, numbers: Sequence[int]) -> Iterator[tuple[int, T]]:
        """Answer what elimination can; the guide is asked about the rest."""
        runner = self.runner
        left = dict[int, Knowledge]() if runner.knows else dict.fromkeys(numbers, Knowledge())

        def know(k: int) -> Knowledge:
            is_over = self.cancelled.is_set()
            return Knowledge() if is_over else runner.know(self.queries[numbers[k]], self.stops)

        for k, knowledge in self._in_threads(know, len(numbers)) if runner.knows else ():
            if knowledge.best is None:
                left[numbers[k]] = knowledge
            else:
                yield numbers[k], self._settled(numbers[k], knowledge)
        if left:
            yield from self._scored_batch(left, len(self.queries) - numbers[-1] - 1)

    def _scored_batch(self, open_queries: dict[int, Knowledge], num_later: int) -> Iterator[tuple[int, T]]:
        from beacon.runner.scored import ScoredStarts, with_opinions  # noqa: PLC0415

        runner, numbers = self.runner, list(open_queries)
        some = [self.queries[number] for number in numbers]
        evidences, starts = [query.evidence for query in some], [query.start for query in some]
        guide, use = runner.guide, runner.use
        assert guide is not None
        assert use is not None
        scored = ScoredStarts.ask(runner.model, runner.flat, evidences, guide, starts, runner.seed)
        is_heeded, from_guide = use.guidance.is_heeded, use.start == "guide"

        def work(k: int) -> T:
            began, query, knowledge = perf_counter(), some[k], open_queries[numbers[k]]
            spent = self.spent_seconds + scored.seconds
            if from_guide:
                left = self.stops[-1].seconds - spent - knowledge.seconds
                seconds, _ = _time_left(left, self.cancelled)
                query = with_opinions(query, runner.searched, guide, use, seconds)
                query = replace(query, start=scored.starts[k], yields=True)
            scores = scored.scores[k] if is_heeded else None
            spent += perf_counter() - began
            outcome = runner.outcome(
                query,
                self._stops_in_time(len(some) - k + num_later, spent + knowledge.seconds),
                scores=scores,
                spent_seconds=spent,
                knowledge=knowledge,
                **self._options,
            )
            if from_guide:
                outcome = replace(outcome, trace=scored.trace(k, outcome.trace, outcome.setup_seconds))
            return self.finish(numbers[k], outcome)

        for k, result in self._in_threads(work, len(some)):
            yield numbers[k], result

    def _outcomes_in_step(self, queries: Sequence[Query]) -> list[Outcome]:
        from beacon.runner.in_step import GuidedBatch  # noqa: PLC0415

        runner, starts = self.runner, [query.start for query in queries]
        assert runner.guide is not None
        assert runner.use is not None
        batch = GuidedBatch(
            runner.model,
            [query.evidence for query in queries],
            runner.guide,
            runner.use,
            runner.strategy,
            "random" if starts[0] is None else np.array(starts),
            runner.seed,
            propagate=runner.propagate,
            log_zero=runner.flat.log_zero,
            threads=runner.pool.threads,
            yielding_start=queries[0].yields,
        )
        for search in batch.batch.searches:
            search.charge(self.spent_seconds)
        try:
            for stop in self.stops:
                if not self.cancelled.is_set():  # else the rest stay where they begin
                    batch.run_until(stop, self.on_improvement)
        except KeyboardInterrupt:
            if not self.keeps_all:
                raise
            self.cancelled.set()
        if self.cancelled.is_set():
            return [_interrupted(outcome, self.stops[-1]) for outcome in batch.outcomes]
        return batch.outcomes


def _warm_up_own_starts(model: FlatModel) -> None:
    from beacon.engine.message_start import begin_by_messages  # noqa: PLC0415

    warm_up_crossing(model)
    warm_up_start(begin_by_messages, model)


def _joined(model: FlatModel) -> FlatModel:
    from beacon.model.join import join_factors  # noqa: PLC0415 - only the mix joins

    return join_factors(model)


def _interrupted(outcome: Outcome, stop: Stop) -> Outcome:
    """An outcome after Ctrl-C: a search between two scorings seems to have come to its last step."""
    is_cut = outcome.stop == "steps" and outcome.steps < stop.steps
    return replace(outcome, stop="interrupted") if is_cut else outcome


def _time_left(seconds: float, cancelled: Cancelled | None) -> tuple[float, Clock]:
    """What a start may take of the seconds left, and by which clock; a cancelled search has no time left."""
    if cancelled is None:
        return max(0.0, seconds), perf_counter
    clock = lambda: math.inf if cancelled.is_set() else perf_counter()  # noqa: E731
    return (0.0 if cancelled.is_set() else max(0.0, seconds)), clock


def _batch_size(model: GraphicalModel) -> int:
    """How many searches may be alive at once."""
    entries = model.num_entries + model.num_variables
    return max(1, min(MAX_BATCH, BATCH_BYTES // (BYTES_PER_ENTRY * max(1, entries))))
