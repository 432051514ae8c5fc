"""The core state: what every search carries from step to step, and how it is set up from an assignment."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.max_tree import LOWEST, build_tree, level_starts
from beacon.engine.rows import Rows, largest, layout_of, new_rows, sum_rows
from beacon.jit import called, inlined, kernel
from beacon.model.factors import of_tables
from beacon.model.flat import Fixed, FlatModel, finite_ranges, once_per_model
from beacon.reduce.propagate import label_parts
from beacon.rng import random_below, stream

log = logging.getLogger("beacon.engine")
MAX_EVENTS = 256
LEAST_TOLERANCE = 1e-9
WORTH_A_WARNING = 1e-3  # nats; where less is lost, nobody will miss it
ROUNDING = 1e-12  # of the largest sum that a search may meet: what errors may add up to between two refreshes

COUNTERS = np.dtype(
    [
        ("steps", np.int64),  # flips made
        ("local_optima", np.int64),  # local optima met
        ("work", np.int64),  # links looked at: what a step costs, on every machine alike
        ("num_free", np.int64),  # variables that the search may change
        ("last_restart", np.int64),  # the step of the last restart
        ("restart_turn", np.int64),  # with the next one: what Knuth's rule makes the sequence of
        ("patience", np.int64),  # 1, 1, 2, 1, 1, 2, 4, 1 ... from restart to restart
        ("log_zero", np.float64),  # what a zero factor counts in floored scores
        ("fixed_score", np.float64),  # sum of the non-zero factors that the search cannot change
        ("fixed_zeros", np.int64),  # zero factors that it cannot change
        ("best_score", np.float64),  # sum of the non-zero factors of the best assignment
        ("best_zeros", np.int64),  # zero factors of the best assignment
        ("best_step", np.int64),  # when the best was found
        ("upper_bound", np.float64),  # sum of the factors' maxima under the evidence
        ("num_events", np.int64),  # improvements not yet fetched
        ("stamp", np.int64),  # the last mark used in ``stamps``
        ("num_rebuilds", np.int64),  # how often everything was recomputed
        ("own_entries", np.int64),  # room taken by tables or rows that are no longer shared
    ],
    align=True,
)

PART = np.dtype(
    [
        ("score", np.float64),  # sum of the part's non-zero factors: deep floors would cost digits
        ("zeros", np.int64),  # number of its zero factors
        ("best_score", np.float64),
        ("best_zeros", np.int64),
        ("tolerance", np.float64),  # a score must be better by more than this to count as better
        ("best_is_current", np.bool_),  # the part's assignment is its best; `best` does not hold it yet
        ("first_changed", np.int64),  # where the part's variables begin in `changed`
        ("num_changed", np.int64),  # how many of them are listed there
    ],
    align=True,
)
"""A part is a set of free variables that no factor joins to the others: it has a best of its own."""

EVENT = np.dtype([("step", np.int64), ("score", np.float64), ("zeros", np.int64)], align=True)
"""An improvement: when it was found, its floored score, its zero factors."""


class CoreState(NamedTuple):
    """What a flip needs, and the best assignment so far. What else a strategy remembers is its own."""

    counters: NDArray[np.void]
    """[1] scalars, see COUNTERS."""
    rng: NDArray[np.uint64]
    """[1] the random stream."""
    assignment: NDArray[np.int32]
    """[variables] the current value of each variable, evidence included."""
    is_free: NDArray[np.bool_]
    """[variables] may the search change it?"""
    part_of: NDArray[np.int32]
    """[variables] the part of each free variable; -1 for the others."""
    tops: NDArray[np.float64]
    """[factors] the largest log-potential that the evidence leaves possible."""
    parts: NDArray[np.void]
    """[parts] the independent parts of the query, see PART."""
    best: NDArray[np.int32]
    """[variables] the best assignment, up to the variables in ``changed``."""
    changed: NDArray[np.int32]
    """[variables] by parts: the variables flipped since the part's best was last saved."""
    is_changed: NDArray[np.bool_]
    """[variables] is it in ``changed``?"""
    events: NDArray[np.void]
    """[MAX_EVENTS] improvements not yet fetched, see EVENT."""
    entries: NDArray[np.int32]
    """[factors] each factor's current entry of ``table``. This and all below are empty where a strategy makes
    no flips."""
    table: NDArray[np.float64]
    """[entries] the log-potentials that the strategy climbs: ``log_table``, less penalties if it has any.
    Where factors share tables, room follows for a table of its own for each: see :func:`own_table`. Where
    there are ``rows``, their copies."""
    own_shifts: NDArray[np.int32]
    """[factors] how far a factor's own table lies behind the one that it shares; empty if none are shared."""
    rows: Rows | None
    """What flips read where variables have many values; None where they have few, or nothing is flipped."""
    local_scores: NDArray[np.float64]
    """[moves] sum of ``table`` over the variable's factors with that value and all else as it is."""
    gains: NDArray[np.float64]
    """Max tree over variables: what the best move of each gains (LOWEST if it is fixed)."""
    gain_levels: NDArray[np.int32]
    """Level starts of ``gains``."""
    touched: NDArray[np.int32]
    """[variables] room for the variables touched by one flip."""
    stamps: NDArray[np.int64]
    """[variables] the last mark of each: which flip has touched it, or which cluster it is in."""


Begin = Callable[[FlatModel, CoreState], None]
"""What puts a first assignment in place."""
Clock = Callable[[], float]
"""Seconds that go by."""


def new_core(model: FlatModel, fixed: Fixed, seed: int, *, flips: bool = True) -> CoreState:
    """Room for one search that keeps gains up to date (``flips``) or not; free variables have value 0.

    :func:`rebuild` or :func:`recount` brings it up to date once an assignment is in place.
    """
    n = model.num_variables
    is_free = (model.domain_sizes > 1) & (fixed < 0)
    part_of, queue, firsts = np.empty((3, n), dtype=np.int32)
    num_parts = label_parts(model, is_free, part_of, queue, firsts)
    parts = np.zeros(num_parts, dtype=PART)
    parts["first_changed"] = firsts[:num_parts]
    parts["tolerance"] = tolerance_of(model)
    counters = np.zeros(1, dtype=COUNTERS)
    counters["num_free"] = np.count_nonzero(is_free)
    counters["log_zero"] = model.log_zero
    counters["restart_turn"] = counters["patience"] = 1
    assignment, tops = np.maximum(fixed, 0), np.empty(model.num_factors)
    counters["upper_bound"] = set_tops(model, tops_of(model), assignment, is_free, tops, queue)
    return _core(model, flips, counters, stream(seed, fixed), assignment, is_free, part_of, tops, parts)


def sibling(model: FlatModel, core: CoreState, *, flips: bool = True) -> CoreState:
    """A core of its own at the same place: the same query, assignment, random stream and best."""
    parts, counters = core.parts.copy(), core.counters.copy()
    for name in (
        "steps",
        "local_optima",
        "work",
        "last_restart",
        "best_step",
        "num_events",
        "stamp",
        "own_entries",
    ):
        counters[name] = 0
    counters["restart_turn"] = counters["patience"] = 1
    parts["num_changed"] = 0
    parts["best_is_current"] = False
    rng, assignment = core.rng.copy(), core.assignment.copy()
    return _core(model, flips, counters, rng, assignment, core.is_free, core.part_of, core.tops, parts)


def _core(
    model: FlatModel,
    flips: bool,
    counters: NDArray[np.void],
    rng: NDArray[np.uint64],
    assignment: NDArray[np.int32],
    is_free: NDArray[np.bool_],
    part_of: NDArray[np.int32],
    tops: NDArray[np.float64],
    parts: NDArray[np.void],
) -> CoreState:
    """The arrays that are given, and fresh ones for the rest."""
    n = len(assignment)
    gain_levels = level_starts(n if flips else 0)
    return CoreState(
        counters=counters,
        rng=rng,
        assignment=assignment,
        is_free=is_free,
        part_of=part_of,
        tops=tops,
        parts=parts,
        best=assignment.copy(),
        changed=np.empty(n, dtype=np.int32),
        is_changed=np.zeros(n, dtype=np.bool_),
        events=np.empty(MAX_EVENTS, dtype=EVENT),
        entries=np.zeros(model.num_factors if flips else 0, dtype=np.int32),
        table=_new_table(model) if flips else np.empty(0),
        own_shifts=np.zeros(model.num_factors if flips and model.is_shared else 0, dtype=np.int32),
        rows=new_rows(model) if flips else None,
        local_scores=np.zeros(model.num_moves if flips else 0),
        gains=np.full(gain_levels[-1], LOWEST),
        gain_levels=gain_levels,
        touched=np.empty(n if flips else 0, dtype=np.int32),
        stamps=np.zeros(n, dtype=np.int64),
    )


def _new_table(model: FlatModel) -> NDArray[np.float64]:
    """The tables to be penalised; room that nobody writes to takes no memory."""
    stored = len(model.log_table)
    if layout_of(model).num_rows:
        return np.empty(2 * model.num_entries)
    if not model.is_shared:
        return model.log_table.copy()
    table = np.empty(stored + model.num_entries)
    table[:stored] = model.log_table
    return table


@inlined
def has_own_table(model: FlatModel, core: CoreState, factor: int) -> bool:
    """May the factor's entries in ``table`` be changed? Where no tables are shared, always."""
    stored = len(model.log_table)
    return len(core.table) == stored or core.entries[factor] >= stored


@inlined
def model_entry(model: FlatModel, core: CoreState, factor: int, entry: int) -> int:
    """Where an entry of a search's table is in the model's."""
    return entry if entry < len(model.log_table) else entry - core.own_shifts[factor]


@called
def own_table(model: FlatModel, core: CoreState, factor: int) -> None:
    """Give a factor that shares its table one of its own, behind those of others. Cost: its entries.

    They lie close together: memory is had in pages, of which scattered tables would touch too many.
    """
    counters, first = core.counters[0], model.bases[factor]
    size = model.table_starts[factor + 1] - model.table_starts[factor]
    shift = len(model.log_table) + counters["own_entries"] - first
    for entry in range(first, first + size):
        core.table[entry + shift] = model.log_table[entry]
    core.own_shifts[factor] = shift
    core.entries[factor] += shift
    counters["own_entries"] += size


@inlined
def best_gain(model: FlatModel, core: CoreState, rows: Rows | None, variable: int) -> float:
    """Gain of the best move of a variable. Cost: its number of values."""
    start, end = model.move_starts[variable], model.move_starts[variable + 1]
    current = start + core.assignment[variable]
    best = LOWEST
    if rows is not None:  # many values
        best = max(largest(core.local_scores, start, current), largest(core.local_scores, current + 1, end))
        return best - core.local_scores[current]  # type: ignore[no-any-return]
    for move in range(start, end):
        if move != current and core.local_scores[move] > best:
            best = core.local_scores[move]
    return best - core.local_scores[current]  # type: ignore[no-any-return]


@inlined
def randomise(model: FlatModel, core: CoreState) -> None:
    """Draw a uniform value for every free variable."""
    for i in range(len(core.assignment)):
        if core.is_free[i]:
            core.assignment[i] = random_below(core.rng, model.domain_sizes[i])


@kernel
def draw_assignment(model: FlatModel, core: CoreState) -> None:
    """:func:`randomise` for Python to call."""
    randomise(model, core)


@inlined
def _begin_count(core: CoreState) -> None:
    for part in range(len(core.parts)):
        core.parts[part]["score"] = 0.0
        core.parts[part]["zeros"] = 0
    core.counters[0]["fixed_score"] = 0.0
    core.counters[0]["fixed_zeros"] = 0


@inlined
def _count(model: FlatModel, core: CoreState, part: int, entry: int) -> None:
    """Add a factor's entry to the score of a part, or to what is fixed (-1)."""
    is_zero = model.log_table[entry] == model.log_zero
    finite = 0.0 if is_zero else model.log_table[entry]
    if part >= 0:
        core.parts[part]["score"] += finite
        core.parts[part]["zeros"] += is_zero * 1
    else:
        core.counters[0]["fixed_score"] += finite
        core.counters[0]["fixed_zeros"] += is_zero * 1


@inlined
def _entry_and_part(model: FlatModel, core: CoreState, factor: int) -> tuple[int, int]:
    """A factor's entry at the current assignment, and the part that it belongs to (-1: it is fixed)."""
    entry, part = model.bases[factor], -1
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        entry += core.assignment[variable] * model.scopes[place, 1]
        part = max(part, core.part_of[variable])
    return entry, part


@kernel
def recount(model: FlatModel, core: CoreState) -> None:
    """Recompute the scores of the parts, and nothing that flips alone need. Cost: the links of the model."""
    _begin_count(core)
    for factor in range(len(model.table_starts) - 1):
        entry, part = _entry_and_part(model, core, factor)
        _count(model, core, part, entry)


@inlined
def _sum_local_scores(model: FlatModel, core: CoreState, rows: Rows | None) -> None:
    if rows is not None:
        sum_rows(model, core, rows)
        return
    for factor in range(len(core.entries)):
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            variable, stride = model.scopes[place, 0], model.scopes[place, 1]
            base = core.entries[factor] - core.assignment[variable] * stride
            first = model.move_starts[variable]
            for value in range(model.domain_sizes[variable]):
                core.local_scores[first + value] += core.table[base + value * stride]


@kernel
def rebuild(model: FlatModel, core: CoreState) -> None:
    """Recompute everything that flips keep up to date. Cost: the links of the model and their domains."""
    for move in range(len(core.local_scores)):
        core.local_scores[move] = 0.0
    _begin_count(core)
    core.counters[0]["num_rebuilds"] += 1
    for factor in range(len(core.entries)):
        entry, part = _entry_and_part(model, core, factor)
        _count(model, core, part, entry)
        if core.entries[factor] >= len(model.log_table):
            entry += core.own_shifts[factor]
        core.entries[factor] = entry
    _sum_local_scores(model, core, core.rows)
    for i in range(len(core.assignment)):
        core.gains[i] = best_gain(model, core, core.rows, i) if core.is_free[i] else LOWEST
    build_tree(core.gains, core.gain_levels)


@once_per_model
def tolerance_of(model: FlatModel) -> float:
    """Large where the log-potentials are: what flips keep up to date is a little off by then."""
    lows, tops = finite_ranges(model.log_table, model.bases, model.log_zero)
    return max(LEAST_TOLERANCE, ROUNDING * float(np.maximum(-lows, tops).sum(initial=0.0)))


@once_per_model
def warn_of_lost_digits(model: FlatModel) -> None:
    """Say it once where differences between log-potentials drown beside much larger ones."""
    tolerance = tolerance_of(model)
    least = _least_difference(model) if tolerance > WORTH_A_WARNING else np.inf
    if least < tolerance:
        log.warning(
            "the log-potentials add up to %.3g, so differences below %.3g may be lost, and some are %.3g; "
            "give costs that stand for 'never' as zeros (-inf), or scale them down",
            tolerance / ROUNDING,
            tolerance,
            least,
        )


def _least_difference(model: FlatModel) -> float:
    """Between two entries of one table that are neither the same nor zeros."""
    tables = np.searchsorted(np.unique(model.bases), np.arange(len(model.log_table)), side="right")
    order = np.lexsort((model.log_table, tables))
    steps = np.diff(model.log_table[order])
    is_told = (np.diff(tables[order]) == 0) & (steps > 0) & (model.log_table[order][:-1] != model.log_zero)
    return float(steps.min(where=is_told, initial=np.inf))


@once_per_model
def tops_of(model: FlatModel) -> NDArray[np.float64]:
    """[factors] the largest log-potential of each without evidence, found once."""
    return of_tables(np.maximum, model.log_table, model.bases)


@inlined
def _first_possible(
    model: FlatModel, assignment: NDArray[np.int32], is_free: NDArray[np.bool_], factor: int
) -> tuple[int, int]:
    """A factor's first entry that agrees with the fixed variables, and the number of such entries."""
    entry, count = model.bases[factor], 1
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if is_free[variable]:
            count *= model.domain_sizes[variable]
        else:
            entry += assignment[variable] * model.scopes[place, 1]
    return entry, count


@inlined
def _next_possible(
    model: FlatModel, is_free: NDArray[np.bool_], factor: int, entry: int, digits: NDArray[np.int32]
) -> int:
    """The next entry: the values of the free variables count up like the digits of a number."""
    begin = model.scope_starts[factor]
    for place in range(model.scope_starts[factor + 1] - 1, begin - 1, -1):
        variable, stride = model.scopes[place, 0], model.scopes[place, 1]
        if is_free[variable]:
            value = digits[place - begin] + 1
            if value < model.domain_sizes[variable]:
                digits[place - begin] = value
                return entry + stride  # type: ignore[no-any-return]
            digits[place - begin] = 0
            entry -= (value - 1) * stride
    return entry


@inlined
def _best_possible(
    model: FlatModel,
    assignment: NDArray[np.int32],
    is_free: NDArray[np.bool_],
    factor: int,
    known: float,
    digits: NDArray[np.int32],
) -> float:
    """The largest log-potential of a factor under the evidence; ``known`` is the one without any.

    Cost: the entries that the evidence leaves possible, where it has a say.
    """
    entry, count = _first_possible(model, assignment, is_free, factor)
    if count == model.table_starts[factor + 1] - model.table_starts[factor]:
        return known
    top = model.log_table[entry]
    for place in range(model.scope_starts[factor + 1] - model.scope_starts[factor]):
        digits[place] = 0
    for _ in range(count - 1):
        entry = _next_possible(model, is_free, factor, entry, digits)
        top = max(top, model.log_table[entry])
    return top  # type: ignore[no-any-return]


@kernel
def set_tops(
    model: FlatModel,
    known: NDArray[np.float64],
    assignment: NDArray[np.int32],
    is_free: NDArray[np.bool_],
    tops: NDArray[np.float64],
    digits: NDArray[np.int32],
) -> float:
    """Find the factors' maxima and return their sum: an assignment that reaches it is optimal.

    ``known`` are the maxima without evidence, ``digits`` is room for the values of one scope. Cost: the
    table entries of the factors that the evidence touches.
    """
    bound = 0.0
    for factor in range(len(tops)):
        tops[factor] = _best_possible(model, assignment, is_free, factor, known[factor], digits)
        bound += tops[factor]
    return bound


@kernel
def rescore(model: FlatModel, assignment: NDArray[np.int64], figures: NDArray[np.float64]) -> None:
    """Floored score, zero factors and largest log-potential (zeros apart) of an assignment.

    The sum is as good as rounded once: what each addition rounds off is added up, too. Cost: the links of the
    model.
    """
    total, rounded_off, zeros, largest = 0.0, 0.0, 0, 0.0
    for factor in range(len(model.table_starts) - 1):
        entry = model.bases[factor]
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            entry += assignment[model.scopes[place, 0]] * model.scopes[place, 1]
        term = model.log_table[entry]
        if term == model.log_zero:
            zeros += 1
        else:
            largest = max(largest, abs(term))
        new = total + term
        share = new - total
        rounded_off += (total - (new - share)) + (term - share)
        total = new
    figures[0], figures[1], figures[2] = total + rounded_off, zeros, largest
