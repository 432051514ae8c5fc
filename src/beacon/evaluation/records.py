"""What is kept of every run: one record per network, method, seed and query."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beacon.evaluation.method import Budget, Method, Network, Query, Run
from beacon.evaluation.metrics import Floats, known_at
from beacon.io.row_store import RowStore
from beacon.runner.search import Trace

KEY = ("network", "method", "seed", "query")
BINS_PER_DECADE = 40  # events of a trace that are kept: steps are then known to 6 %
MIN_SECONDS = 1e-4  # of bounds, those before it count as one


@dataclass(frozen=True)
class Record:
    """One method on one query from one start. Scores are floored; -inf: no assignment."""

    network: str
    method: str
    seed: int
    query: int
    baseline: str | None
    """The method that this one is meant to improve on."""
    weight: float | None
    """λ of a guided method."""
    num_free: int
    """Variables that were asked for."""
    log_zero: float
    """What a zero factor counts in floored scores."""
    steps: int
    setup_seconds: float
    seconds: float
    """Time of the steps, without the set-up; for solvers without steps all of it."""
    score: float
    """The best at the end, recomputed from the model."""
    zeros: int
    proved: bool
    upper_bound: float | None
    """Proved not to be below the optimum of the query."""
    stop: str
    step_budgets: list[int]
    """Empty for methods without steps; so are the scores."""
    step_scores: list[float]
    step_zeros: list[int]
    second_budgets: list[float]
    second_scores: list[float]
    second_zeros: list[int]
    trace_steps: list[int]
    """The improvements, thinned: of those within 6 % of each other's steps the last."""
    trace_seconds: list[float]
    trace_scores: list[float]
    bound_seconds: list[float] | None
    """When upper bounds became known, thinned likewise; None in files of earlier versions."""
    bounds: list[float] | None
    """These bounds, each lower than the one before, down to ``upper_bound``."""
    assignment: list[int]
    """The best assignment; empty if there is none."""


_TYPES = {
    "str": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "list[int]": pa.list_(pa.int64()),
    "list[float]": pa.list_(pa.float64()),
}
OPTIONAL = tuple(field.name for field in fields(Record) if "None" in str(field.type))
SCHEMA = pa.schema(
    [(field.name, _TYPES[str(field.type).removesuffix(" | None")]) for field in fields(Record)[:-1]]
    + [("assignment", pa.list_(pa.uint16()))]
)


def record_store(folder: Path | None) -> RowStore:
    """The records of an evaluation's folder, or in memory."""
    return RowStore(folder, "evaluation", SCHEMA, KEY, OPTIONAL)


def make_record(
    network: Network, method: Method, seed: int, query: Query, run: Run, budget: Budget
) -> dict[str, Any]:
    """The row of one run, with its final score recomputed and compared."""
    score, zeros = network.floored_score(run.assignment)
    _check(network, method, query, run, score, zeros)
    step_budgets = budget.steps if getattr(method, "counts_steps", True) else ()
    thin, (bound_seconds, bounds) = thinned(run.trace), thinned_bounds(run)
    record = Record(
        network=network.name,
        method=method.name,
        seed=seed,
        query=query.index,
        baseline=getattr(method, "baseline", None),
        weight=getattr(method, "weight", None),
        num_free=int(np.count_nonzero(network.model.domain_sizes > 1)) - len(query.evidence),
        log_zero=float(network.flat.log_zero),
        steps=run.steps,
        setup_seconds=run.setup_seconds,
        seconds=run.seconds,
        score=score,
        zeros=zeros,
        proved=run.proved,
        upper_bound=run.upper_bound,
        stop=run.stop,
        step_budgets=list(step_budgets),
        step_scores=known_at(run.trace.steps, run.trace.scores, step_budgets, -np.inf).tolist(),
        step_zeros=_zeros_at(run.trace.steps, run.trace, step_budgets),
        second_budgets=list(budget.seconds),
        second_scores=known_at(run.trace.seconds, run.trace.scores, budget.seconds, -np.inf).tolist(),
        second_zeros=_zeros_at(run.trace.seconds, run.trace, budget.seconds),
        trace_steps=thin.steps.tolist(),
        trace_seconds=thin.seconds.tolist(),
        trace_scores=thin.scores.tolist(),
        bound_seconds=bound_seconds.tolist(),
        bounds=bounds.tolist(),
        assignment=[] if run.assignment is None else run.assignment.tolist(),
    )
    return vars(record)


def thinned(trace: Trace) -> Trace:
    """The start, and of the improvements in each narrow range of steps the last."""
    is_last = _is_last(trace.steps, 0.1)
    return Trace(
        trace.steps[is_last], trace.seconds[is_last], trace.scores[is_last], trace.zero_factors[is_last]
    )


def thinned_bounds(run: Run) -> tuple[Floats, Floats]:
    """When upper bounds became known, and the bounds, down to the one that the run ended with."""
    seconds, bounds = run.trace.bound_seconds, run.trace.bounds
    if run.upper_bound is not None and run.upper_bound < bounds.min(initial=np.inf):
        seconds = np.append(seconds, run.setup_seconds + run.seconds)
        bounds = np.append(bounds, run.upper_bound)
    is_last = _is_last(seconds, MIN_SECONDS)
    return seconds[is_last], bounds[is_last]


def _is_last(times: NDArray[np.integer | np.floating], first: float) -> NDArray[np.bool_]:
    """Which events are the last in their narrow range of times; all before ``first`` are one range."""
    bins = np.floor(BINS_PER_DECADE * np.log10(np.maximum(times, first)))
    return np.append(bins[1:] != bins[:-1], True)[: len(bins)]


def _zeros_at(times: Any, trace: Trace, budgets: Any) -> list[int]:
    return [int(zeros) for zeros in known_at(times, trace.zero_factors, budgets, 0)]


def _check(network: Network, method: Method, query: Query, run: Run, score: float, zeros: int) -> None:
    """A method's own account of its last improvement must agree with the model."""
    if run.assignment is None:
        return
    place = f"{method.name} on query {query.index} of {network.name}"
    if any(run.assignment[variable] != value for variable, value in query.evidence.items()):
        raise RuntimeError(f"{place} changed an observed variable. This is a bug in Beacon; please report it")
    known = float(run.trace.scores[-1])
    tolerance = 1e-6 * (1 + abs(score)) + 1e-9 * float(np.abs(network.flat.log_table).max(initial=0.0))
    if abs(known - score) > tolerance or int(run.trace.zero_factors[-1]) != zeros:
        raise RuntimeError(
            f"{place} reports score {known}; recomputed: {score}. This is a bug in Beacon; please report it"
        )
