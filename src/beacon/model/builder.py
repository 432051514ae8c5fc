"""Models built by name: variables with labels, then distributions and potentials over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.errors import ModelError
from beacon.io.settings import closest
from beacon.model.bayes import SUM_TOLERANCE
from beacon.model.factors import Factor
from beacon.model.graphical_model import GraphicalModel

Names = str | Sequence[str]
Table = ArrayLike | Mapping[Any, Sequence[float]]


class ModelBuilder:
    """Puts a model together by names; what a method takes, numbers or their natural logs, its name says.

    A table has an axis for each variable, the values in the order of their labels; it may be flat, the last
    variable fastest. A distribution may also be a mapping, labels of the parents -> row.

    >>> import beacon
    >>> builder = beacon.ModelBuilder()
    >>> builder.variables(["rain", "wet"], ["no", "yes"])
    >>> builder.probabilities("rain", [0.8, 0.2])
    >>> builder.probabilities("wet", {"no": [0.9, 0.1], "yes": [0.3, 0.7]}, given="rain")
    >>> model = builder.build()
    >>> beacon.solve(model, {"wet": "yes"}).named_assignment["rain"]
    'yes'
    """

    def __init__(self) -> None:
        self._labels: dict[str, tuple[str, ...]] = {}
        self._factors: list[tuple[tuple[str, ...], NDArray[np.float64]]] = []
        self._children: set[str] = set()

    def variable(self, name: str, labels: Sequence[object]) -> None:
        """Add a variable; labels that are no texts are written as such."""
        if name in self._labels:
            raise ModelError(f"variable {name!r} is defined twice")
        if isinstance(labels, str):
            raise ModelError(f"variable {name!r}: expected a list of labels, found the text {labels!r}")
        self._labels[name] = tuple(map(str, labels))

    def variables(self, names: Sequence[str], labels: Sequence[object]) -> None:
        """Add variables that have the same labels."""
        for name in names:
            self.variable(name, labels)

    def probabilities(self, child: str, table: Table, given: Names = ()) -> None:
        """The distribution of a variable: a row of probabilities for each configuration of its parents."""
        self._add_distribution(child, table, given, _logs)

    def log_probabilities(self, child: str, table: Table, given: Names = ()) -> None:
        """The same in natural logs; -inf is a zero."""
        self._add_distribution(child, table, given, _as_they_are)

    def potentials(self, scope: Names, table: ArrayLike) -> None:
        """Numbers of at least 0 over some variables, which need not sum to anything."""
        names = self._known(scope)
        self._factors.append((names, self._shaped(names, table, _logs)))

    def log_potentials(self, scope: Names, table: ArrayLike) -> None:
        """The same in natural logs; -inf is a zero."""
        names = self._known(scope)
        self._factors.append((names, self._shaped(names, table, _as_they_are)))

    def build(self) -> GraphicalModel:
        """The model; the builder may go on and build another."""
        index_of = {name: index for index, name in enumerate(self._labels)}
        factors = (
            Factor(tuple(index_of[name] for name in names), table.copy()) for names, table in self._factors
        )
        return GraphicalModel(tuple(self._labels), tuple(self._labels.values()), tuple(factors))

    def _add_distribution(
        self, child: str, table: Table, given: Names, logs: Callable[[NDArray[np.float64]], Any]
    ) -> None:
        parents, names = self._known(given), (*self._known(given), *self._known(child))
        if child in self._children:
            raise ModelError(f"the distribution of {child!r} is defined twice")
        rows = self._rows(child, parents, table) if isinstance(table, Mapping) else table
        log_table = self._shaped(names, rows, logs)
        with np.errstate(over="ignore"):
            sums = np.exp(log_table).sum(axis=-1)
        is_off = np.abs(sums - 1.0) > SUM_TOLERANCE
        if is_off.any():
            bad = tuple(map(int, np.unravel_index(is_off.argmax(), sums.shape)))
            raise ModelError(
                f"the distribution of {child!r}: expected rows that sum to 1, found {sums[bad]:.6g} in the "
                f"row {self._row_name(parents, bad)}"
            )
        self._children.add(child)
        self._factors.append((names, log_table))

    def _known(self, names: Names) -> tuple[str, ...]:
        listed = (names,) if isinstance(names, str) else tuple(names)
        for name in listed:
            if name not in self._labels:
                raise ModelError(f"no variable is called {name!r}; {closest(str(name), list(self._labels))}")
        return listed

    def _rows(self, child: str, parents: tuple[str, ...], rows: Mapping[Any, Any]) -> list[Any]:
        """The rows of a mapping in the order of the parents' labels."""
        given = {key if isinstance(key, tuple) else (key,): row for key, row in rows.items()}
        wanted = list(product(*(self._labels[name] for name in parents)))
        by_text = {tuple(map(str, key)): row for key, row in given.items()}
        wrong = next((key for key in (*wanted, *by_text) if key not in by_text or key not in wanted), None)
        if wrong is not None:
            problem = "lacks" if wrong in wanted else "has"
            raise ModelError(
                f"the distribution of {child!r}: expected a row for each of {len(wanted)} configurations of "
                f"{', '.join(parents) or 'no parents'}; it {problem} {wrong!r}"
            )
        return [by_text[key] for key in wanted]

    def _shaped(
        self, names: tuple[str, ...], table: Any, logs: Callable[[NDArray[np.float64]], Any]
    ) -> NDArray[np.float64]:
        what, shape = ", ".join(names), tuple(len(self._labels[name]) for name in names)
        try:
            values = np.array(table, dtype=np.float64)
        except (TypeError, ValueError):
            raise ModelError(f"the table over {what}: expected numbers in rows of equal length") from None
        if values.size != math.prod(shape) or (values.ndim > 1 and values.shape[-1] != shape[-1]):
            raise ModelError(f"the table over {what}: expected the shape {shape}, found {values.shape}")
        if np.isnan(values).any() or (logs is _logs and not (values >= 0).all()):
            raise ModelError(f"the table over {what}: expected numbers of at least 0, found {values.min():g}")
        made: NDArray[np.float64] = logs(values).reshape(shape)
        return made

    def _row_name(self, parents: tuple[str, ...], row: tuple[int, ...]) -> str:
        pairs = zip(parents, row, strict=True)
        return ", ".join(f"{name}={self._labels[name][value]}" for name, value in pairs) or "without parents"


def _logs(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(numbers)


def _as_they_are(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    return logs
