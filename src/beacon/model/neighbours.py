"""Who shares a factor with whom: one list of neighbours for all that walks from variable to variable."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Pairs of neighbours: a column of variables, and one of their neighbours."""


def neighbours_of(arrays: Mapping[str, NDArray[np.int64]]) -> Rows:
    """Starts and neighbours of each variable, from the links of a flat model.

    A variable's neighbours come in the order of its links, pairs before wide factors, each of them once.
    """
    num_variables = len(arrays["domain_sizes"])
    variables, others = _joined(_of_pairs(arrays), _of_wides(arrays))
    is_first = _is_first(variables * num_variables + others)
    counts = np.bincount(variables[is_first], minlength=num_variables)
    return np.concatenate([[0], np.cumsum(counts)]), others[is_first]


def _of_pairs(arrays: Mapping[str, NDArray[np.int64]]) -> Rows:
    starts, others = arrays["pair_starts"], arrays["pairs"][:, 2]
    variables = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return variables[others >= 0], others[others >= 0].astype(np.int64)


def _of_wides(arrays: Mapping[str, NDArray[np.int64]]) -> Rows:
    """For every link of a wide factor, all variables of that factor but the one it belongs to."""
    starts, factors = arrays["wide_starts"], arrays["wides"][:, 0].astype(np.int64)
    begins, arities = arrays["scope_starts"][factors], np.diff(arrays["scope_starts"])[factors]
    variables = np.repeat(np.repeat(np.arange(len(starts) - 1), np.diff(starts)), arities)
    within = np.arange(arities.sum()) - np.repeat(np.cumsum(arities) - arities, arities)
    others = arrays["scopes"][np.repeat(begins, arities) + within, 0].astype(np.int64)
    return variables[variables != others], others[variables != others]


def _joined(pairs: Rows, wides: Rows) -> Rows:
    """All rows, grouped by variable."""
    if not len(wides[0]):
        return pairs
    variables, others = np.concatenate([pairs[0], wides[0]]), np.concatenate([pairs[1], wides[1]])
    order = np.argsort(variables, kind="stable")
    return variables[order], others[order]


def _is_first(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each key is the first of its kind."""
    order = np.argsort(keys, kind="stable")
    is_new = np.ones(len(keys), dtype=np.bool_)
    is_new[1:] = np.diff(keys[order]) != 0
    is_first = np.empty(len(keys), dtype=np.bool_)
    is_first[order] = is_new
    return is_first
