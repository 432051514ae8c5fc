"""Models as cost function networks: the writing half of :mod:`beacon.formats.cfn`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.formats.cfn_parts import begins_number
from beacon.formats.lexer import quoted
from beacon.model.graphical_model import GraphicalModel

_MAX_PRECISION = 15


def keeps_names(model: GraphicalModel) -> bool:
    """Can the format hold all names of variables? It takes one that begins like a number for an index."""
    return not any(map(begins_number, model.names))


def keeps_labels(labels: tuple[str, ...]) -> bool:
    """Can the format hold these labels?"""
    return not any(begins_number(label) or label == "[" for label in labels)


def write(model: GraphicalModel, precision: int = 6) -> str:
    """The model as costs to be minimised, -log-potential in full precision; ``inf`` for zero potentials.

    Solvers that compute with whole numbers keep as many decimals as the bound has: ``precision``.
    """
    if not 0 <= precision <= _MAX_PRECISION:
        raise UsageError(f"precision must be a number of digits in 0..{_MAX_PRECISION}; found {precision}")
    names = model.names if keeps_names(model) else tuple(f"x{i}" for i in range(model.num_variables))
    tables = [0.0 - factor.log_table for factor in model.factors]
    bound = 1.0 + sum(float(np.abs(table).max(where=table < np.inf, initial=0.0)) for table in tables)
    variables = ",\n".join(
        f"  {quoted(name)}: {_domain(labels)}" for name, labels in zip(names, model.labels, strict=True)
    )
    scopes = ([quoted(names[i]) for i in factor.scope] for factor in model.factors)
    functions = ",\n".join(
        f'  "f{k}": {{"scope": [{", ".join(scope)}], "costs": {_listed(table)}}}'
        for k, (scope, table) in enumerate(zip(scopes, tables, strict=True))
    )
    problem = f'"problem": {{"name": "beacon", "mustbe": "<{bound:.{precision}f}"}}'
    return f'{{{problem},\n"variables": {{\n{variables}\n}},\n"functions": {{\n{functions}\n}}}}\n'


def _domain(labels: tuple[str, ...]) -> str:
    return f"[{', '.join(map(quoted, labels))}]" if keeps_labels(labels) else str(len(labels))


def _listed(costs: NDArray[np.float64]) -> str:
    return f"[{', '.join(map(repr, costs.ravel().tolist()))}]"
