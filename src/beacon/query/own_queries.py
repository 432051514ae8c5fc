"""Queries of one's own as a query set: evidence in memory, in tables, in files and folders of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from beacon.errors import BeaconError, FormatError, UsageError, check_seed
from beacon.formats import read_evidence, read_evidence_table
from beacon.io.files import TABLES, base_suffix, parse_json, read_text
from beacon.model.evidence import Queries, observed_rows, resolve_queries
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, QuerySettings, split_of_queries

AnyQueries = Queries | QuerySet | str | os.PathLike[str]
SUFFIXES = (*TABLES, ".json", ".evid")
SPLIT_STREAM = 17


def as_query_set(model: GraphicalModel, queries: AnyQueries) -> QuerySet:
    """A query set of this model, whatever the queries come as."""
    if isinstance(queries, QuerySet):
        queries.check_model(model)
        return queries
    if isinstance(queries, str | os.PathLike):
        return QuerySet.load(cast("str", queries), model)
    return QuerySet.from_evidence(queries, model)


def split_queries(
    evidences: list[dict[int, int]], model: GraphicalModel, seed: int, splits: tuple[float, float, float]
) -> QuerySet:
    """Evidence as a query set; queries that observe the same are in the same split."""
    check_seed(seed)
    settings = QuerySettings(splits=splits)
    if not evidences:
        raise UsageError("expected at least one query, found none")
    observed = observed_rows(evidences, model.num_variables)
    samples = np.zeros(observed.shape, dtype=np.min_scalar_type(model.max_domain))
    for row, evidence in zip(samples, evidences, strict=True):
        row[list(evidence)] = list(evidence.values())
    observed[:, model.domain_sizes == 1] = False
    return QuerySet(
        fingerprint=model.fingerprint,
        samples=samples,
        observed=observed,
        split_of_queries=_splits(evidences, splits, seed),
        settings=settings,
        seed=int(seed),
    )


def _splits(
    evidences: list[dict[int, int]], splits: tuple[float, float, float], seed: int
) -> NDArray[np.int8]:
    """[queries] index into SPLITS: the different queries in a random order, cut by the shares."""
    kinds: dict[tuple[tuple[int, int], ...], int] = {}
    kind_of = [kinds.setdefault(tuple(evidence.items()), len(kinds)) for evidence in evidences]
    order = np.random.default_rng([seed, SPLIT_STREAM]).permutation(len(kinds))
    return split_of_queries(len(kinds), splits)[order][kind_of]


def read_own_queries(path: str | os.PathLike[str], model: GraphicalModel) -> list[dict[int, int]]:
    """The queries of a file, or of all files of a folder in the order of their names."""
    place = Path(path)
    if not place.is_dir():
        return _read_file(place, model)
    files = sorted(file for file in place.iterdir() if base_suffix(file) in SUFFIXES)
    if not files:
        raise BeaconError(
            f"cannot read {place}: expected files that end in {', '.join(SUFFIXES)}, found none"
        )
    return [query for file in files for query in _read_file(file, model)]


def _read_file(path: Path, model: GraphicalModel) -> list[dict[int, int]]:
    """By its suffix: a table, JSON, or else a UAI file."""
    suffix = base_suffix(path)
    if suffix in TABLES:
        return read_evidence_table(path, model)
    if suffix != ".json":
        return read_evidence(path, model)
    try:
        listed: Any = parse_json(read_text(path))
    except ValueError as error:
        raise FormatError(path, "", f"expected queries in JSON: {error}") from None
    return resolve_queries(model, [listed] if isinstance(listed, dict) else listed)
