"""A proof by toulbar2 that an answer is optimal: it gets what is left of the query, and a score to beat."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.engine.floored import floored_scores
from beacon.exact.plan import plan
from beacon.exact.solve import SolvedParts, solve_parts
from beacon.model.flat import FlatModel, as_fixed
from beacon.peers.toulbar2 import IMPOSSIBLE, Toulbar2, ask, problem
from beacon.reduce.query import reduce_query
from beacon.reduce.tables import ALIVE, FACTORS, VARIABLE
from beacon.runner.result import Outcome

SHARE = 0.5  # of a time limit that is kept for the proof
DEFAULT_SECONDS = 60.0  # where there is no time limit
MAX_ENTRIES = 1 << 16  # of tables eliminated before, in a millisecond; the rest is left to toulbar2
SECONDS_PER_ENTRY = 1e-6  # to hand a table entry over

Scoped = list[tuple[list[int], NDArray[np.float64]]]


class Prover:
    """Asks toulbar2 about queries that end without a proof."""

    def __init__(self, seconds: float) -> None:
        """Refuse to exist without the package; ``seconds`` is each query's time limit, search included."""
        Toulbar2()
        self.seconds = seconds

    @property
    def search_seconds(self) -> float:
        """What a search may take of the time limit."""
        return (1.0 - SHARE) * self.seconds

    def proved(
        self,
        model: FlatModel,
        evidence: Mapping[int, int],
        outcome: Outcome,
        cancelled: threading.Event,
    ) -> Outcome:
        """The outcome, with a proof or a better assignment if toulbar2 finds one in the time that is left."""
        if outcome.proof is not None or outcome.is_impossible or cancelled.is_set():
            return outcome
        began = perf_counter()
        limit = DEFAULT_SECONDS if math.isinf(self.seconds) else self.seconds - outcome.seconds
        reduced = reduce_query(model, as_fixed(evidence, model.num_variables))
        solved = solve_parts(reduced, plan(reduced, max_entries=MAX_ENTRIES), max_entries=MAX_ENTRIES)
        scoped, left = left_of(solved)
        if solved.is_impossible or any(table.max() == -math.inf for _, table in scoped):
            return outcome.as_impossible()
        if not left:
            found = replace(outcome, seconds=outcome.seconds + perf_counter() - began)
            return _optimal(_better(model, found, solved.complete()), "elimination")
        limit -= perf_counter() - began + SECONDS_PER_ENTRY * sum(len(table) for _, table in scoped)
        if limit <= 0:
            return outcome
        answer, why = ask(_problem(solved, scoped, left, outcome), limit, cancelled)
        seconds = outcome.seconds + perf_counter() - began
        outcome = replace(outcome, seconds=seconds)
        if answer is None:
            return replace(outcome, stop="interrupted") if cancelled.is_set() else outcome
        return _taken(model, solved, left, outcome, answer, why)


def left_of(solved: SolvedParts) -> tuple[Scoped, list[int]]:
    """The living factors over the variables that are left, numbered anew; and these variables."""
    tables, reduced = solved.tables, solved.reduced
    is_left = np.repeat(~solved.is_solved, np.diff(reduced.part_starts))
    left = reduced.members[is_left].tolist()
    position = {variable: k for k, variable in enumerate(left)}
    starts = tables.unary_starts
    scoped: Scoped = [([k], tables.unary[starts[v] : starts[v + 1]]) for k, v in enumerate(left)]
    for f in np.flatnonzero(tables.consumers[: tables.counts[FACTORS]] == ALIVE).tolist():
        scope = tables.places[tables.scope_starts[f] : tables.scope_starts[f + 1], VARIABLE].tolist()
        entries = tables.table[tables.table_starts[f] : tables.table_starts[f + 1]]
        scoped.append(([position[variable] for variable in scope], entries))
    return scoped, left


def _problem(solved: SolvedParts, scoped: Scoped, left: list[int], outcome: Outcome) -> dict[str, Any]:
    """What toulbar2 gets: where our assignment is possible, only what costs no more than it."""
    sizes = solved.tables.sizes[left].tolist()
    asked = problem(sizes, scoped)
    if outcome.zero_factors:
        return asked
    choices = solved.reduced.choices_of(outcome.assignment)[left]
    cost = 0.0
    for scope, table in scoped:
        shape = tuple(sizes[k] for k in scope)
        cost += float(table.max() - table.reshape(shape)[tuple(choices[k] for k in scope)])
    unit = 10.0 ** -asked["decimals"]
    return asked | {"upper_bound": min(asked["upper_bound"], cost + unit * (len(scoped) + 2))}  # rounded


def _taken(
    model: FlatModel,
    solved: SolvedParts,
    left: list[int],
    outcome: Outcome,
    answer: dict[str, Any],
    why: str,
) -> Outcome:
    """The outcome with what toulbar2 has to add."""
    if answer["values"] is None:
        if why != IMPOSSIBLE:  # its time was over
            return outcome
        if outcome.zero_factors:
            return outcome.as_impossible()
        return _optimal(outcome)  # nothing is better
    choices = np.zeros(len(solved.tables.sizes), dtype=np.int32)
    choices[left] = answer["values"]
    assignment = solved.assignment_of(choices)
    outcome = _better(model, outcome, assignment)
    return _optimal(outcome) if answer["proved"] and outcome.zero_factors == 0 else outcome


def _better(model: FlatModel, outcome: Outcome, assignment: NDArray[np.int32]) -> Outcome:
    """The outcome with this assignment, if it is better."""
    row = assignment.astype(np.int64)
    (score,), (zeros,) = (column.tolist() for column in floored_scores(model, row[None]))
    if (-zeros, score) <= (-outcome.zero_factors, outcome.score):
        return outcome
    trace = outcome.trace.with_event(outcome.steps, outcome.seconds, score, zeros)
    return replace(outcome, assignment=row, score=score, zero_factors=zeros, trace=trace)


def _optimal(outcome: Outcome, proof: str = "toulbar2") -> Outcome:
    return replace(outcome, proof=proof, stop="optimal", upper_bound=outcome.score)
