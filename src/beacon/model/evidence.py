"""Evidence by name or index, checked against a model."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import EvidenceError, UsageError, shown
from beacon.model.cells import is_missing, texts_of
from beacon.model.graphical_model import GraphicalModel

Evidence = Mapping[str, str] | Mapping[int, int] | Mapping[str, int] | Mapping[str | int, str | int]


def resolve_evidence(
    model: GraphicalModel, evidence: Evidence | Iterable[tuple[str | int, str | int]] | None
) -> dict[int, int]:
    """Turn evidence by name or index into variable index -> value index, in variable order.

    A string is looked up as a name (or label) first and as an index second; the same variable may occur
    twice only with the same value. Missing values (None, nan) are not observed. A row of a table, such as
    pandas' ``frame.iloc[0]``, means what it means in the table.
    """
    if isinstance(evidence, dict) and _fits(model, evidence):
        return dict(sorted(evidence.items()))
    by_cell = is_row(evidence)
    resolved: dict[int, int] = {}
    for variable, value in _pairs(evidence):
        i = resolve_variable(model, variable)
        v = resolve_cell(model, i, value) if by_cell or is_missing(value) else resolve_value(model, i, value)
        if v is None:
            continue
        if resolved.setdefault(i, v) != v:
            first, second = (model.labels[i][k] for k in (resolved[i], v))
            raise EvidenceError(
                f"variable {model.names[i]!r} is observed twice with different values: "
                f"{first!r} and {second!r}"
            )
    return dict(sorted(resolved.items()))


def is_row(evidence: object) -> bool:
    """Is this a row of a table, such as pandas' ``frame.iloc[0]``, rather than a mapping or a whole table?"""
    return hasattr(evidence, "items") and not isinstance(evidence, Mapping) and not _has_columns(evidence)


def _has_columns(evidence: object) -> bool:
    return hasattr(type(evidence), "columns")  # asked of the type: a row may have a variable of that name


def _pairs(evidence: Any) -> Iterable[tuple[Any, Any]]:
    """Variables and values of one query, whatever it comes as."""
    if evidence is None:
        return ()
    if _has_columns(evidence):
        raise UsageError(
            f"expected the evidence of one query, found a table ({type(evidence).__name__}); "
            "beacon.solve_many takes tables"
        )
    if hasattr(evidence, "items"):
        pairs: Iterable[tuple[Any, Any]] = evidence.items()
        return pairs
    is_listed = isinstance(evidence, Iterable) and not isinstance(evidence, str)
    listed = list(evidence) if is_listed else [evidence]
    if all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in listed):
        return listed
    raise UsageError(
        f"expected the evidence of a query as a mapping, such as {{'fever': 'yes'}}; found {shown(evidence)}"
    )


def _fits(model: GraphicalModel, evidence: dict[Any, Any]) -> bool:
    """Are these indices that need no looking up? A quick look: many queries of many variables come so."""
    if not all(type(key) is int and type(value) is int for key, value in evidence.items()):
        return False
    count, sizes = len(evidence), model.domain_sizes
    try:
        variables = np.fromiter(evidence.keys(), np.int64, count)
        values = np.fromiter(evidence.values(), np.int64, count)
    except OverflowError:
        return False
    if count and not 0 <= variables.min() <= variables.max() < model.num_variables:
        return False
    return bool(((values >= 0) & (values < sizes[variables])).all())


def resolve_variable(model: GraphicalModel, variable: str | int) -> int:
    """Index of a variable given by name or index."""
    if isinstance(variable, str):
        if variable in model.name_to_variable:
            return model.name_to_variable[variable]
        if not _is_index(variable):
            raise EvidenceError(f"no variable is called {variable!r}{_suggestion(variable, model.names)}")
    index = _index(variable, "a variable by name or index")
    if not 0 <= index < model.num_variables:
        raise EvidenceError(f"variable indices are 0..{model.num_variables - 1}; found {index}")
    return index


def resolve_value(model: GraphicalModel, variable: int, value: str | int) -> int:
    """Index of a value of a variable, given by label or index."""
    labels = model.labels[variable]
    if isinstance(value, str):
        if value in labels:
            return labels.index(value)
        if not _is_index(value):
            raise EvidenceError(
                f"variable {model.names[variable]!r} has no value {value!r}; its values are {_listed(labels)}"
            )
    index = _index(value, f"a label or value index of variable {model.names[variable]!r}")
    if not 0 <= index < len(labels):
        raise EvidenceError(
            f"variable {model.names[variable]!r} has values 0..{len(labels) - 1} ({_listed(labels)}); "
            f"found {index}"
        )
    return index


def resolve_cell(model: GraphicalModel, variable: int, cell: Any) -> int | None:
    """Index of the value in a table's cell, as in a CSV table; None if the cell is as good as empty."""
    texts = texts_of(cell)
    if texts == [""]:
        return None
    labels = model.labels[variable]
    text = next((text for text in texts if text in labels), texts[-1])
    return resolve_value(model, variable, text)


def impossible_factor(model: GraphicalModel, evidence: Mapping[int, int]) -> int | None:
    """Index of a factor that is zero under the evidence whatever the other variables are, if there is one.

    A factor-by-factor look: finding one proves that the evidence has probability zero; finding none
    proves nothing.
    """
    for index, factor in enumerate(model.factors):
        cut = tuple(evidence.get(i, slice(None)) for i in factor.scope)
        if factor.log_table[cut].max() == -math.inf:
            return index
    return None


def describe_impossible(model: GraphicalModel, factor: int, evidence: Mapping[int, int]) -> str:
    """One line that says why the evidence has probability zero."""
    observed = ", ".join(
        f"{model.names[i]}={model.labels[i][evidence[i]]}"
        for i in model.factors[factor].scope
        if i in evidence
    )
    return f"the evidence has probability zero: factor {factor} is zero for {observed or 'every assignment'}"


def _index(given: Any, wanted: str) -> int:
    """An index given as digits or as any kind of whole number."""
    if isinstance(given, str | float | np.floating | np.bool_) and float(given).is_integer():
        return int(given)
    try:
        return operator.index(given)
    except TypeError:
        raise EvidenceError(f"expected {wanted}; found {shown(given)}") from None


def _is_index(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18  # int() refuses absurdly long ones


def _listed(labels: tuple[str, ...], most: int = 12) -> str:
    return ", ".join(labels[:most]) + (", …" if len(labels) > most else "")


def _suggestion(name: str, names: Sequence[str]) -> str:
    alike = [known for known in names if known.casefold() == name.casefold()]  # Hr: HR
    close = alike or difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else "; `beacon info MODEL --variables` lists them"


def observed_rows(evidences: Sequence[Mapping[int, int]], num_variables: int) -> NDArray[np.bool_]:
    """[queries, variables] whether a variable is evidence."""
    rows = np.zeros((len(evidences), num_variables), dtype=np.bool_)
    for row, evidence in zip(rows, evidences, strict=True):
        row[np.fromiter(evidence.keys(), np.int64, len(evidence))] = True
    return rows
