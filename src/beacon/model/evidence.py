"""Evidence of one query or of many, by name or index, checked against a model.

What a value means is decided by :func:`resolve_value` alone, whatever the evidence comes from: mappings, rows
and tables, CSV, JSON, the command line.
"""

from __future__ import annotations

import difflib
import math
import operator
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import EvidenceError, UsageError, shown
from beacon.model.graphical_model import GraphicalModel

Evidence = Mapping[str, str] | Mapping[int, int] | Mapping[str, int] | Mapping[str | int, str | int]
_MISSING_TYPES = ("NAType", "NaTType")  # of pandas, which need not be installed
_MISSING_TEXTS = ("", "?", "nan")
_WORDS_OF_TRUTH = (("true", "false"), ("yes", "no"), ("t", "f"), ("present", "absent"), ("1", "0"))
_WHOLE = re.compile(r"-?[0-9]{1,18}(?:\.0*)?")  # 2.0 too: so are whole numbers written where some are missing
Queries = Iterable[Evidence] | Any  # the last: a table


def resolve_evidence(
    model: GraphicalModel, evidence: Evidence | Iterable[tuple[str | int, str | int]] | None
) -> dict[int, int]:
    """Turn evidence by name or index into variable index -> value index, in variable order.

    See :func:`resolve_value` for what a value means. The same variable may occur twice only with the same
    value.
    """
    if isinstance(evidence, dict) and _fits(model, evidence):
        return dict(sorted(evidence.items()))
    resolved: dict[int, int] = {}
    for variable, value in _pairs(evidence):
        i = resolve_variable(model, variable)
        v = resolve_value(model, i, value, by_index=is_by_index(model, variable))
        if v is None:
            continue
        if resolved.setdefault(i, v) != v:
            first, second = (model.labels[i][k] for k in (resolved[i], v))
            raise EvidenceError(
                f"variable {model.names[i]!r} is observed twice with different values: "
                f"{first!r} and {second!r}"
            )
    return dict(sorted(resolved.items()))


def parse_evidence_items(items: Sequence[str], model: GraphicalModel) -> dict[int, int]:
    """Evidence from command-line items such as ``fever=yes`` (names) or ``3=1`` (indices)."""
    return resolve_evidence(model, [_split_item(item, model) for item in items])


def resolve_supposed(
    model: GraphicalModel, suppose: Evidence | Iterable[tuple[str | int, str | int]] | None
) -> dict[int, int]:
    """Values to be supposed, as :func:`resolve_evidence` has them; none may be missing."""
    pairs = list(_pairs(suppose))
    for variable, value in pairs:
        i = resolve_variable(model, variable)
        if resolve_value(model, i, value, by_index=is_by_index(model, variable)) is None:
            raise _no_value(model, i, shown(value))
    return resolve_evidence(model, pairs)


def parse_supposed_items(items: Sequence[str], model: GraphicalModel) -> dict[int, int]:
    """The same from command-line items."""
    return resolve_supposed(model, [_split_item(item, model) for item in items])


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
    if not {*map(type, evidence), *map(type, evidence.values())} <= {int}:
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
    index = _whole_number(variable)
    if index is None or isinstance(variable, bool | np.bool_):
        raise EvidenceError(f"expected a variable by name or index; found {shown(variable)}")
    if not 0 <= index < model.num_variables:
        raise EvidenceError(f"variable indices are 0..{model.num_variables - 1}; found {index}")
    return index


def is_by_index(model: GraphicalModel, variable: object) -> bool:
    """Is a variable given by its index, rather than by its name?"""
    return not (isinstance(variable, str) and variable in model.name_to_variable)


def resolve_value(model: GraphicalModel, variable: int, value: Any, *, by_index: bool = False) -> int | None:
    """Index of a value as it was given for a variable; None if that says that nothing was observed.

    Nothing is observed by None, nan, an empty text and ``?``. A label is itself. True and false, which may be
    texts in any case, are the labels that read so: true/false, yes/no, t/f, present/absent or 1/0. A whole
    number is an index, unless a label of the variable is a whole number (then it must be a label, too) or it
    reads as the opposite of the value at that index. Where the variable is given by its index
    (``by_index``), so is the value, as in UAI files.
    """
    if is_missing(value):
        return None
    labels, text, number = model.labels[variable], str(value).strip(), _whole_number(value)
    if by_index and number is not None:
        return _checked_index(model, variable, number)
    for known in (text, str(value), str(number)):
        if known in labels:
            return labels.index(known)
    if text.casefold() in _MISSING_TEXTS:
        return None
    if text.casefold() in _WORDS_OF_TRUTH[0]:
        return _boolean(model, variable, text)
    if number is not None and not any(map(_WHOLE.fullmatch, labels)):
        return _unambiguous_index(model, variable, number)
    if not isinstance(value, str | int | float | np.number):
        raise EvidenceError(
            f"expected a label or value index of variable {model.names[variable]!r}; found {shown(value)}"
        )
    raise _no_value(model, variable, repr(text))


def _unambiguous_index(model: GraphicalModel, variable: int, number: int) -> int:
    """The value at an index, but for 1 and 0 where they are the indices of "no" and "yes"."""
    labels = model.labels[variable]
    opposite = [value for value in _that_read_as(number == 0, labels) if value == number]
    if number in (0, 1) and opposite:
        meant = labels[_that_read_as(number == 1, labels)[0]]
        raise EvidenceError(
            f"variable {model.names[variable]!r}: expected a label, found {number}, which could be {meant!r} "
            f"or the value at index {number}, {labels[number]!r}"
        )
    return _checked_index(model, variable, number)


def _checked_index(model: GraphicalModel, variable: int, index: int) -> int:
    labels = model.labels[variable]
    if not 0 <= index < len(labels):
        raise EvidenceError(
            f"variable {model.names[variable]!r} has values 0..{len(labels) - 1} ({_listed(labels)}); "
            f"found {index}"
        )
    return index


def _boolean(model: GraphicalModel, variable: int, text: str) -> int:
    fitting = _that_read_as(text.casefold() == "true", model.labels[variable])
    if len(fitting) != 1:
        raise _no_value(model, variable, f"that reads as {text}")
    return fitting[0]


def _that_read_as(truth: bool, labels: tuple[str, ...]) -> list[int]:
    """The values that read as true, or as false, where another one reads as the opposite."""
    words = [label.casefold() for label in labels]
    pairs = [pair for pair in _WORDS_OF_TRUTH if words.count(pair[0]) == words.count(pair[1]) == 1]
    return [words.index(pair[0 if truth else 1]) for pair in pairs]


def _no_value(model: GraphicalModel, variable: int, value: str) -> EvidenceError:
    labels = _listed(model.labels[variable])
    return EvidenceError(f"variable {model.names[variable]!r} has no value {value}; its values are {labels}")


def impossible_factor(model: GraphicalModel, evidence: Mapping[int, int]) -> int | None:
    """Index of a factor that is zero under the evidence whatever the other variables are, if there is one.

    A factor-by-factor look: finding one proves that the evidence has probability zero; finding none
    proves nothing.
    """
    factors = model.factors.expanded()
    log_table, starts = factors.log_table, factors.bases
    if not len(log_table):
        return None
    is_left, _ = factors.given(evidence)
    is_zero = np.maximum.reduceat(np.where(is_left, log_table, -math.inf), starts) == -math.inf
    return int(is_zero.argmax()) if is_zero.any() else None


def describe_impossible(model: GraphicalModel, factor: int, evidence: Mapping[int, int]) -> str:
    """One line that says why the evidence has probability zero."""
    observed = ", ".join(
        f"{model.names[i]}={model.labels[i][evidence[i]]}"
        for i in model.factors[factor].scope
        if i in evidence
    )
    return f"the evidence has probability zero: factor {factor} is zero for {observed or 'every assignment'}"


def _whole_number(given: Any) -> int | None:
    """A whole number, given as digits or as any kind of number; None if it is none."""
    if isinstance(given, bool | np.bool_):
        return None
    if isinstance(given, str):
        found = _WHOLE.fullmatch(given.strip())
        return None if found is None else int(found[0].partition(".")[0])
    if isinstance(given, float | np.floating):
        return int(given) if float(given).is_integer() else None
    try:
        return operator.index(given)
    except TypeError:
        return None


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


def is_missing(cell: Any) -> bool:
    """Is this no value at all? None, nan, and what pandas puts where nothing is."""
    if isinstance(cell, float | np.floating):
        return math.isnan(cell)
    return cell is None or type(cell).__name__ in _MISSING_TYPES


def check_is_model(model: object) -> None:
    """Refuse the path of a model, or anything else that is none."""
    if isinstance(model, GraphicalModel):
        return
    if isinstance(model, str | os.PathLike):
        path = os.fspath(model)
        raise UsageError(f"expected a model, found the path {path!r}; read it: beacon.read_model({path!r})")
    raise UsageError(
        f"expected a model, found {shown(model)}; beacon.read_model(path) reads one from a file, "
        "beacon.from_pgmpy(network) takes one over"
    )


def resolve_queries(model: GraphicalModel, queries: Queries) -> list[dict[int, int]]:
    """The evidence of each query: of a list of mappings, or of the rows of a table."""
    check_is_model(model)
    if is_row(queries):
        raise UsageError(
            f"expected many queries, found one row of a table ({type(queries).__name__}); "
            "beacon.solve takes it as it is, or put it into a list"
        )
    if is_table(queries):
        from beacon.model.data_frame import evidence_of_table  # noqa: PLC0415 - most queries are mappings

        return evidence_of_table(queries, model)
    if isinstance(queries, str | os.PathLike):
        raise UsageError(
            f"expected queries, found the path {os.fspath(queries)!r}; read it: a CSV table by "
            "beacon.read_evidence_table(path, model), a UAI file by beacon.read_evidence(path, model), "
            "a query set by beacon.QuerySet.load(path)"
        )
    try:
        each = iter(queries)
    except TypeError:
        raise UsageError(
            "expected a list of mappings, such as [{'fever': 'yes'}], or a table with a row for each query; "
            f"found {shown(queries)}"
        ) from None
    return [resolve_evidence(model, evidence) for evidence in each]


def is_table(queries: object) -> bool:
    """Is this a table, rather than a sequence of queries?

    Tables hand over their columns by the interfaces that Arrow and the data frame libraries agree on.
    """
    is_frame = hasattr(queries, "__arrow_c_stream__") or hasattr(queries, "__dataframe__")
    return is_frame or isinstance(queries, Mapping)


def _split_item(item: str, model: GraphicalModel) -> tuple[str, str]:
    """Split at the last '=' that ends a known variable: names and values may contain the sign too."""
    if "=" not in item:
        raise UsageError(f"expected evidence as VARIABLE=VALUE, found {item!r}")
    at = item.rfind("=")
    while at >= 0:
        name = item[:at]
        if name in model.name_to_variable or (_is_index(name) and int(name) < model.num_variables):
            return name, item[at + 1 :]
        at = item.rfind("=", 0, at)
    variable, _, value = item.partition("=")
    return variable, value
