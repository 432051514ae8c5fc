"""The front door: solve one query, or many on the same model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from numpy.typing import ArrayLike

from beacon.guided.guidance import Guidance
from beacon.model.checks import check_seed
from beacon.model.evidence import Evidence
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.model.queries import Queries, resolve_queries
from beacon.reduce.propagate import fixed_values
from beacon.runner.batch import rows_of_scores
from beacon.runner.result import Result, checked_result
from beacon.runner.result_list import ResultList
from beacon.runner.search import Search, num_threads
from beacon.runner.start import Start, first_assignments
from beacon.runner.stop import DEFAULT_STOP, Stop, stop_or_default
from beacon.runner.warm_up import warm_up
from beacon.strategies.strategy import Strategy, make_strategy


def solve(
    model: GraphicalModel,
    evidence: Evidence | None = None,
    *,
    strategy: str | Strategy = "auto",
    stop: Stop | None = DEFAULT_STOP,
    start: Start = "random",
    propagate: bool = True,
    seed: int = 0,
    log_zero: float | None = None,
    on_improvement: Callable[[Search], None] | None = None,
) -> Result:
    """Find the most probable explanation of one query.

    Ctrl-C ends the search and returns the best assignment so far. ``on_improvement`` is called, at most
    every few milliseconds, with the search when it has found something better. With ``propagate``, values
    that the evidence implies (through zero potentials) are fixed before the search.
    """
    (result,) = solve_many(
        model,
        [evidence],
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
    evidences: Queries,
    *,
    strategy: str | Strategy = "auto",
    stop: Stop | None = DEFAULT_STOP,
    start: Start = "random",
    propagate: bool = True,
    seed: int = 0,
    log_zero: float | None = None,
    threads: int | None = None,
    on_result: Callable[[int, Result], None] | None = None,
    on_improvement: Callable[[Search], None] | None = None,
    scores: ArrayLike | None = None,
    guidance: Guidance | None = None,
    spent_seconds: float = 0.0,
    yielding_start: bool = False,
) -> ResultList:
    """Solve many queries on one model, each under the same ``stop``, spread over ``threads``.

    A query's result depends on the model, its evidence, its start and the seed, not on its place in the
    list or the number of threads (as long as the stop counts steps, not seconds). ``on_result`` hears of
    each result as it comes. Ctrl-C ends all searches and returns what they have. With ``propagate``, values
    that the evidence implies are fixed before the search. ``scores`` [queries, moves] are a guide's, heeded
    as ``guidance`` says; each query is charged the seconds that were spent on making them. A
    ``yielding_start``, such as a guide's, gives way to what the evidence implies.
    """
    resolved = resolve_queries(model, evidences)
    check_seed(seed)
    limits = stop_or_default(stop)
    starts = first_assignments(model, start, resolved)
    flat = compile_model(model, log_zero)
    plan = make_strategy(strategy).fitted(flat)
    warm_up(plan)
    rows = rows_of_scores(scores, len(resolved), flat, plan, guidance)
    cancelled = threading.Event()

    def solve_one(query: int) -> Result:
        evidence, first = resolved[query], starts[query]
        fixed = fixed_values(flat, evidence, None if yielding_start else first, propagate)
        search = Search(flat, fixed, plan, first, seed)
        search.charge(spent_seconds)
        reason = search.run(limits, cancelled, on_improvement, rows[query], guidance)
        return checked_result(model, evidence, search, seed, reason)

    with ThreadPoolExecutor(num_threads(threads)) as executor:
        futures = {executor.submit(solve_one, query): query for query in range(len(resolved))}
        try:
            _report(futures, on_result)
        except KeyboardInterrupt:
            cancelled.set()
        except BaseException:
            cancelled.set()  # let the other searches end before the error goes on
            raise
    return ResultList(future.result() for future in futures)


def _report(futures: dict[Future[Result], int], on_result: Callable[[int, Result], None] | None) -> None:
    """Wait for all results and pass each on."""
    for future in as_completed(futures):
        result = future.result()
        if on_result is not None:
            on_result(futures[future], result)
