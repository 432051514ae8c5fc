"""Models of the pgmpy library: taken over without importing it, and handed over."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import MissingDependencyError, ModelError
from beacon.formats.uai import potentials
from beacon.model.bayes import child_of_factors
from beacon.model.evidence import check_is_model
from beacon.model.factors import Factor
from beacon.model.graphical_model import GraphicalModel

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


def to_pgmpy(model: GraphicalModel) -> Any:
    """Hand a model over to pgmpy: a Bayesian network as such, any other as a Markov network.

    A constant has no place in pgmpy: it goes into another factor. :func:`from_pgmpy` takes the model back.

    >>> import beacon
    >>> beacon.to_pgmpy("a.bif")
    Traceback (most recent call last):
    beacon.errors.UsageError: expected a model, found the path 'a.bif'; read it: beacon.read_model('a.bif')
    """
    check_is_model(model)
    try:
        from pgmpy import models  # noqa: PLC0415  (need not be installed)
        from pgmpy.factors.discrete import DiscreteFactor, TabularCPD  # noqa: PLC0415
    except ImportError:
        raise MissingDependencyError("pgmpy", "handing a model over to pgmpy", "pgmpy") from None
    children = child_of_factors(model)
    network = models.DiscreteMarkovNetwork() if children is None else models.DiscreteBayesianNetwork()
    network.add_nodes_from(model.names)
    for scope, table, child in _handed_over(model, children):
        names = [model.names[i] for i in scope]
        states = {model.names[i]: list(model.labels[i]) for i in scope}
        if child is None:
            network.add_edges_from(combinations(names, 2))
            network.add_factors(DiscreteFactor(names, table.shape, table, state_names=states))
            continue
        *parents, own = names
        network.add_edges_from((parent, own) for parent in parents)
        rows = table.reshape(-1, table.shape[-1]).T
        parent_sizes = list(table.shape[:-1]) or None
        network.add_cpds(TabularCPD(own, len(rows), rows, parents or None, parent_sizes, state_names=states))
    return network


def _handed_over(
    model: GraphicalModel, children: list[int] | None
) -> Iterator[tuple[tuple[int, ...], NDArray[np.float64], int | None]]:
    """Scope, potentials and child of each factor, the child last; every variable has a factor."""
    constant = math.fsum(float(factor.log_table) for factor in model.factors if not factor.scope)
    factors = [factor for factor in model.factors if factor.scope]
    alone = set(range(model.num_variables)) - {i for factor in factors for i in factor.scope}
    factors += [Factor((i,), np.zeros(len(model.labels[i]))) for i in sorted(alone)]
    owners = [None] * len(factors) if children is None else [child for child in children if child >= 0]
    for place, (factor, child) in enumerate(zip(factors, owners, strict=True)):
        scope = factor.scope if child is None else (*(i for i in factor.scope if i != child), child)
        logs = factor.log_table.transpose([factor.scope.index(i) for i in scope])
        yield scope, potentials(logs + (constant if place == 0 else 0.0)), child


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
