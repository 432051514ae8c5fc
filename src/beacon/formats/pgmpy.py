"""Models of the pgmpy library, taken over without importing it: its objects say all that is needed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import ModelError
from beacon.model.graphical_model import Factor, GraphicalModel

_MOST_NAMED = 8  # variables that an error lists by name


def from_pgmpy(network: Any) -> GraphicalModel:
    """Take over a discrete Bayesian or Markov network of pgmpy, with its variable and state names.

    The factors of a Bayesian network have the scope (parents …, child).

    >>> import beacon
    >>> beacon.from_pgmpy("alarm.bif")
    Traceback (most recent call last):
    beacon.errors.ModelError: expected a Bayesian or Markov network of pgmpy, found an object of type str
    """
    if hasattr(network, "get_cpds"):
        tables = [_Table(cpd).with_child_last() for cpd in network.get_cpds()]
        states = {table.variables[-1]: table.states[-1] for table in tables}
        missing = "a CPD"
    elif hasattr(network, "get_factors"):
        tables = [_Table(factor) for factor in network.get_factors()]
        states = {i: s for table in tables for i, s in zip(table.variables, table.states, strict=True)}
        missing = "a factor"
    else:
        kind = type(network).__name__
        raise ModelError(f"expected a Bayesian or Markov network of pgmpy, found an object of type {kind}")
    variables = list(dict.fromkeys([*network.nodes(), *states]))
    _check_states(variables, states, tables, missing)
    index_of = {variable: index for index, variable in enumerate(variables)}
    factors = [Factor(tuple(index_of[i] for i in t.variables), t.log_table(states)) for t in tables]
    labels = tuple(tuple(map(str, states[variable])) for variable in variables)
    return GraphicalModel(tuple(map(str, variables)), labels, tuple(factors))


class _Table:
    """A CPD or factor of pgmpy: its variables, and for each the states along its axis of the table."""

    def __init__(self, source: Any) -> None:
        if not hasattr(source, "variables") or not hasattr(source, "values"):
            kind = type(source).__name__
            raise ModelError(f"expected discrete factors, which have tables; found one of type {kind}")
        self.variables: list[Hashable] = list(source.variables)
        self.values: NDArray[np.float64] = np.asarray(source.values, dtype=np.float64)
        named: Mapping[Hashable, Iterable[Hashable]] = getattr(source, "state_names", None) or {}
        sizes = zip(self.variables, self.values.shape, strict=True)
        self.states = [tuple(named.get(i, range(size))) for i, size in sizes]

    def with_child_last(self) -> _Table:
        """The same table with its first axis, a CPD's own variable, moved to the end."""
        self.variables = [*self.variables[1:], self.variables[0]]
        self.states = [*self.states[1:], self.states[0]]
        self.values = np.moveaxis(self.values, 0, -1)
        return self

    def log_table(self, states: Mapping[Hashable, tuple[Hashable, ...]]) -> NDArray[np.float64]:
        """The logs, with the values of each variable in the order of ``states``."""
        table = self.values
        for axis, (variable, own) in enumerate(zip(self.variables, self.states, strict=True)):
            if own != states[variable]:  # pgmpy lets each CPD order the states as it likes
                table = table.take([own.index(state) for state in states[variable]], axis=axis)
        if not (np.isfinite(table) & (table >= 0)).all():
            names = ", ".join(map(repr, self.variables))
            raise ModelError(f"the factor over {names}: expected finite numbers of at least 0")
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(table)
        return logs


def _check_states(
    variables: list[Hashable],
    states: Mapping[Hashable, tuple[Hashable, ...]],
    tables: Iterable[_Table],
    missing: str,
) -> None:
    """Every variable needs states, and the same ones in all tables."""
    lacking = [repr(variable) for variable in variables if variable not in states]
    if lacking:
        listed = ", ".join(lacking[:_MOST_NAMED]) + (", …" if len(lacking) > _MOST_NAMED else "")
        raise ModelError(f"expected {missing} for every variable, found none for {listed}")
    for table in tables:
        for variable, own in zip(table.variables, table.states, strict=True):
            if set(own) != set(states.get(variable, ())):
                raise ModelError(
                    f"variable {str(variable)!r}: expected the states {list(states.get(variable, ()))} in "
                    f"every factor, found {list(own)}"
                )
