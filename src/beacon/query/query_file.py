"""Query sets as Parquet files: a row per query, the rest in the schema's metadata."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beacon.errors import BeaconError, FormatError
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import SPLITS, QuerySet, QuerySettings
from beacon.query.sampling import MAX_SAMPLED_VALUES, GibbsSettings

METADATA_KEY = b"beacon_queries"
VERSION = 1


def save_queries(queries: QuerySet, path: str | os.PathLike[str]) -> None:
    """Write to a temporary name and rename, so that no one ever reads half a file."""
    buffer = pa.BufferOutputStream()
    pq.write_table(_table(queries), buffer, compression="zstd", write_page_checksum=True)
    target = Path(os.path.realpath(path))  # a link keeps pointing to its file
    temporary = target.with_name(f".{target.name}-{secrets.token_hex(8)}.tmp")
    try:
        temporary.write_bytes(buffer.getvalue())
        os.replace(temporary, target)
    except OSError as error:
        raise BeaconError(f"cannot write {target}: {(error.strerror or str(error)).lower()}") from None
    finally:
        temporary.unlink(missing_ok=True)


def load_queries(path: str | os.PathLike[str], model: GraphicalModel | None) -> QuerySet:
    """Read and check everything that a damaged or foreign file could get wrong."""
    place = os.fspath(path)
    try:
        with pq.ParquetFile(place, page_checksum_verification=True) as file:
            facts = _facts(place, file)
            table = file.read()
    except FileNotFoundError:
        raise BeaconError(f"cannot read {place}: no such file") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or ["no reason given"])[0]
        raise FormatError(place, "", f"expected a Parquet file with queries ({reason})") from None
    queries = _query_set(place, facts, table)
    if model is not None:
        queries.check_model(model)
        if (queries.samples >= model.domain_sizes).any():
            raise _damaged(place)
    return queries


def _table(queries: QuerySet) -> pa.Table:
    facts = {
        "version": VERSION,
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
    return pa.table(columns).replace_schema_metadata({METADATA_KEY: json.dumps(facts)})


def _facts(path: str, file: pq.ParquetFile) -> dict[str, Any]:
    """The metadata of a query set, before any row is read."""
    schema = file.schema_arrow
    text = (schema.metadata or {}).get(METADATA_KEY)
    if text is None:
        raise FormatError(path, "", "expected a query set, found another kind of Parquet file")
    try:
        facts: dict[str, Any] = json.loads(text)
        version, num_variables = facts["version"], int(facts["num_variables"])
    except (ValueError, TypeError, KeyError):
        raise _damaged(path) from None
    if version != VERSION:
        raise FormatError(path, "", f"expected a query set of version {VERSION}, found {version!r}")
    if num_variables < 0 or file.metadata.num_rows * num_variables > MAX_SAMPLED_VALUES:
        raise _damaged(path)
    return facts


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
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, BeaconError, pa.ArrowException):
        raise _damaged(path) from None


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


def _damaged(path: str) -> FormatError:
    return FormatError(path, "", "the query set is damaged; make it again with `beacon queries`")
