"""Trajectories as Parquet files: a row per query, the rest in the schema's metadata."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beacon.errors import ModelError
from beacon.io.parquet_file import ParquetKind, load_table, save_table
from beacon.learn.trajectories import Trajectories
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet

METADATA_KEY = b"beacon_trajectories"
COLUMNS = ("reference", "score", "zeros", "source", "starts", "flip_variables", "flip_values")
TRAJECTORIES = ParquetKind(METADATA_KEY, 1, "set of trajectories", "trajectories", "beacon collect", COLUMNS)


def save_trajectories(trajectories: Trajectories, path: str | os.PathLike[str]) -> None:
    """Write trajectories; see :func:`beacon.io.parquet_file.save_table`."""
    facts = {
        "fingerprint": trajectories.fingerprint,
        "num_variables": trajectories.references.shape[1],
        "runs": trajectories.flip_variables.shape[1],
        "steps": trajectories.flip_variables.shape[2],
        "settings": trajectories.settings,
    }
    columns = {
        "reference": _lists(trajectories.references),
        "score": pa.array(trajectories.reference_scores),
        "zeros": pa.array(trajectories.reference_zeros),
        "source": pa.array(trajectories.sources, pa.string()),
        "starts": _lists(trajectories.starts),
        "flip_variables": _lists(trajectories.flip_variables),
        "flip_values": _lists(trajectories.flip_values),
    }
    save_table(TRAJECTORIES, columns, facts, path)


def load_trajectories(
    path: str | os.PathLike[str], model: GraphicalModel | None, queries: QuerySet | None
) -> Trajectories:
    """Read and check everything that a damaged or foreign file could get wrong."""
    place = os.fspath(path)
    facts, table = load_table(TRAJECTORIES, place)
    try:
        trajectories = _trajectories(facts, table)
    except (ValueError, TypeError, KeyError, pa.ArrowException):
        raise TRAJECTORIES.damaged(place) from None
    if model is not None:
        _check_model(trajectories, model)
        if not _fits(trajectories, model):
            raise TRAJECTORIES.damaged(place)
    if queries is not None:
        trajectories.check_queries(queries)
        if not _keeps_evidence(trajectories, queries):
            raise TRAJECTORIES.damaged(place)
    return trajectories


def _lists(rows: NDArray[Any]) -> pa.Array:
    """One list per row, however many axes the rows have."""
    size = math.prod(rows.shape[1:])
    starts = np.arange(len(rows) + 1, dtype=np.int64) * size
    return pa.LargeListArray.from_arrays(starts, np.ascontiguousarray(rows).ravel())


def _trajectories(facts: dict[str, Any], table: pa.Table) -> Trajectories:
    n, runs, steps = (int(facts[name]) for name in ("num_variables", "runs", "steps"))
    return Trajectories(
        fingerprint=str(facts["fingerprint"]),
        references=_rows(table, "reference", np.unsignedinteger, n),
        reference_scores=_numbers(table, "score", np.float64),
        reference_zeros=_numbers(table, "zeros", np.int64),
        sources=tuple(_texts(table, "source")),
        starts=_rows(table, "starts", np.unsignedinteger, runs, n),
        flip_variables=_rows(table, "flip_variables", np.int32, runs, steps),
        flip_values=_rows(table, "flip_values", np.unsignedinteger, runs, steps),
        settings=dict(facts["settings"]),
    )


def _rows(table: pa.Table, name: str, kind: type[np.generic], *shape: int) -> NDArray[Any]:
    column = table[name].combine_chunks()
    if column.null_count or not pa.types.is_large_list(column.type):
        raise ValueError
    values: NDArray[Any] = column.flatten().to_numpy()
    lengths = np.diff(column.offsets.to_numpy())
    if not np.issubdtype(values.dtype, kind) or (lengths != math.prod(shape)).any():
        raise ValueError
    return values.reshape(len(column), *shape).copy()


def _numbers(table: pa.Table, name: str, kind: type[np.generic]) -> NDArray[Any]:
    column = table[name].combine_chunks()
    values: NDArray[Any] = column.to_numpy()
    if column.null_count or values.dtype != kind or not np.isfinite(values).all():
        raise ValueError
    return values.copy()


def _texts(table: pa.Table, name: str) -> list[str]:
    column = table[name].combine_chunks()
    if column.null_count or not pa.types.is_string(column.type):
        raise ValueError
    texts: list[str] = column.to_pylist()
    return texts


def _check_model(trajectories: Trajectories, model: GraphicalModel) -> None:
    if trajectories.fingerprint != model.fingerprint:
        raise ModelError(
            f"these trajectories are for another model: its fingerprint is {trajectories.fingerprint}, "
            f"the model's is {model.fingerprint}; collect new ones with `beacon collect`"
        )


def _fits(trajectories: Trajectories, model: GraphicalModel) -> bool:
    """Are all variables and values of the model?"""
    sizes, variables = model.domain_sizes, trajectories.flip_variables
    if trajectories.references.shape[1] != len(sizes):
        return False
    if variables.size and not -1 <= variables.min() <= variables.max() < len(sizes):
        return False
    return not (
        (trajectories.references >= sizes).any()
        or (trajectories.starts >= sizes).any()
        or (trajectories.flip_values >= np.append(sizes, 1)[variables]).any()  # -1: nothing, as value 0
    )


def _keeps_evidence(trajectories: Trajectories, queries: QuerySet) -> bool:
    """Do references and starts have the observed values, and do flips leave them alone?"""
    observed, starts = queries.observed, trajectories.starts
    variables = trajectories.flip_variables
    is_flipped = np.take_along_axis(
        np.pad(observed, ((0, 0), (0, 1))), variables.reshape(len(observed), -1) % (observed.shape[1] + 1), 1
    )
    return not (
        (trajectories.references != queries.samples)[observed].any()
        or ((starts != queries.samples[:, None]) & observed[:, None]).any()
        or is_flipped.any()
    )
