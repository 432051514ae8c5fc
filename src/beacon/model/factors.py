"""Factors: the scopes and tables of a model as a few long arrays; one factor alone is a view of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from beacon.errors import ModelError

MAX_TABLE_ENTRIES = 1 << 28  # 2 GiB of doubles; a larger table is a mistake, not a model
_BLOCK = 1 << 16  # factors whose places are listed at a time
LEAST_SHARED = 1 << 20  # table entries: fewer take no memory to speak of, and lie better one after another
LEAST_TABLE = 16  # entries: to store where a smaller one is takes as much as the table, or nearly
SAMPLED = 4096  # tables that tell whether it pays to look for equal ones


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A log-potential over a few variables.

    ``log_table`` has one axis per variable of ``scope``, in that order; -inf marks a zero potential.

    >>> import beacon, numpy
    >>> beacon.Factor((0, 1), numpy.zeros((2, 3))).log_table.shape
    (2, 3)
    """

    scope: tuple[int, ...]
    log_table: NDArray[np.float64]


class Factors(Sequence[Factor]):
    """All factors of a model. The arrays are read-only; each :class:`Factor` is made when it is asked for."""

    def __init__(
        self,
        domain_sizes: NDArray[np.integer],
        arities: NDArray[np.integer],
        variables: NDArray[np.integer],
        log_table: NDArray[np.float64],
        bases: NDArray[np.integer] | None = None,
    ) -> None:
        """Take scopes and tables one after another; tables have the last variable of their scope fastest.

        Where tables are shared, ``bases`` says where that of each factor begins.
        """
        self.domain_sizes = frozen(np.asarray(domain_sizes, dtype=np.int64))
        """[variables] number of values."""
        self.scope_starts = frozen(starts_of(arities))
        """[factors + 1] where the variables of each begin."""
        self.variables = frozen(np.asarray(variables, dtype=np.int32))
        """[scope places] the scopes."""
        self.log_table = frozen(log_table)
        """[stored entries] the tables, those that factors share once."""
        self._bases = None if bases is None else frozen(np.asarray(bases, dtype=np.int64))
        self._check()

    @classmethod
    def of(cls, factors: Iterable[Factor], domain_sizes: Sequence[int]) -> Factors:
        """Copy factors that are given one by one, each of them checked."""
        if isinstance(factors, Factors) and list(domain_sizes) == factors.domain_sizes.tolist():
            return factors
        scopes, tables = list[tuple[int, ...]](), list[NDArray[np.float64]]()
        same: dict[bytes, NDArray[np.float64]] = {}
        for index, factor in enumerate(factors):
            if problem := _factor_problem(factor.scope, factor.log_table, domain_sizes):
                raise ModelError(f"factor {index} over variables {list(factor.scope)}: {problem}")
            scopes.append(factor.scope)
            table = factor.log_table.reshape(-1)
            tables.append(same.setdefault(table.tobytes(), table) if len(table) >= LEAST_TABLE else table)
        arities = np.fromiter(map(len, scopes), np.int64, len(scopes))
        variables = np.fromiter((i for scope in scopes for i in scope), np.int32, int(arities.sum()))
        stored = {id(table): table for table in tables}
        bases = None
        if _pays_to_share(sum(map(len, tables)), sum(map(len, stored.values()))):
            starts = starts_of(np.array([len(table) for table in stored.values()]))
            base_of = dict(zip(stored, starts.tolist(), strict=False))
            bases = np.array([base_of[id(table)] for table in tables])
            tables = list(stored.values())
        joined = np.concatenate([np.empty(0), *tables])
        return cls(np.array(domain_sizes), arities, variables, joined, bases)

    @classmethod
    def of_blocks(
        cls,
        domain_sizes: Sequence[int],
        *blocks: tuple[NDArray[np.integer], NDArray[np.float64]],
    ) -> Factors:
        """Factors that come in blocks: [factors, arity] scopes with [factors, ...] tables."""
        arities = np.concatenate([np.full(len(scopes), scopes.shape[1]) for scopes, _ in blocks])
        variables = np.concatenate([scopes.reshape(-1) for scopes, _ in blocks])
        return cls(
            np.array(domain_sizes),
            arities,
            variables,
            np.concatenate([table.reshape(-1) for _, table in blocks]),
        )

    @cached_property
    def table_starts(self) -> NDArray[np.int64]:
        """[factors + 1] where each table would begin if none were shared: by this entries are counted."""
        return frozen(table_starts(self.domain_sizes, self.scope_starts, self.variables))

    @property
    def bases(self) -> NDArray[np.int64]:
        """[factors] where the table of each begins in ``log_table``."""
        return self.table_starts[:-1] if self._bases is None else self._bases

    @property
    def num_entries(self) -> int:
        """Number of table entries; those of shared tables count for every factor."""
        return int(self.table_starts[-1])

    @property
    def is_shared(self) -> bool:
        """Do factors share tables?"""
        return self._bases is not None

    def shared(self) -> Factors:
        """The same factors with equal tables stored once, where that saves half of the memory or more."""
        are_small = self.num_entries < max(LEAST_SHARED, LEAST_TABLE * len(self))
        if self.is_shared or are_small or not self._repeats():
            return self
        numbers: dict[bytes, int] = {}
        tables = self.log_table
        of_factor = np.empty(len(self), dtype=np.int64)
        for k, _, _, first, last in self._bounds():
            of_factor[k] = numbers.setdefault(tables[first:last].tobytes(), len(numbers))
        starts = starts_of(np.array([len(table) // 8 for table in numbers]))
        if not _pays_to_share(self.num_entries, int(starts[-1])):
            return self
        stored = np.frombuffer(b"".join(numbers), dtype=np.float64)
        return Factors(self.domain_sizes, self.arities, self.variables, stored, starts[of_factor])

    def expanded(self) -> Factors:
        """The same factors, each with a table of its own."""
        if not self.is_shared:
            return self
        blocks = (self.tables(slice(k, k + _BLOCK))[0] for k in range(0, len(self), _BLOCK))
        return Factors(self.domain_sizes, self.arities, self.variables, np.concatenate(list(blocks)))

    def tables(self, block: slice) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The tables of a block of factors one after another, and where each begins."""
        bounds = self.table_starts[block.start : block.stop + 1]
        if not self.is_shared:
            return self.log_table[bounds[0] : bounds[-1]], bounds - bounds[0]
        sizes = np.diff(bounds)
        return self.log_table[np.repeat(self.bases[block], sizes) + counted(sizes)], bounds - bounds[0]

    def _repeats(self) -> bool:
        """Do a few tables, drawn by size, tell that many are equal?"""
        places = np.linspace(0, self.num_entries - 1, SAMPLED).astype(np.int64)
        some = np.unique(np.searchsorted(self.table_starts, places, side="right") - 1).tolist()
        bounds = [self.table_starts[k : k + 2].tolist() for k in some]
        return len(some) >= 2 * len({self.log_table[a:b].tobytes() for a, b in bounds})

    @cached_property
    def strides(self) -> NDArray[np.int64]:
        """[scope places] by how many entries a variable's next value lies further."""
        strides = np.ones(len(self.variables), dtype=np.int64)
        arities, ends = self.arities, self.scope_starts[1:]
        for place in range(2, int(arities.max(initial=0)) + 1):
            at = ends[arities >= place] - place  # the place-th variable from the right, where there is one
            strides[at] = strides[at + 1] * self.domain_sizes[self.variables[at + 1]]
        return frozen(strides)

    @property
    def arities(self) -> NDArray[np.int64]:
        """[factors] number of variables."""
        return np.diff(self.scope_starts)

    @property
    def are_turned(self) -> NDArray[np.bool_]:
        """[factors] do the variables of its scope not ascend?"""
        of_place = np.repeat(np.arange(len(self), dtype=np.int32), self.arities)
        descends = (self.variables[1:] < self.variables[:-1]) & (of_place[1:] == of_place[:-1])
        turned = np.zeros(len(self), dtype=np.bool_)
        turned[of_place[1:][descends]] = True
        return turned

    def scope(self, factor: int) -> tuple[int, ...]:
        """The variables of one factor."""
        begin, end = self.scope_starts[factor], self.scope_starts[factor + 1]
        return tuple(self.variables[begin:end].tolist())

    def entries_at(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """[factors] the entry of each at an assignment."""
        steps = np.zeros(len(self.variables) + 1, dtype=np.int64)
        np.cumsum(values[self.variables] * self.strides, out=steps[1:])
        entries: NDArray[np.int64] = self.bases + np.diff(steps[self.scope_starts])
        return entries

    def given(self, evidence: Mapping[int, int]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """[entries], [scope places] which of them evidence leaves: no other values, no observed variables.

        Entries are those of :meth:`expanded`. Cost: for each observed place, the entries of its factor.
        """
        fixed = np.full(len(self.domain_sizes), -1, dtype=np.int64)
        fixed[list(evidence)] = list(evidence.values())
        of_place = fixed[self.variables]
        is_left, arities = np.ones(self.num_entries, dtype=np.bool_), self.arities
        for rank in range(int(arities.max(initial=0))):
            places = self.scope_starts[:-1][arities > rank] + rank
            factors = np.flatnonzero(arities > rank)[of_place[places] >= 0]
            places = places[of_place[places] >= 0]
            sizes = np.diff(self.table_starts)[factors]
            within = counted(sizes)
            value = within // np.repeat(self.strides[places], sizes)
            value %= np.repeat(self.domain_sizes[self.variables[places]], sizes)
            is_wrong = value != np.repeat(of_place[places], sizes)
            is_left[(np.repeat(self.table_starts[:-1][factors], sizes) + within)[is_wrong]] = False
        return is_left, of_place < 0

    def conditioned(self, evidence: Mapping[int, int]) -> Factors:
        """The same factors of the unobserved variables, numbered anew; a fully observed one is a constant."""
        is_left, is_free = self.given(evidence)
        free = np.ones(len(self.domain_sizes), dtype=np.bool_)
        free[list(evidence)] = False
        factor_of_place = np.repeat(np.arange(len(self)), self.arities)
        arities = np.bincount(factor_of_place[is_free], minlength=len(self))
        variables = (np.cumsum(free) - 1)[self.variables[is_free]]
        return Factors(self.domain_sizes[free], arities, variables, self.expanded().log_table[is_left])

    def __len__(self) -> int:
        """Number of factors."""
        return len(self.scope_starts) - 1

    @overload
    def __getitem__(self, index: int) -> Factor: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Factor, ...]: ...
    def __getitem__(self, index: int | slice) -> Factor | tuple[Factor, ...]:
        """One factor, or some."""
        if isinstance(index, slice):
            return tuple(self[k] for k in range(len(self))[index])
        k = range(len(self))[index]
        scope = self.scope(k)
        first, size = int(self.bases[k]), int(self.table_starts[k + 1] - self.table_starts[k])
        return self._view(scope, first, first + size)

    def __iter__(self) -> Iterator[Factor]:
        """Each factor."""
        variables = self.variables
        for _, begin, end, first, last in self._bounds():
            yield self._view(tuple(variables[begin:end].tolist()), first, last)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process is checked and frozen as this one."""
        return Factors, (self.domain_sizes, self.arities, self.variables, self.log_table, self._bases)

    def _view(self, scope: tuple[int, ...], first: int, last: int) -> Factor:
        sizes = self.domain_sizes
        return Factor(scope, self.log_table[first:last].reshape([sizes[i] for i in scope]))

    def _bounds(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Number of each factor, and where its scope and its table begin and end."""
        for first in range(0, len(self), _BLOCK):
            block = slice(first, first + _BLOCK + 1)
            scopes, begins = self.scope_starts[block].tolist(), self.bases[first : first + _BLOCK]
            ends = begins + np.diff(self.table_starts[block])
            numbers = range(first, first + len(begins))
            yield from zip(numbers, scopes, scopes[1:], begins.tolist(), ends.tolist(), strict=False)

    def _check(self) -> None:
        """Raise unless scopes, tables and domains fit together."""
        count = len(self.domain_sizes)
        if len(self.variables) and not 0 <= self.variables.min() <= self.variables.max() < count:
            wrong = int(((self.variables < 0) | (self.variables >= count)).argmax())
            self._refuse(wrong, f"variables are 0..{count - 1}, found {self.variables[wrong]}")
        repeat = first_repeat(self.scope_starts, self.variables)
        if repeat is not None:
            self._refuse(repeat, "a variable occurs twice in the scope")
        needed = self.num_entries
        if self.is_shared:
            needed = int((self.bases + np.diff(self.table_starts)).max(initial=0))
        if len(self.log_table) != needed:
            raise ModelError(f"expected {needed} table entries, found {len(self.log_table)}")
        largest = self.log_table.max(initial=-math.inf)  # nan is larger than all
        if not largest < math.inf:
            raise ModelError(f"log-potentials must be numbers below +inf, found {largest}")

    def _refuse(self, place: int, problem: str) -> None:
        factor = int(np.searchsorted(self.scope_starts, place, side="right")) - 1
        raise ModelError(f"factor {factor} over variables {list(self.scope(factor))}: {problem}")


def _pays_to_share(entries: int, stored: int) -> bool:
    return LEAST_SHARED <= entries >= 2 * stored


def of_tables(
    combine: np.ufunc, entries: NDArray[Any], bases: NDArray[np.integer], dtype: type | None = None
) -> NDArray[Any]:
    """[factors] the entries of each table combined; ``bases`` are where they begin, shared or not."""
    if not len(bases):
        return np.empty(0, dtype=dtype or entries.dtype)
    if (bases[1:] > bases[:-1]).all():
        found: NDArray[Any] = combine.reduceat(entries, bases, dtype=dtype)
        return found
    starts, of_factor = np.unique(bases, return_inverse=True)
    shared: NDArray[Any] = combine.reduceat(entries, starts, dtype=dtype)
    return shared[of_factor]


def table_starts(
    domain_sizes: NDArray[np.integer], scope_starts: NDArray[np.int64], variables: NDArray[np.integer]
) -> NDArray[np.int64]:
    """[factors + 1] where tables begin, one after another.

    A table of more than MAX_TABLE_ENTRIES counts as one entry more than that.
    """
    starts = np.zeros(len(scope_starts), dtype=np.int64)
    for first, bounds in _blocks(scope_starts):
        sizes = starts[first + 1 : first + len(bounds)]
        sizes[:] = 1
        filled = bounds[:-1] < bounds[1:]
        if filled.any():
            of_places = domain_sizes[variables[bounds[0] : bounds[-1]]].astype(np.float64)
            products = np.multiply.reduceat(of_places, bounds[:-1][filled] - bounds[0])
            sizes[filled] = np.minimum(products, MAX_TABLE_ENTRIES + 1)
    return np.cumsum(starts, out=starts)


def first_repeat(scope_starts: NDArray[np.int64], variables: NDArray[np.integer]) -> int | None:
    """A scope place of the first factor in which a variable occurs twice, if there is one."""
    for _, bounds in _blocks(scope_starts):
        repeat = _first_repeat(bounds - bounds[0], variables[bounds[0] : bounds[-1]])
        if repeat is not None:
            return int(bounds[0]) + repeat
    return None


def _first_repeat(scope_starts: NDArray[np.int64], variables: NDArray[np.integer]) -> int | None:
    arities = np.diff(scope_starts)
    pairs = scope_starts[:-1][arities == 2]
    repeats = [pairs[variables[pairs] == variables[pairs + 1]]]
    if arities.max(initial=0) > 2:
        wide = np.repeat(arities > 2, arities)
        places, owners = np.flatnonzero(wide), np.repeat(np.arange(len(arities)), arities)[wide]
        order = np.lexsort((variables[places], owners))
        is_same = (np.diff(variables[places][order]) == 0) & (np.diff(owners[order]) == 0)
        repeats.append(places[order[1:][is_same]])
    found = np.concatenate(repeats)
    return int(found.min()) if len(found) else None


def _blocks(scope_starts: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The first of a few factors, and their bounds: all at once would take much memory."""
    for first in range(0, len(scope_starts) - 1, _BLOCK):
        yield first, scope_starts[first : first + _BLOCK + 1]


def starts_of(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where each of some rows begins, and the last ends, by their lengths."""
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def places_of(starts: NDArray[np.integer], rows: NDArray[np.integer]) -> NDArray[np.int64]:
    """The places of some rows, one row after another; ``starts`` says where each of all rows begins."""
    begins = starts[rows].astype(np.int64)
    counts = starts[rows + 1] - begins
    places: NDArray[np.int64] = np.repeat(begins, counts) + counted(counts)
    return places


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def counted(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1 .. n - 1 for each count n, one after another."""
    counted: NDArray[np.int64] = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return counted


def _factor_problem(scope: Sequence[int], table: NDArray[np.float64], sizes: Sequence[int]) -> str | None:
    """What is wrong with a factor, if anything; quick, since models have many small factors."""
    if scope and not (min(scope) >= 0 and max(scope) < len(sizes)):
        wrong = next(i for i in scope if not 0 <= i < len(sizes))
        return f"variables are 0..{len(sizes) - 1}, found {wrong}"
    if len(set(scope)) != len(scope):
        return "a variable occurs twice in the scope"
    if table.shape != tuple([sizes[i] for i in scope]):
        return f"expected a table of shape {[sizes[i] for i in scope]}, found {table.shape}"
    if table.dtype != np.float64:
        return f"expected a float64 table, found {table.dtype}"
    largest = table.item(table.argmax())  # quicker than max() on a small table; NaN counts as largest too
    if not largest < math.inf:
        return f"log-potentials must be numbers below +inf, found {largest}"
    return None
