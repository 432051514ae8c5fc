"""Files of trajectories: what is saved is loaded, and what is damaged or foreign is refused."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beacon.errors import BeaconError, FormatError, ModelError, UsageError
from beacon.learn.collect import CollectSettings, collect
from beacon.learn.teacher import TeacherSettings
from beacon.learn.trajectories import Trajectories
from beacon.learn.trajectories_file import METADATA_KEY
from beacon.model.families import ising_grid, random_bayes_net
from beacon.query.query_set import sample_queries
from tests.small_strategies import read_or_one_line

MODEL = random_bayes_net(num_variables=10, max_domain=3, seed=1)
QUERIES = sample_queries(MODEL, 12, seed=3)
SETTINGS = CollectSettings(TeacherSettings("gls+", steps=100), steps=15, restart_interval=5)
N, RUNS, STEPS = 10, 3, 5


@pytest.fixture(scope="module")
def trajectories() -> Trajectories:
    return collect(MODEL, QUERIES, SETTINGS, jobs=1)


@pytest.fixture
def path(trajectories, tmp_path):
    trajectories.save(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def lists(value: float, length: int, kind: pa.DataType) -> pa.Array:
    return pa.array([[value] * length] * 12, pa.large_list(kind))


def test_what_is_saved_is_loaded(trajectories, path):
    loaded = Trajectories.load(path, MODEL, QUERIES)
    for field in fields(Trajectories):
        mine, theirs = getattr(trajectories, field.name), getattr(loaded, field.name)
        assert np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs
        assert getattr(mine, "dtype", None) == getattr(theirs, "dtype", None)
    assert [file.name for file in path.parent.iterdir()] == ["t.parquet"]


def test_the_record_says_how_they_were_made(trajectories):
    assert trajectories.settings["teacher"]["method"] == "gls+"
    assert trajectories.settings["queries"] == QUERIES.digest
    assert (trajectories.settings["seed"], trajectories.settings["steps"]) == (0, 15)


def test_another_model_is_refused(path):
    with pytest.raises(ModelError, match=r"these trajectories are for another model: its fingerprint is \w+"):
        Trajectories.load(path, ising_grid(2, 2))


def test_other_queries_are_refused(path):
    for other in (sample_queries(MODEL, 12, seed=4), QUERIES.split("train")):
        with pytest.raises(
            UsageError, match="these 12 trajectories are for another query set than the given"
        ):
            Trajectories.load(path, MODEL, other)
    grid = ising_grid(2, 2)
    with pytest.raises(ModelError, match="these trajectories are for another model"):
        Trajectories.load(path, queries=sample_queries(grid, 12))


def test_a_digest_tells_queries_apart():
    again = sample_queries(MODEL, 12, seed=3)
    assert again.digest == QUERIES.digest
    flipped = QUERIES.samples.copy()
    flipped[0, np.flatnonzero(QUERIES.observed[0])[0]] ^= 1
    assert replace(QUERIES, samples=flipped).digest != QUERIES.digest
    assert QUERIES.split("train").digest != QUERIES.digest


def test_missing_and_foreign_files_are_named(tmp_path):
    with pytest.raises(BeaconError, match=r"cannot read .*t\.parquet: no such file"):
        Trajectories.load(tmp_path / "t.parquet")
    QUERIES.save(tmp_path / "q.parquet")
    with pytest.raises(FormatError, match="expected a set of trajectories, found another kind of Parquet"):
        Trajectories.load(tmp_path / "q.parquet")
    (tmp_path / "text").write_text("no Parquet")
    with pytest.raises(FormatError, match="expected a Parquet file with trajectories"):
        Trajectories.load(tmp_path / "text")


@pytest.mark.parametrize("kept", [0.0, 0.5, 0.99])
def test_a_cut_file_is_one_line(path, kept):
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(FormatError, match="expected a Parquet file with trajectories") as caught:
        Trajectories.load(path)
    assert "\n" not in str(caught.value)


def test_a_damaged_byte_never_changes_a_trajectory(trajectories, path):
    data = path.read_bytes()
    for position in np.random.default_rng(0).integers(0, len(data), 100).tolist():
        path.write_bytes(data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :])
        loaded = read_or_one_line(lambda: Trajectories.load(path, MODEL, QUERIES))
        if loaded is not None:
            assert np.array_equal(loaded.references, trajectories.references)
            assert np.array_equal(loaded.flip_variables, trajectories.flip_variables)


def rewritten(path, facts=None, columns=None) -> Trajectories:
    """Load the file with some facts or columns replaced."""
    table = pq.read_table(path)
    described = json.loads(table.schema.metadata[METADATA_KEY]) | (facts or {})
    for name, column in (columns or {}).items():
        table = table.set_column(table.schema.get_field_index(name), name, column)
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: json.dumps(described)}), path)
    return Trajectories.load(path, MODEL, QUERIES)


def test_the_rewritten_file_itself_is_sound(trajectories, path):
    assert np.array_equal(rewritten(path).starts, trajectories.starts)


@pytest.mark.parametrize(
    "facts",
    [
        {"num_variables": 3},
        {"num_variables": -1},
        {"num_variables": 10**12},
        {"num_variables": 2.5},
        {"runs": 2},
        {"steps": "many"},
        {"steps": -5},
        {"settings": 3},
    ],
)
def test_wrong_facts_are_refused(path, facts):
    damaged = "the set of trajectories is damaged; make it again with `beacon c"
    with pytest.raises(FormatError, match=f"{damaged}|fits into 1 GiB"):
        rewritten(path, facts=facts)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("reference", lists(9, N, pa.uint8())),
        ("reference", lists(0, N + 1, pa.uint8())),
        ("reference", lists(0.5, N, pa.float64())),
        ("reference", pa.array([None] * 12, pa.large_list(pa.uint8()))),
        ("score", pa.array([float("nan")] * 12)),
        ("score", pa.array([None] * 12, pa.float64())),
        ("zeros", pa.array([0.5] * 12)),
        ("source", pa.array([1] * 12)),
        ("source", pa.array([None] * 12, pa.string())),
        ("starts", lists(7, N * RUNS, pa.uint8())),
        ("flip_variables", lists(N, RUNS * STEPS, pa.int32())),
        ("flip_variables", lists(-2, RUNS * STEPS, pa.int32())),
        ("flip_variables", lists(-1, RUNS * STEPS, pa.int32())),
        ("flip_values", lists(3, RUNS * STEPS, pa.uint8())),
    ],
)
def test_wrong_columns_are_refused(path, name, column):
    with pytest.raises(FormatError, match="the set of trajectories is damaged"):
        rewritten(path, columns={name: column})


@pytest.mark.parametrize("name", ["references", "starts", "flip_variables"])
def test_what_contradicts_the_evidence_is_refused(trajectories, path, name):
    query = int(np.flatnonzero(QUERIES.observed.any(axis=1))[0])
    variable = int(np.flatnonzero(QUERIES.observed[query])[0])
    rows = getattr(trajectories, name).copy()
    if name == "flip_variables":
        rows[query, 1, 2] = variable
        wrong = replace(trajectories, flip_variables=rows, flip_values=0 * trajectories.flip_values)
    else:
        rows[query, ..., variable] = (rows[query, ..., variable] + 1) % MODEL.domain_sizes[variable]
        wrong = replace(trajectories, **{name: rows})
    wrong.save(path)
    Trajectories.load(path, MODEL)
    with pytest.raises(FormatError, match="the set of trajectories is damaged"):
        Trajectories.load(path, MODEL, QUERIES)


def test_another_version_is_named(path):
    with pytest.raises(FormatError, match="expected a set of trajectories of version 1, found 2"):
        rewritten(path, facts={"version": 2})
