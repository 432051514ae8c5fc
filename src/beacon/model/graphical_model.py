"""Variables, domains and factors; the slow, obvious score; the fingerprint."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.errors import EvidenceError, ModelError, plural, shown
from beacon.model.factors import Factor, Factors, of_tables

if TYPE_CHECKING:
    from beacon.model.evidence import Evidence
    from beacon.model.width import WidthBound

MAX_SCOPE = 32  # axes that every numpy can give an array
MAX_VALUES = 1 << 24  # over all variables; more is a mistake, and each value costs memory


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

    labels: tuple[tuple[str, ...], ...]
    """The values of each variable."""
    factors: Factors
    """Scopes and tables as arrays, which are read-only; also a sequence of :class:`Factor`."""

    def __init__(
        self,
        names: Sequence[str] | None,
        labels: Sequence[tuple[str, ...]],
        factors: Iterable[Factor],
    ) -> None:
        """Check names (None: x0, x1 ..), labels and factors against each other."""
        labels = tuple(labels)
        if names is not None:
            names = self.__dict__["names"] = tuple(names)
            _check_names(names, len(labels))
        self.__dict__["labels"] = labels
        sizes = list(map(len, labels))
        wrong = _wrong_labels(labels)
        if wrong is not None:
            _refuse_labels(self.names[wrong], labels[wrong])
        self.__dict__["factors"] = Factors.of(factors, sizes)

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
        given = None if labels is None else tuple(map(tuple, labels))
        if given is not None:
            _check_label_counts(given, sizes)
        factors = (_shaped_factor(i, *pair, sizes) for i, pair in enumerate(_unpacked(tables)))
        return cls(names, _numbered(sizes) if given is None else given, factors)

    @classmethod
    def from_factors(cls, factors: Factors) -> GraphicalModel:
        """The model of factors that are arrays already; variables and values are called by numbers."""
        return cls(None, _numbered(factors.domain_sizes.tolist()), factors.shared())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Models never change."""
        raise AttributeError(f"cannot set {name!r}: a model never changes; build another one")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each variable is called."""
        return tuple([f"x{i}" for i in range(len(self.labels))])

    @property
    def num_variables(self) -> int:
        """Number of variables, observed or not."""
        return len(self.labels)

    @property
    def num_factors(self) -> int:
        """Number of factors, constants included."""
        return len(self.factors)

    @property
    def domain_sizes(self) -> NDArray[np.int64]:
        """Number of values of each variable."""
        return self.factors.domain_sizes

    @cached_property
    def name_to_variable(self) -> Mapping[str, int]:
        """Index of each variable by its name."""
        return {name: index for index, name in enumerate(self.names)}

    @property
    def max_domain(self) -> int:
        """Largest number of values of a variable (0 for a model without variables)."""
        return int(self.domain_sizes.max(initial=0))

    @property
    def max_scope(self) -> int:
        """Largest number of variables in a factor."""
        return int(self.factors.arities.max(initial=0))

    @property
    def num_entries(self) -> int:
        """Number of table entries over all factors."""
        return self.factors.num_entries

    @cached_property
    def zero_fraction(self) -> float:
        """Share of table entries that are zero potentials."""
        is_zero = np.isneginf(self.factors.log_table)
        if not is_zero.any():
            return 0.0
        return int(of_tables(np.add, is_zero, self.factors.bases, np.int64).sum()) / self.num_entries

    def _repr_html_(self) -> str:
        """The model's size and its variables, for notebooks."""
        from beacon.model.html_view import html_table  # noqa: PLC0415 - for notebooks alone

        counts = {"variable": self.num_variables, "factor": self.num_factors, "entry": self.num_entries}
        kind = ", ".join(plural(count, word) for word, count in counts.items())
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
        return self.factors.log_table[self.factors.entries_at(self.check_assignment(assignment))]

    def log_score(self, assignment: ArrayLike) -> float:
        """Sum of all log-potentials at a complete assignment; -inf if any is zero. Slow and obvious."""
        return math.fsum(self.log_potentials(assignment))

    def log_scores(self, assignments: ArrayLike) -> NDArray[np.float64]:
        """:meth:`log_score` of each row."""
        return np.array([self.log_score(row) for row in np.atleast_2d(np.asarray(assignments))])

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
        from beacon.model.width import primal_graph  # noqa: PLC0415 - no search needs it

        return primal_graph(self.factors)

    @property
    def width_bound(self) -> int:
        """An upper bound on the treewidth of the primal graph."""
        return self._width.width

    @property
    def is_width_bound_rough(self) -> bool:
        """Would a better bound take too long to find?"""
        return self._width.is_rough

    @cached_property
    def _width(self) -> WidthBound:
        from beacon.model.width import width_bound  # noqa: PLC0415

        return width_bound(self.factors)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of domains and factors: the same for every file format, compression and factor order.

        Names and labels do not count (UAI files have none), and tables count in single precision, so that
        a format which stores potentials instead of their logs gives the same digest.
        """
        from beacon.model.digests import digests_of  # noqa: PLC0415 - no search needs it

        whole = hashlib.sha256(self.domain_sizes.astype("<i8").tobytes())
        whole.update(np.sort(digests_of(self.factors)).tobytes())
        return whole.hexdigest()[:32]

    def condition(self, evidence: Evidence) -> tuple[GraphicalModel, list[int]]:
        """The model of the unobserved variables, and their indices in this one.

        Every factor is kept, restricted to the evidence (by name or index, as in :func:`beacon.solve`); a
        fully observed one becomes a constant, so the score of an assignment is the same in both models.
        """
        from beacon.model.evidence import resolve_evidence  # noqa: PLC0415 - it needs models itself

        evidence = resolve_evidence(self, evidence)
        free = [i for i in range(self.num_variables) if i not in evidence]
        names, labels = ([column[i] for i in free] for column in (self.names, self.labels))
        return GraphicalModel(names, labels, self.factors.conditioned(evidence)), free  # type: ignore[arg-type]

    def scaled(self, scale: float) -> GraphicalModel:
        """The model with every log-potential multiplied by ``scale`` > 0: the same best assignments."""
        if not 0 < scale < math.inf:
            raise ModelError(f"scale must be a positive number; found {scale}")
        old = self.factors
        with np.errstate(over="ignore"):  # told below, as an error
            log_table = old.log_table * scale
        is_lost = np.isfinite(old.log_table) & np.isinf(log_table)
        if is_lost.any():
            factor = int(of_tables(np.logical_or, is_lost, old.bases).argmax())
            raise ModelError(
                f"scale {scale:g} is too large: a finite entry of factor {factor} would become infinite"
            )
        bases = old.bases if old.is_shared else None
        scaled = Factors(self.domain_sizes, old.arities, old.variables, log_table, bases)
        return GraphicalModel(self._given_names, self.labels, scaled)

    @property
    def _given_names(self) -> tuple[str, ...] | None:
        """The names, unless nobody has asked for those that are made up."""
        names: tuple[str, ...] | None = self.__dict__.get("names")
        return names

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process is checked and frozen as this one."""
        return GraphicalModel, (self._given_names, self.labels, self.factors)

    def __repr__(self) -> str:
        """Size at a glance."""
        return (
            f"GraphicalModel({plural(self.num_variables, 'variable')}, {plural(self.num_factors, 'factor')}, "
            f"domains ≤ {self.max_domain}, scopes ≤ {self.max_scope})"
        )


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


def _check_label_counts(labels: tuple[tuple[str, ...], ...], sizes: list[int]) -> None:
    """Refuse labels for other variables, or other numbers of values."""
    if len(labels) != len(sizes):
        raise ModelError(f"expected labels for {plural(len(sizes), 'variable')}, found {len(labels)}")
    if list(map(len, labels)) != sizes:
        wrong = next(i for i, size in enumerate(sizes) if len(labels[i]) != size)
        raise ModelError(
            f"variable {wrong}: expected as many labels as it has values ({sizes[wrong]}), "
            f"found {len(labels[wrong])}"
        )


def _unpacked(tables: Iterable[tuple[Sequence[int], ArrayLike]]) -> Iterator[tuple[Sequence[int], ArrayLike]]:
    """The pairs; what is none is refused in words."""
    if not isinstance(tables, Iterable):
        raise _no_pair(tables)
    for pair in tables:
        try:
            scope, table = pair
        except (TypeError, ValueError):
            raise _no_pair(pair) from None
        yield scope, table


def _no_pair(found: object) -> ModelError:
    return ModelError(
        f"expected pairs of a scope and its table, such as ((0,), [0.0, -1.0]); found {shown(found)}"
    )


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


def _numbered(sizes: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """Labels 0, 1 .. for each size; variables of the same size share theirs."""
    shared = {size: tuple(map(str, range(size))) for size in set(sizes)}
    return tuple([shared[size] for size in sizes])


def _check_names(names: tuple[str, ...], count: int) -> None:
    if len(names) != count:
        raise ModelError(f"expected labels for {plural(len(names), 'variable')}, found {count}")
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise ModelError(f"variable names must be texts; found {shown(wrong[0])}")
    if len(set(names)) != len(names):
        raise ModelError(f"variable names must differ; {_twice(names)!r} occurs more than once")


def _wrong_labels(labels: tuple[tuple[str, ...], ...]) -> int | None:
    """A variable whose labels cannot be, if there is one; labels that many variables share are seen once."""
    different = {id(values): values for values in labels}
    wrong = {key for key, values in different.items() if not values or len(set(values)) != len(values)}
    return next((i for i, values in enumerate(labels) if id(values) in wrong), None) if wrong else None


def _refuse_labels(name: str, values: tuple[str, ...]) -> NoReturn:
    if not values:
        raise ModelError(f"variable {name!r} needs at least one value, found none")
    raise ModelError(f"variable {name!r}: value labels must differ; {_twice(values)!r} occurs more than once")


def _twice(words: Sequence[str]) -> str:
    return Counter(words).most_common(1)[0][0]
