"""Query sets and their files."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beacon.errors import BeaconError, FormatError, ModelError, UsageError
from beacon.model.families import diagnosis, ising_grid, pedigree
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_file import METADATA_KEY
from beacon.query.query_set import QuerySet, sample_queries
from tests.small_strategies import read_or_one_line

MODEL = pedigree(4, 6, num_loci=2, seed=1)


def samples_of(value: int) -> pa.Array:
    """A column of 50 samples that give every variable the same value."""
    return pa.array([[value] * MODEL.num_variables] * 50, pa.list_(pa.uint8(), MODEL.num_variables))


@pytest.fixture(scope="module")
def model() -> GraphicalModel:
    return MODEL


@pytest.fixture(scope="module")
def queries(model) -> QuerySet:
    return sample_queries(model, 50, seed=3)


class TestQueries:
    def test_the_path_of_a_model_is_refused(self):
        with pytest.raises(
            UsageError, match=r"found the path 'a.uai'; read it: beacon.read_model\('a.uai'\)"
        ):
            sample_queries("a.uai")

    def test_the_share_asked_for_is_within_its_bounds(self):
        model = ising_grid(20, 20)
        queries = sample_queries(model, 200, query_ratio=(0.8, 0.95))
        asked = 1 - queries.observed.mean(axis=1)
        assert asked.min() == pytest.approx(0.8, abs=0.01)
        assert asked.max() == pytest.approx(0.95, abs=0.01)
        assert asked.mean() == pytest.approx(0.875, abs=0.01)

    def test_the_number_asked_for_counts_only_variables_with_a_choice(self):
        model = GraphicalModel.from_tables([2] * 10 + [1] * 10, [])
        queries = sample_queries(model, 20, query_ratio=(0.7, 0.7))
        assert queries.observed.sum(axis=1).tolist() == [3] * 20

    def test_a_single_value_is_neither_asked_for_nor_observed(self, model, queries):
        assert not queries.observed[:, model.domain_sizes == 1].any()

    def test_every_variable_with_a_choice_is_observed_now_and_then(self, model):
        observed = sample_queries(model, 300).observed.mean(axis=0)
        assert observed[model.domain_sizes > 1].min() > 0.05
        assert observed.max() < 0.25

    def test_evidence_agrees_with_a_possible_sample(self, model, queries):
        for k in range(len(queries)):
            sample = queries.samples[k].astype(np.int64)
            assert model.log_score(sample) > -np.inf
            assert all(sample[i] == v for i, v in queries.evidence(k).items())
            assert list(queries.evidence(k)) == np.flatnonzero(queries.observed[k]).tolist()

    def test_the_seed_decides(self, model, queries):
        again, other = sample_queries(model, 50, seed=3), sample_queries(model, 50, seed=4)
        assert np.array_equal(again.samples, queries.samples)
        assert np.array_equal(again.observed, queries.observed)
        assert not np.array_equal(other.observed, queries.observed)

    def test_arrays_are_compact_and_frozen(self, queries):
        assert queries.samples.dtype == np.uint8
        with pytest.raises(ValueError, match="read-only"):
            queries.samples[0, 0] = 1

    def test_a_query_out_of_range_is_refused(self, queries):
        with pytest.raises(UsageError, match=r"queries are 0\.\.49; found 50"):
            queries.evidence(50)


class TestSplits:
    @pytest.mark.parametrize(
        ("count", "shares", "sizes"),
        [
            (1000, (0.8, 0.1, 0.1), (800, 100, 100)),
            (10, (0.8, 0.1, 0.1), (8, 1, 1)),
            (7, (0.5, 0.25, 0.25), (4, 1, 2)),
            (1, (0.8, 0.1, 0.1), (1, 0, 0)),
            (20, (0.0, 0.0, 1.0), (0, 0, 20)),
        ],
    )
    def test_they_cover_all_queries(self, count, shares, sizes):
        queries = sample_queries(diagnosis(10, 3, max_causes=3), count, splits=shares)
        assert tuple(len(queries.split(name)) for name in ("train", "validation", "test")) == sizes

    def test_a_split_holds_its_queries(self, queries):
        assert queries.split("validation").evidence(0) == queries.evidence(40)
        assert queries.split("test").evidence(4) == queries.evidence(49)
        assert queries.split("train").fingerprint == queries.fingerprint

    def test_another_name_is_refused(self, queries):
        with pytest.raises(UsageError, match="splits are train, validation, test; found 'dev'"):
            queries.split("dev")


class TestWrongSettings:
    @pytest.mark.parametrize("ratio", [(0.0, 0.5), (0.9, 0.8), (0.5, 1.1), (0.5,), ("a", "b"), 0.9])
    def test_a_query_ratio_is_checked(self, model, ratio):
        with pytest.raises(UsageError, match="query_ratio must be two shares, 0 < low ≤ high ≤ 1; found"):
            sample_queries(model, 5, query_ratio=ratio)

    @pytest.mark.parametrize("splits", [(0.8, 0.1), (0.8, 0.1, 0.2), (1.2, -0.1, -0.1), (float("nan"), 0, 1)])
    def test_splits_are_checked(self, model, splits):
        with pytest.raises(
            UsageError, match=r"splits must be three shares \(train, validation, test\) that sum"
        ):
            sample_queries(model, 5, splits=splits)

    def test_at_least_one_query_is_needed(self, model):
        with pytest.raises(UsageError, match="count must be a whole number of at least 1; found 0"):
            sample_queries(model, 0)

    def test_a_model_without_choices_has_no_queries(self):
        with pytest.raises(ModelError, match="queries need a variable with more than one value"):
            sample_queries(GraphicalModel.from_tables([1, 1], []), 5)


class TestFiles:
    def test_what_is_saved_is_loaded(self, model, queries, tmp_path):
        queries.save(tmp_path / "q.parquet")
        loaded = QuerySet.load(tmp_path / "q.parquet", model)
        for name in ("samples", "observed", "split_of_queries"):
            assert np.array_equal(getattr(loaded, name), getattr(queries, name))
            assert getattr(loaded, name).dtype == getattr(queries, name).dtype
        assert (loaded.settings, loaded.seed) == (queries.settings, queries.seed)
        assert loaded.fingerprint == model.fingerprint
        assert [file.name for file in tmp_path.iterdir()] == ["q.parquet"]

    def test_empty_splits_and_empty_evidence_survive(self, tmp_path):
        all_asked = sample_queries(ising_grid(2, 2), 3, query_ratio=(1.0, 1.0))
        for queries in (all_asked, all_asked.split("test")):
            queries.save(tmp_path / "q.parquet")
            loaded = QuerySet.load(tmp_path / "q.parquet")
            assert loaded.samples.shape == (len(queries), 4)
            assert not loaded.observed.any()

    def test_queries_of_another_model_are_refused(self, queries, tmp_path):
        queries.save(tmp_path / "q.parquet")
        with pytest.raises(ModelError, match=r"these queries are for another model: its fingerprint is \w+"):
            QuerySet.load(tmp_path / "q.parquet", ising_grid(2, 2))

    def test_a_failed_save_leaves_nothing_behind(self, queries, tmp_path):
        with pytest.raises(BeaconError, match=r"cannot write .*missing.*: no such file or directory"):
            queries.save(tmp_path / "missing" / "q.parquet")
        (tmp_path / "folder").mkdir()
        with pytest.raises(BeaconError, match=r"cannot write .*folder: is a directory"):
            queries.save(tmp_path / "folder")
        assert [file.name for file in tmp_path.iterdir()] == ["folder"]

    def test_a_missing_file_is_reported(self, tmp_path):
        with pytest.raises(BeaconError, match=r"cannot read .*q.parquet: no such file"):
            QuerySet.load(tmp_path / "q.parquet")

    def test_a_folder_is_reported(self, tmp_path):
        with pytest.raises(FormatError, match="expected a Parquet file with queries"):
            QuerySet.load(tmp_path)

    def test_another_parquet_file_is_reported(self, tmp_path):
        pq.write_table(pa.table({"a": [1]}), tmp_path / "q.parquet")
        with pytest.raises(FormatError, match="expected a query set, found another kind of Parquet file"):
            QuerySet.load(tmp_path / "q.parquet")

    @pytest.mark.parametrize("kept", [0.0, 0.3, 0.9, 0.999])
    def test_a_cut_file_is_reported_in_one_line(self, queries, tmp_path, kept):
        queries.save(tmp_path / "q.parquet")
        data = (tmp_path / "q.parquet").read_bytes()
        (tmp_path / "q.parquet").write_bytes(data[: int(kept * len(data))])
        with pytest.raises(FormatError, match="expected a Parquet file with queries") as caught:
            QuerySet.load(tmp_path / "q.parquet")
        assert "\n" not in str(caught.value)

    def test_a_damaged_byte_never_changes_a_query(self, queries, tmp_path):
        queries.save(tmp_path / "q.parquet")
        data = (tmp_path / "q.parquet").read_bytes()
        for position in np.random.default_rng(0).integers(0, len(data), 100).tolist():
            damaged = data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :]
            (tmp_path / "q.parquet").write_bytes(damaged)
            loaded = read_or_one_line(lambda: QuerySet.load(tmp_path / "q.parquet"))
            if loaded is not None:
                assert np.array_equal(loaded.samples, queries.samples)
                assert np.array_equal(loaded.observed, queries.observed)


@pytest.fixture
def rewrite(model, queries, tmp_path):
    """Save the queries with some facts or columns replaced, and load them again."""

    def save_and_load(facts: dict[str, object] | None = None, columns: dict[str, pa.Array] | None = None):
        path = tmp_path / "q.parquet"
        queries.save(path)
        table = pq.read_table(path)
        described = json.loads(table.schema.metadata[METADATA_KEY]) | (facts or {})
        for name, column in (columns or {}).items():
            table = table.set_column(table.schema.get_field_index(name), name, column)
        pq.write_table(table.replace_schema_metadata({METADATA_KEY: json.dumps(described)}), path)
        return QuerySet.load(path, model)

    return save_and_load


class TestDamagedContents:
    def test_the_rewritten_file_itself_is_sound(self, rewrite, queries):
        assert np.array_equal(rewrite().samples, queries.samples)

    @pytest.mark.parametrize(
        "facts",
        [
            {"num_variables": 3},
            {"num_variables": -1},
            {"num_variables": 10**12},
            {"num_variables": "many"},
            {"seed": None},
            {"settings": {}},
            {"settings": {"query_ratio": [2, 3], "splits": [1, 0, 0], "gibbs": {}}},
            {"settings": {"query_ratio": [0.8, 0.9], "splits": [1, 0, 0], "gibbs": {"burnin": 3}}},
        ],
    )
    def test_wrong_facts_are_refused(self, rewrite, facts):
        with pytest.raises(
            FormatError,
            match=r"the query set is damaged; make it again with `beacon queries`|fits into 1 GiB",
        ):
            rewrite(facts=facts)

    @pytest.mark.parametrize(
        ("name", "column"),
        [
            ("split", pa.array(["dev"] * 50)),
            ("split", pa.array([None] * 50, pa.string())),
            ("evidence", pa.array([[10**6]] * 50, pa.list_(pa.int32()))),
            ("evidence", pa.array([[-1]] * 50, pa.list_(pa.int32()))),
            ("evidence", pa.array([[None]] * 50, pa.list_(pa.int32()))),
            ("evidence", pa.array([None] * 50, pa.list_(pa.int32()))),
            ("evidence", pa.array(["0"] * 50)),
            ("sample", pa.array([[0, 1]] * 50, pa.list_(pa.uint8(), 2))),
            ("sample", pa.array([[0.5]] * 50, pa.list_(pa.float64(), 1))),
            ("sample", pa.array([1] * 50)),
            ("sample", samples_of(9)),
        ],
    )
    def test_wrong_columns_are_refused(self, rewrite, name, column):
        with pytest.raises(FormatError, match="the query set is damaged"):
            rewrite(columns={name: column})

    def test_a_newer_version_is_named(self, rewrite):
        with pytest.raises(FormatError, match="expected a query set of version 1, found 2"):
            rewrite(facts={"version": 2})
