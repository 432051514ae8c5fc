"""Query sets in files: our own Parquet files, and a user's queries in tables, files and folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beacon.errors import BeaconError
from beacon.formats import read_evidence
from beacon.formats.evidence_json import read_json_evidence
from beacon.formats.evidence_table import check_no_keys, read_keyed_table
from beacon.io.files import TABLES, base_suffix
from beacon.io.parquet_file import ParquetKind, has_kind, load_table, save_table
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import SPLITS, QuerySet, QuerySettings
from beacon.query.sampling import GibbsSettings

METADATA_KEY = b"beacon_queries"
COLUMNS = ("split", "evidence", "sample")
QUERIES = ParquetKind(METADATA_KEY, 1, "query set", "queries", "beacon queries", COLUMNS)


def save_queries(queries: QuerySet, path: str | os.PathLike[str]) -> None:
    """Write a query set; see :func:`beacon.io.parquet_file.save_table`."""
    facts = {
        "fingerprint": queries.fingerprint,
        "seed": queries.seed,
        "num_variables": queries.num_variables,
        "settings": asdict(queries.settings),
    }
    rows, variables = np.nonzero(queries.observed)
    starts = np.searchsorted(rows, np.arange(len(queries) + 1)).astype(np.int32)
    columns = {
        "split": pa.array([SPLITS[k] for k in queries.split_of_queries.tolist()]),
        "evidence": pa.ListArray.from_arrays(starts, variables.astype(np.int32)),
        "sample": pa.FixedSizeListArray.from_arrays(queries.samples.ravel(), queries.num_variables),
    }
    save_table(QUERIES, columns, facts, path)


def is_query_set(path: str | os.PathLike[str]) -> bool:
    """Is this a file of :func:`save_queries`, rather than a table of somebody's queries?"""
    return has_kind(QUERIES, path)


def load_queries(path: str | os.PathLike[str], model: GraphicalModel | None) -> QuerySet:
    """Read and check everything that a damaged or foreign file could get wrong."""
    place = os.fspath(path)
    queries = _query_set(place, *load_table(QUERIES, place))
    if model is not None:
        queries.check_model(model)
        if (queries.samples >= model.domain_sizes).any():
            raise QUERIES.damaged(place)
    return queries


def _query_set(path: str, facts: dict[str, Any], table: pa.Table) -> QuerySet:
    try:
        settings = facts["settings"]
        return QuerySet(
            fingerprint=str(facts["fingerprint"]),
            samples=_samples(table["sample"].combine_chunks(), facts["num_variables"]),
            observed=_observed(table["evidence"].combine_chunks(), facts["num_variables"]),
            split_of_queries=np.array([SPLITS.index(name) for name in table["split"].to_pylist()], np.int8),
            settings=QuerySettings(
                tuple(settings["query_ratio"]), tuple(settings["splits"]), GibbsSettings(**settings["gibbs"])
            ),
            seed=int(facts["seed"]),
        )
    except (
        ArithmeticError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        BeaconError,
        pa.ArrowException,
    ):
        raise QUERIES.damaged(path) from None


def _samples(column: pa.Array, num_variables: int) -> NDArray[Any]:
    if column.null_count or not pa.types.is_fixed_size_list(column.type):
        raise ValueError
    values: NDArray[Any] = column.flatten().to_numpy()
    if not np.issubdtype(values.dtype, np.unsignedinteger):
        raise ValueError
    return values.reshape(len(column), num_variables).copy()


def _observed(column: pa.Array, num_variables: int) -> NDArray[np.bool_]:
    if column.null_count or not pa.types.is_list(column.type):
        raise ValueError
    variables = column.flatten().to_numpy()
    if variables.size and not 0 <= variables.min() <= variables.max() < num_variables:
        raise ValueError
    rows = np.repeat(np.arange(len(column)), np.diff(column.offsets.to_numpy()))
    observed = np.zeros((len(column), num_variables), dtype=np.bool_)
    observed[rows, variables] = True
    return observed


SUFFIXES = (*TABLES, ".json", ".evid")


def read_own_queries(
    path: str | os.PathLike[str], model: GraphicalModel, keys: Sequence[str] = ()
) -> list[dict[int, int]]:
    """The queries of a file, or of all files of a folder in the order of their names.

    ``keys`` are columns of tables that are no variables.
    """
    place = Path(path)
    if not place.is_dir():
        return _read_file(place, model, keys)
    files = sorted(file for file in place.iterdir() if base_suffix(file) in SUFFIXES)
    if not files:
        raise BeaconError(
            f"cannot read {place}: expected files that end in {', '.join(SUFFIXES)}, found none"
        )
    return [query for file in files for query in _read_file(file, model, keys)]


def _read_file(path: Path, model: GraphicalModel, keys: Sequence[str]) -> list[dict[int, int]]:
    """By its suffix: a table, JSON, or else a UAI file."""
    suffix = base_suffix(path)
    if suffix in TABLES:
        return read_keyed_table(path, model, keys).queries
    check_no_keys(keys, path, "none")
    return read_json_evidence(path, model) if suffix == ".json" else read_evidence(path, model)
