"""FlatModel: the one compiled view of a model that every kernel uses."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from beacon.errors import ModelError, check_is_number
from beacon.model.factors import Factors, of_tables, places_of, starts_of
from beacon.model.graphical_model import GraphicalModel

DEFAULT_LOG_ZERO = -100.0
ROUNDING = 2.0**-52
"""Twice the largest relative error of one operation: half of it covers the error of the error's own sum."""
MAX_LOG_POTENTIAL = 1e15  # beyond it sums of doubles have no digits left for ordinary potentials
Rows = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Pairs of neighbours: a column of variables, and one of their neighbours."""
Fixed = NDArray[np.int32]
"""[variables] the value that is given, by evidence or by what it implies; -1 where there is none."""


class FlatModel(NamedTuple):
    """A graphical model as frozen arrays. ``entry`` is an index into ``log_table``.

    A *move* is a (variable, value) pair; the moves of variable i are
    ``move_starts[i] .. move_starts[i + 1] - 1``, one per value.
    A *link* joins a variable to a factor that mentions it. The factors of one or two variables are kept
    apart from wider ones, because a pair link can name its only neighbour in place.
    """

    domain_sizes: NDArray[np.int32]
    """[variables] number of values."""
    move_starts: NDArray[np.int32]
    """[variables + 1] first move of each variable."""
    log_zero: float
    """The finite log-potential that stands for zero; below every other entry of the tables."""
    hard_zero: float
    """A log-potential so low that one such entry more outweighs all differences between the others."""
    off_by: float
    """By how much rounding may have changed the score of an assignment when factors were joined."""
    log_table: NDArray[np.float64]
    """[stored entries] all tables one after another, last variable of a scope fastest, zeros at ``log_zero``;
    those that factors share once."""
    table_starts: NDArray[np.int32]
    """[factors + 1] where each table would begin if none were shared: their sizes, and room for more."""
    bases: NDArray[np.int32]
    """[factors] first entry of each factor."""
    scope_starts: NDArray[np.int32]
    """[factors + 1] first row of each factor in ``scopes``."""
    scopes: NDArray[np.int32]
    """[scope places, 2] variable, and by how many entries its next value lies further."""
    pair_starts: NDArray[np.int32]
    """[variables + 1] first row of each variable in ``pairs``."""
    pairs: NDArray[np.int32]
    """[pair links, 4] factor, stride of this variable, the other variable (-1: none), its stride."""
    wide_starts: NDArray[np.int32]
    """[variables + 1] first row of each variable in ``wides``."""
    wides: NDArray[np.int32]
    """[wide links, 2] factor of three or more variables, stride of this variable."""
    neighbour_starts: NDArray[np.int32]
    """[variables + 1] first entry of each variable in ``neighbours``."""
    neighbours: NDArray[np.int32]
    """[neighbours] the variables that share a factor with this one, each once, those of pairs first."""

    @property
    def num_variables(self) -> int:
        """Number of variables."""
        return len(self.domain_sizes)

    @property
    def num_factors(self) -> int:
        """Number of factors."""
        return len(self.table_starts) - 1

    @property
    def num_entries(self) -> int:
        """Number of table entries; those of shared tables count for every factor."""
        return int(self.table_starts[-1])

    @property
    def is_shared(self) -> bool:
        """Do factors share tables?"""
        return len(self.log_table) < self.num_entries

    @property
    def num_moves(self) -> int:
        """Number of (variable, value) pairs."""
        return int(self.move_starts[-1])


T = TypeVar("T")
_COMPILED: weakref.WeakKeyDictionary[GraphicalModel, dict[float | None, FlatModel]]
_COMPILED = weakref.WeakKeyDictionary()


def compile_model(model: GraphicalModel, log_zero: float | None = None) -> FlatModel:
    """Flatten a model, once.

    ``log_zero`` defaults to -100, or twice the lowest entry, or minus twice the widest range of a table: a
    zero is to cost more than any table has to offer, whatever is added to the table. It is not below -1e15
    where the entries are not.
    """
    if log_zero is not None:
        check_is_number("log_zero", log_zero)
    compiled = _COMPILED.setdefault(model, {})
    if log_zero not in compiled:
        compiled[log_zero] = flatten(model.factors, log_zero)
    return compiled[log_zero]


def once_per_model(function: Callable[[FlatModel], T]) -> Callable[[FlatModel], T]:
    """Remember what a function says about a model for as long as the model's tables are there."""
    known: dict[int, T] = {}  # by the identity of the tables

    @wraps(function)
    def remembered(model: FlatModel) -> T:
        key = id(model.log_table)
        if key not in known:
            known[key] = function(model)
            weakref.finalize(model.log_table, known.pop, key, None)
        return known[key]

    return remembered


def flatten(factors: Factors, log_zero: float | None, off_by: float = 0.0) -> FlatModel:
    """The arrays that kernels use; :func:`compile_model` remembers them."""
    sizes, log_table = factors.domain_sizes, factors.log_table
    if factors.num_entries + len(log_table) * factors.is_shared >= 2**31:
        raise ModelError(f"the search takes at most 2^31 table entries in all; found {factors.num_entries}")
    has_zeros = bool(log_table.min(initial=0.0) == -np.inf)
    is_finite: Any = np.isfinite(log_table) if has_zeros else True
    lowest, highest = (of(log_table, where=is_finite, initial=0.0) for of in (np.min, np.max))
    largest = max(-lowest, highest)
    if largest > MAX_LOG_POTENTIAL:
        raise ModelError(
            f"log-potentials beyond ±{MAX_LOG_POTENTIAL:g} cannot be searched; found {largest:g}: "
            "scale the model (beacon convert --scale)"
        )
    if log_zero is not None:
        floor = _checked_floor(log_zero, lowest)
    else:  # the range of a table without positive entries is no wider than its lowest entry is low
        widest = _widest_range(factors) if has_zeros and highest > 0 else 0.0
        floor = float(min(DEFAULT_LOG_ZERO, 2 * lowest, -2 * widest))
        if lowest > -MAX_LOG_POTENTIAL:
            floor = max(floor, -MAX_LOG_POTENTIAL)
    # A view of the model's own array where it has no zeros; each flat model has a view of its own.
    log_table = np.where(is_finite, log_table, floor) if has_zeros else log_table.view()
    arities = factors.arities
    scopes = np.empty((len(factors.variables), 2), dtype=np.int32)
    scopes[:, 0], scopes[:, 1] = factors.variables, factors.strides
    factor_of_place = np.repeat(np.arange(len(factors), dtype=np.int32), arities)
    narrow = arities[factor_of_place] <= 2
    pair_starts, pairs = _pair_links(scopes, factor_of_place, arities, narrow, len(sizes))
    wide_starts, wide_places = _grouped(scopes[:, 0], ~narrow, len(sizes))
    arrays = {
        "domain_sizes": sizes,
        "move_starts": starts_of(sizes),
        "table_starts": factors.table_starts,
        "bases": factors.bases,
        "scope_starts": factors.scope_starts,
        "scopes": scopes,
        "pair_starts": pair_starts,
        "pairs": pairs,
        "wide_starts": wide_starts,
        "wides": np.column_stack([factor_of_place[wide_places], scopes[wide_places, 1]]),
    }
    arrays["neighbour_starts"], arrays["neighbours"] = neighbours_of(arrays)
    frozen: dict[str, Any] = {name: _frozen(array, np.int32) for name, array in arrays.items()}
    hard_zero = _hard_zero(log_table, frozen["bases"], floor)
    table = _frozen(log_table, np.float64)
    return FlatModel(log_zero=floor, hard_zero=hard_zero, off_by=off_by, log_table=table, **frozen)


def _hard_zero(log_table: NDArray[np.float64], bases: NDArray[np.int32], log_zero: float) -> float:
    if not len(log_table):
        return log_zero
    lows, tops = finite_ranges(log_table, bases, log_zero)
    return float(np.minimum(lows, 0.0).sum() - np.maximum(tops, 0.0).sum() - 1)


def _widest_range(factors: Factors) -> float:
    """The largest difference between two entries of one table, zeros apart."""
    lows, tops = finite_ranges(factors.log_table, factors.bases, -np.inf)
    return float((tops - lows).max(initial=0.0))


def finite_ranges(
    log_table: NDArray[np.float64], bases: NDArray[np.integer], log_zero: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[factors] the lowest and the highest entry of each table, zeros apart; 0 and 0 if there is no other."""
    tops, lows = of_tables(np.maximum, log_table, bases), of_tables(np.minimum, log_table, bases)
    if not (lows == log_zero).any():
        return lows, tops
    lows = of_tables(np.minimum, np.where(log_table == log_zero, np.inf, log_table), bases)
    is_void = lows == np.inf
    lows[is_void], tops[is_void] = 0.0, 0.0
    return lows, tops


def _checked_floor(log_zero: float, lowest: float) -> float:
    if not -MAX_LOG_POTENTIAL <= log_zero < lowest:
        raise ModelError(
            f"log_zero must be at least {-MAX_LOG_POTENTIAL:g} and below the lowest log-potential "
            f"{lowest:g}; found {log_zero:g}"
        )
    return float(log_zero)


def _pair_links(
    scopes: NDArray[np.int32],
    factor_of_place: NDArray[np.int32],
    arities: NDArray[np.int64],
    narrow: NDArray[np.bool_],
    num_variables: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Starts and rows (factor, stride, other variable, other stride) of factors with one or two variables."""
    starts, places = _grouped(scopes[:, 0], narrow, num_variables)
    factors = factor_of_place[places]
    links = np.empty((len(places), 4), dtype=np.int32)
    links[:, 0], links[:, 1], links[:, 2], links[:, 3] = factors, scopes[places, 1], -1, 0
    paired = np.flatnonzero(arities[factors] == 2)
    first = (np.cumsum(arities) - arities)[factors[paired]]
    links[paired, 2:] = scopes[2 * first + 1 - places[paired]]  # the other of the places first and first + 1
    return starts, links


def _grouped(
    variables: NDArray[np.int32], chosen: NDArray[np.bool_], num_variables: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The chosen scope places grouped by variable: starts, and places in factor order within a variable."""
    places = np.flatnonzero(chosen)
    order = places[np.argsort(variables[places], kind="stable")]
    return starts_of(np.bincount(variables[places], minlength=num_variables)), order


def _frozen(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    result: NDArray[Any] = np.ascontiguousarray(array, dtype=dtype)
    result.flags.writeable = False
    return result


def neighbours_of(arrays: Mapping[str, NDArray[np.int64]]) -> Rows:
    """Starts and neighbours of each variable, from the links of a flat model.

    A variable's neighbours come in the order of its links, pairs before wide factors, each of them once.
    """
    num_variables = len(arrays["domain_sizes"])
    variables, others = _joined(_of_pairs(arrays), _of_wides(arrays))
    is_first = _is_first(variables * num_variables + others)
    counts = np.bincount(variables[is_first], minlength=num_variables)
    return starts_of(counts), others[is_first]


def _of_pairs(arrays: Mapping[str, NDArray[np.int64]]) -> Rows:
    starts, others = arrays["pair_starts"], arrays["pairs"][:, 2]
    variables = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return variables[others >= 0], others[others >= 0].astype(np.int64)


def _of_wides(arrays: Mapping[str, NDArray[np.int64]]) -> Rows:
    """For every link of a wide factor, all variables of that factor but the one it belongs to."""
    starts, factors = arrays["wide_starts"], arrays["wides"][:, 0]
    arities = np.diff(arrays["scope_starts"])[factors]
    variables = np.repeat(np.repeat(np.arange(len(starts) - 1), np.diff(starts)), arities)
    others = arrays["scopes"][places_of(arrays["scope_starts"], factors), 0].astype(np.int64)
    return variables[variables != others], others[variables != others]


def _joined(pairs: Rows, wides: Rows) -> Rows:
    """All rows, grouped by variable."""
    if not len(wides[0]):
        return pairs
    variables, others = np.concatenate([pairs[0], wides[0]]), np.concatenate([pairs[1], wides[1]])
    order = np.argsort(variables, kind="stable")
    return variables[order], others[order]


def _is_first(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each key is the first of its kind."""
    order = np.argsort(keys, kind="stable")
    is_new = np.ones(len(keys), dtype=np.bool_)
    is_new[1:] = np.diff(keys[order]) != 0
    is_first = np.empty(len(keys), dtype=np.bool_)
    is_first[order] = is_new
    return is_first


def as_fixed(evidence: Mapping[int, int] | Fixed, num_variables: int) -> Fixed:
    """Evidence as an array of its own; an array passes through."""
    if isinstance(evidence, np.ndarray):
        return evidence
    fixed = np.full(num_variables, -1, dtype=np.int32)
    count = len(evidence)
    fixed[np.fromiter(evidence.keys(), np.int64, count)] = np.fromiter(evidence.values(), np.int64, count)
    return fixed


def place(fixed: Fixed, assignment: NDArray[np.integer]) -> NDArray[np.int32]:
    """An assignment with the fixed values in it."""
    return np.where(fixed >= 0, fixed, assignment).astype(np.int32, copy=False)
