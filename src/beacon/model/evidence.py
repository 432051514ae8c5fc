"""Evidence by name or index, checked against a model."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import EvidenceError
from beacon.model.graphical_model import GraphicalModel

Evidence = Mapping[str, str] | Mapping[int, int] | Mapping[str, int] | Mapping[str | int, str | int]


def resolve_evidence(
    model: GraphicalModel, evidence: Evidence | Iterable[tuple[str | int, str | int]] | None
) -> dict[int, int]:
    """Turn evidence by name or index into variable index -> value index, in variable order.

    A string is looked up as a name (or label) first and as an index second; the same variable may occur
    twice only with the same value.
    """
    if isinstance(evidence, dict) and _fits(model, evidence):
        return dict(sorted(evidence.items()))
    pairs: Iterable[tuple[str | int, str | int]]
    pairs = evidence.items() if isinstance(evidence, Mapping) else evidence or ()
    resolved: dict[int, int] = {}
    for variable, value in pairs:
        i = resolve_variable(model, variable)
        v = resolve_value(model, i, value)
        if resolved.setdefault(i, v) != v:
            first, second = (model.labels[i][k] for k in (resolved[i], v))
            raise EvidenceError(
                f"variable {model.names[i]!r} is observed twice with different values: "
                f"{first!r} and {second!r}"
            )
    return dict(sorted(resolved.items()))


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
    index = int(variable)
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
    index = int(value)
    if not 0 <= index < len(labels):
        raise EvidenceError(
            f"variable {model.names[variable]!r} has values 0..{len(labels) - 1} ({_listed(labels)}); "
            f"found {index}"
        )
    return index


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
