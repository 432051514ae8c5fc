"""Variables, domains and factors; the slow, obvious score; the fingerprint."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.errors import EvidenceError, ModelError, shown

MAX_TABLE_ENTRIES = 1 << 28  # 2 GiB of doubles; a larger table is a mistake, not a model
MAX_SCOPE = 32  # axes that every numpy can give an array
MAX_VALUES = 1 << 24  # over all variables; more is a mistake, and each value costs memory
MAX_LOOKUP = 1 << 22  # entries up to which a copy of all tables, for quick scores, is worth its memory


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


class _Lookup(NamedTuple):
    """All tables end to end, and where an assignment's entries are found in them."""

    table: NDArray[np.float64]
    table_starts: NDArray[np.int64]
    """[factors]"""
    scope_starts: NDArray[np.int64]
    """[factors + 1] where the variables of each begin in the two below."""
    variables: NDArray[np.int64]
    strides: NDArray[np.int64]

    @classmethod
    def of(cls, factors: Sequence[Factor]) -> _Lookup:
        """Copy the tables of all factors."""
        tables = [factor.log_table for factor in factors]
        places = [
            (variable, math.prod(factor.log_table.shape[axis + 1 :]))
            for factor in factors
            for axis, variable in enumerate(factor.scope)
        ]
        variables, strides = np.array(places, dtype=np.int64).reshape(-1, 2).T
        sizes, arities = [table.size for table in tables], [table.ndim for table in tables]
        return cls(
            np.concatenate([table.reshape(-1) for table in tables]) if tables else np.empty(0),
            np.cumsum([0, *sizes], dtype=np.int64)[:-1],
            np.cumsum([0, *arities], dtype=np.int64),
            np.ascontiguousarray(variables),
            np.ascontiguousarray(strides),
        )

    def log_potentials(self, values: NDArray[np.int64]) -> NDArray[np.float64]:
        """Each factor's entry at an assignment."""
        steps = np.concatenate([[0], np.cumsum(values[self.variables] * self.strides)])
        starts = self.scope_starts
        entries: NDArray[np.int64] = self.table_starts + steps[starts[1:]] - steps[starts[:-1]]
        return self.table.take(entries)


@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """Variables with named values, and factors whose sum is the log score of an assignment.

    Build one with :meth:`from_tables` or read one with :func:`beacon.read_model`. Models never change:
    every method that alters something returns a new model.

    >>> import beacon
    >>> from math import log
    >>> model = beacon.GraphicalModel.from_tables(
    ...     domain_sizes=[2, 2],
    ...     tables=[((0,), [log(0.8), log(0.2)]), ((0, 1), [log(0.9), log(0.1), log(0.3), log(0.7)])],
    ...     names=["rain", "wet"],
    ...     labels=[["no", "yes"], ["no", "yes"]],
    ... )
    >>> model.named_assignment([1, 1])
    {'rain': 'yes', 'wet': 'yes'}
    >>> round(model.log_score([1, 1]), 4)  # log(0.2 · 0.7)
    -1.9661
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    factors: tuple[Factor, ...]

    def __post_init__(self) -> None:
        """Check names, labels and factors against each other, and freeze the tables."""
        _check_variables(self.names, self.labels)
        sizes = tuple(len(values) for values in self.labels)
        for index, factor in enumerate(self.factors):
            _check_factor(index, factor, sizes)

    @classmethod
    def from_tables(
        cls,
        domain_sizes: Sequence[int],
        tables: Iterable[tuple[Sequence[int], ArrayLike]],
        names: Sequence[str] | None = None,
        labels: Sequence[Sequence[str]] | None = None,
    ) -> GraphicalModel:
        """Build a model from (scope, log table) pairs; a table may be flat, last variable fastest."""
        sizes = list(_whole("domain_sizes", domain_sizes))
        if sum(sizes) > MAX_VALUES:
            raise ModelError(f"the variables may have at most {MAX_VALUES} values in all, found {sum(sizes)}")
        shared = {size: tuple(map(str, range(size))) for size in set(sizes)}
        return cls(
            names=tuple(names) if names is not None else tuple(f"x{i}" for i in range(len(sizes))),
            labels=tuple(map(tuple, labels)) if labels is not None else tuple(shared[s] for s in sizes),
            factors=tuple(_shaped_factor(i, scope, table, sizes) for i, (scope, table) in enumerate(tables)),
        )

    @property
    def num_variables(self) -> int:
        """Number of variables, observed or not."""
        return len(self.names)

    @property
    def num_factors(self) -> int:
        """Number of factors, constants included."""
        return len(self.factors)

    @cached_property
    def domain_sizes(self) -> NDArray[np.int64]:
        """Number of values of each variable."""
        return _frozen(np.array([len(values) for values in self.labels], dtype=np.int64))

    @cached_property
    def name_to_variable(self) -> Mapping[str, int]:
        """Index of each variable by its name."""
        return {name: index for index, name in enumerate(self.names)}

    @property
    def max_domain(self) -> int:
        """Largest number of values of a variable (0 for a model without variables)."""
        return max((len(values) for values in self.labels), default=0)

    @property
    def max_scope(self) -> int:
        """Largest number of variables in a factor."""
        return max((len(factor.scope) for factor in self.factors), default=0)

    @cached_property
    def num_entries(self) -> int:
        """Number of table entries over all factors."""
        return sum(factor.log_table.size for factor in self.factors)

    @cached_property
    def zero_fraction(self) -> float:
        """Share of table entries that are zero potentials."""
        zeros = sum(int(np.count_nonzero(np.isneginf(factor.log_table))) for factor in self.factors)
        return zeros / max(1, self.num_entries)

    def _repr_html_(self) -> str:
        """The model's size and its variables, for notebooks."""
        from beacon.model.html_view import html_table  # noqa: PLC0415 - for notebooks alone

        kind = f"{self.num_variables:,} variables, {self.num_factors:,} factors, {self.num_entries:,} entries"
        rows = ((name, ", ".join(labels[:12])) for name, labels in zip(self.names, self.labels, strict=True))
        title = f"GraphicalModel: {kind}, {self.zero_fraction:.1%} of them zero"
        return html_table(title, rows, ("variable", "values"), f"… {self.num_variables:,} in all")

    def check_assignment(self, assignment: ArrayLike) -> NDArray[np.int64]:
        """Return the assignment as an index array, or raise if it does not give each variable a value."""
        values = np.asarray(assignment)
        if values.shape != (self.num_variables,) or not np.issubdtype(values.dtype, np.integer):
            raise EvidenceError(
                f"an assignment needs {self.num_variables} value indices, one per variable; "
                f"found {values.dtype} of shape {values.shape}"
            )
        wrong = np.flatnonzero((values < 0) | (values >= self.domain_sizes))
        if wrong.size:
            i = int(wrong[0])
            raise EvidenceError(
                f"variable {self.names[i]!r} has values 0..{self.domain_sizes[i] - 1}; found {values[i]}"
            )
        return values.astype(np.int64)

    def log_potentials(self, assignment: ArrayLike) -> NDArray[np.float64]:
        """The log-potential of each factor at a complete assignment."""
        values = self.check_assignment(assignment)
        if self.num_entries <= MAX_LOOKUP:
            return self._lookup.log_potentials(values)
        listed = values.tolist()
        return np.array(
            [f.log_table[tuple([listed[i] for i in f.scope])] for f in self.factors], dtype=np.float64
        )

    @cached_property
    def _lookup(self) -> _Lookup:
        return _Lookup.of(self.factors)

    def log_score(self, assignment: ArrayLike) -> float:
        """Sum of all log-potentials at a complete assignment; -inf if any is zero. Slow and obvious."""
        return math.fsum(self.log_potentials(assignment))

    def log_scores(self, assignments: ArrayLike) -> NDArray[np.float64]:
        """:meth:`log_score` of each row, walking the factors once for all rows."""
        rows = np.array([self.check_assignment(row) for row in np.atleast_2d(np.asarray(assignments))])
        columns = np.ascontiguousarray(rows.T)
        total = np.zeros(len(rows))
        for factor in self.factors:
            total += factor.log_table[tuple(columns[i] for i in factor.scope)]
        return total

    def num_zero_factors(self, assignment: ArrayLike) -> int:
        """Number of factors whose potential is zero at a complete assignment."""
        return int(np.count_nonzero(np.isneginf(self.log_potentials(assignment))))

    def floored_log_score(self, assignment: ArrayLike, log_zero: float) -> float:
        """:meth:`log_score` with ``log_zero`` in place of -inf: what a search climbs."""
        entries = self.log_potentials(assignment)
        return math.fsum(np.where(np.isneginf(entries), log_zero, entries))

    def named_assignment(self, assignment: ArrayLike) -> dict[str, str]:
        """The assignment as variable name -> value label."""
        values = self.check_assignment(assignment).tolist()
        return {name: self.labels[i][values[i]] for i, name in enumerate(self.names)}

    def changes_between(self, before: NDArray[np.integer], after: NDArray[np.integer]) -> dict[str, str]:
        """The variables that two assignments disagree about, with the values of the second."""
        return {self.names[i]: self.labels[i][after[i]] for i in np.flatnonzero(before != after).tolist()}

    def primal_graph(self) -> list[set[int]]:
        """Neighbours of each variable: those that share a factor with it."""
        neighbours: list[set[int]] = [set() for _ in self.names]
        for factor in self.factors:
            for i in factor.scope:
                neighbours[i].update(factor.scope)
        for i, others in enumerate(neighbours):
            others.discard(i)
        return neighbours

    @cached_property
    def width_bound(self) -> int:
        """An upper bound on the treewidth of the primal graph, by min-fill elimination."""
        from beacon.model.width import min_fill_width  # noqa: PLC0415 - no search needs it

        return min_fill_width(self.primal_graph())

    @cached_property
    def fingerprint(self) -> str:
        """A digest of domains and factors: the same for every file format, compression and factor order.

        Names and labels do not count (UAI files have none), and tables count in single precision, so that
        a format which stores potentials instead of their logs gives the same digest.
        """
        digests = sorted(map(_factor_digest, self.factors))
        whole = hashlib.sha256(self.domain_sizes.astype("<i8").tobytes())
        for digest in digests:
            whole.update(digest)
        return whole.hexdigest()[:32]

    def condition(self, evidence: Mapping[int, int]) -> tuple[GraphicalModel, list[int]]:
        """The model of the unobserved variables, and their indices in this one.

        Every factor is kept, restricted to the evidence; a fully observed one becomes a constant, so the
        score of an assignment is the same in both models.
        """
        free = [i for i in range(self.num_variables) if i not in evidence]
        position = {old: new for new, old in enumerate(free)}
        factors = []
        for factor in self.factors:
            cut = tuple(evidence.get(i, slice(None)) for i in factor.scope)
            scope = tuple(position[i] for i in factor.scope if i in position)
            factors.append(Factor(scope, _frozen(np.array(factor.log_table[cut]))))
        names, labels = (tuple(column[i] for i in free) for column in (self.names, self.labels))
        return GraphicalModel(names, labels, tuple(factors)), free  # type: ignore[arg-type]

    def scaled(self, scale: float) -> GraphicalModel:
        """The model with every log-potential multiplied by ``scale`` > 0: the same best assignments."""
        if not 0 < scale < math.inf:
            raise ModelError(f"scale must be a positive number; found {scale}")
        with np.errstate(over="ignore"):  # told below, as an error
            factors = tuple(Factor(f.scope, f.log_table * scale) for f in self.factors)
        for index, (old, new) in enumerate(zip(self.factors, factors, strict=True)):
            if (np.isfinite(old.log_table) & np.isinf(new.log_table)).any():
                raise ModelError(
                    f"scale {scale:g} is too large: a finite entry of factor {index} would become infinite"
                )
        return GraphicalModel(self.names, self.labels, factors)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process is checked and frozen as this one."""
        return GraphicalModel, (self.names, self.labels, self.factors)

    def __repr__(self) -> str:
        """Size at a glance."""
        return (
            f"GraphicalModel({self.num_variables} variables, {self.num_factors} factors, "
            f"domains ≤ {self.max_domain}, scopes ≤ {self.max_scope})"
        )


def _frozen(array: NDArray) -> NDArray:  # type: ignore[type-arg]
    array.flags.writeable = False
    return array


def _whole(what: str, numbers: Iterable[int]) -> tuple[int, ...]:
    """The same as Python's integers; what is none is refused, not rounded."""
    try:
        given = tuple(numbers)
        whole = tuple(map(int, given))
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what} must be whole numbers; found {shown(numbers)}") from None
    if whole != given:
        wrong = next(number for number, i in zip(given, whole, strict=True) if number != i)
        raise ModelError(f"{what} must be whole numbers; found {shown(wrong)}")
    return whole


def _shaped_factor(index: int, scope: Sequence[int], table: ArrayLike, sizes: list[int]) -> Factor:
    """Shape a flat or shaped log table after its scope."""
    variables = _whole(f"factor {index}: its scope", scope)
    try:
        values = np.array(table, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"factor {index}: expected a table of numbers, found {shown(table)}") from None
    if variables and not (min(variables) >= 0 and max(variables) < len(sizes)):
        return Factor(variables, values)  # the model's own check says what is wrong
    shape = tuple([sizes[i] for i in variables])
    if len(shape) > MAX_SCOPE:
        raise ModelError(
            f"factor {index}: expected a scope of at most {MAX_SCOPE} variables, found {len(shape)}"
        )
    if values.size != math.prod(shape):
        raise ModelError(
            f"factor {index} over variables {list(variables)}: expected {math.prod(shape)} entries, "
            f"found {values.size}"
        )
    return Factor(variables, values.reshape(shape))


def _check_variables(names: tuple[str, ...], labels: tuple[tuple[str, ...], ...]) -> None:
    if len(names) != len(labels):
        raise ModelError(f"expected labels for {len(names)} variables, found {len(labels)}")
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise ModelError(f"variable names must be texts; found {shown(wrong[0])}")
    if len(set(names)) != len(names):
        twice = _twice(names)
        raise ModelError(f"variable names must differ; {twice!r} occurs more than once")
    for name, values in zip(names, labels, strict=True):
        if not values:
            raise ModelError(f"variable {name!r} needs at least one value, found none")
        if len(set(values)) != len(values):
            raise ModelError(
                f"variable {name!r}: value labels must differ; {_twice(values)!r} occurs more than once"
            )


def _twice(words: Sequence[str]) -> str:
    return Counter(words).most_common(1)[0][0]


def _check_factor(index: int, factor: Factor, sizes: tuple[int, ...]) -> None:
    problem = _factor_problem(factor.scope, factor.log_table, sizes)
    if problem:
        raise ModelError(f"factor {index} over variables {list(factor.scope)}: {problem}")
    factor.log_table.setflags(write=False)


def _factor_problem(scope: tuple[int, ...], table: NDArray[np.float64], sizes: tuple[int, ...]) -> str | None:
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


def _factor_digest(factor: Factor) -> bytes:
    """Digest of one factor, whatever the order of its scope."""
    order = sorted(range(len(factor.scope)), key=factor.scope.__getitem__)
    scope = np.array([factor.scope[k] for k in order], dtype="<i8")
    table = factor.log_table.transpose(order).astype("<f4") + np.float32(0)  # +0 makes -0 and 0 the same
    return hashlib.blake2b(scope.tobytes() + table.tobytes(), digest_size=16).digest()
