"""Collecting: references, walks, resumption, and that nothing depends on who does the work."""

from __future__ import annotations

import pickle
import random
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import joblib
import numpy as np
import pytest

from beacon.errors import BeaconError, MissingDependencyError, ModelError, UsageError
from beacon.learn import collector as collector_module
from beacon.learn.collect import CollectSettings, collect
from beacon.learn.teacher import Teacher, TeacherSettings
from beacon.learn.trajectories import Trajectories, replay
from beacon.model.families import ising_grid, random_bayes_net
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, sample_queries
from beacon.search.solve import solve_many
from beacon.search.stop import MaxSteps
from tests.cli.helpers import start_process
from tests.strategies import same_factors

QUICK = CollectSettings(TeacherSettings("gls+", steps=3000), steps=40, restart_interval=10)  # 20 per chunk


@pytest.fixture(scope="module")
def model() -> GraphicalModel:
    return random_bayes_net(num_variables=12, max_domain=3, zero_fraction=0.3, seed=2)


@pytest.fixture(scope="module")
def queries(model) -> QuerySet:
    return sample_queries(model, 50, seed=1)


@pytest.fixture(scope="module")
def collected(model, queries) -> Trajectories:
    return collect(model, queries, QUICK, seed=5, jobs=1)


def are_equal(left: Trajectories, right: Trajectories) -> bool:
    pairs = [(getattr(left, field.name), getattr(right, field.name)) for field in fields(Trajectories)]
    return all(
        a.dtype == b.dtype and np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs
    )


class TestContents:
    def test_shapes_and_types(self, model, queries, collected):
        n, count = model.num_variables, len(queries)
        assert collected.references.shape == (count, n)
        assert collected.starts.shape == (count, 4, n)
        assert collected.flip_variables.shape == collected.flip_values.shape == (count, 4, 10)
        assert {collected.references.dtype, collected.starts.dtype, collected.flip_values.dtype} == {
            np.dtype(np.uint8)
        }
        assert collected.flip_variables.dtype == np.int32
        assert collected.fingerprint == model.fingerprint
        assert (len(collected), len(collected.sources)) == (count, count)

    def test_evidence_is_kept_everywhere(self, queries, collected):
        for q in range(len(queries)):
            for variable, value in queries.evidence(q).items():
                assert collected.references[q, variable] == value
                assert (collected.starts[q, :, variable] == value).all()
                assert (collected.flip_variables[q] != variable).all()

    def test_scores_are_those_of_the_references(self, model, collected):
        log_zero = collected.settings["log_zero"]
        for q, row in enumerate(collected.references.astype(np.int64)):
            assert collected.reference_scores[q] == pytest.approx(model.floored_log_score(row, log_zero))
            assert collected.reference_zeros[q] == model.num_zero_factors(row)

    def test_references_of_possible_evidence_are_possible(self, collected):
        assert (collected.reference_zeros == 0).all()

    def test_states_replay_one_flip_after_another(self, queries, collected):
        for q, r in ((0, 0), (17, 3), (len(queries) - 1, 2)):
            assert np.array_equal(replay(collected, q, r, 0), collected.starts[q, r])
            for t in range(10):
                before, after = replay(collected, q, r, t), replay(collected, q, r, t + 1)
                assert np.flatnonzero(before != after).tolist() == [collected.flip_variables[q, r, t]]
                assert after[collected.flip_variables[q, r, t]] == collected.flip_values[q, r, t]

    def test_walks_come_closer_to_the_reference(self, queries, collected):
        def distances(t: int) -> np.ndarray:
            ends = [replay(collected, q, r, t) for q in range(len(queries)) for r in range(4)]
            return (np.array(ends) != np.repeat(collected.references, 4, axis=0)).sum(axis=1)

        assert distances(10).mean() < 0.5 * distances(0).mean()

    def test_runs_and_queries_begin_differently(self, collected):
        assert len(np.unique(collected.starts.reshape(-1, collected.starts.shape[-1]), axis=0)) > 100

    def test_references_alone(self, model, queries, collected):
        alone = collect(model, queries, CollectSettings(QUICK.teacher, steps=0), seed=5)
        assert alone.starts.shape[1] == 0
        assert np.array_equal(alone.references, collected.references)

    def test_a_query_with_nothing_to_flip(self):
        model = GraphicalModel.from_tables([2, 1], [((0,), [0.0, -1.0])])
        queries = sample_queries(model, 3, query_ratio=(0.3, 0.3))
        assert queries.observed[:, 0].all()
        made = collect(model, queries, QUICK)
        assert (made.flip_variables == -1).all()
        assert np.array_equal(replay(made, 0, 0, 10), made.references[0])


class TestReferences:
    @pytest.mark.parametrize("method", ["gls+", "auto"])
    def test_they_are_the_optima_of_small_models(self, model, queries, method):
        brute = CollectSettings(TeacherSettings(method, steps=20_000), steps=0)
        made = collect(model, queries.split("test"), brute)
        for q in range(len(made)):
            best = max(scores_of_all(model, queries.split("test").evidence(q)))
            assert made.reference_scores[q] == pytest.approx(best)

    def test_toulbar2_proves_them(self, model, queries):
        pytest.importorskip("pytoulbar2")
        made = collect(model, queries.split("test"), CollectSettings(TeacherSettings("toulbar2"), steps=0))
        assert set(made.sources) == {"toulbar2, proved optimal"}
        for q in range(len(made)):
            best = max(scores_of_all(model, queries.split("test").evidence(q)))
            assert made.reference_scores[q] == pytest.approx(best, abs=1e-4)

    def test_without_a_proof_the_better_answer_counts(self):
        pytest.importorskip("pytoulbar2")
        model = ising_grid(30, 30, wrap=True, seed=1)
        teacher = Teacher(model, TeacherSettings("toulbar2", steps=20_000, seconds=1.5))
        answer, found = teacher.peer.solve(model, {}, 1.5), teacher.find({}, [1])
        assert not answer.proved_optimal
        assert found.score >= answer.log_score - 1e-6
        assert found.source.startswith(("auto 20000 steps", "toulbar2, not proved optimal (time limit"))

    def test_a_weaker_peer_changes_nothing(self, model, queries, monkeypatch):
        pytest.importorskip("pytoulbar2")
        teacher = Teacher(model, TeacherSettings("toulbar2", steps=20_000, seconds=1e-6))
        other = Teacher(model, TeacherSettings("auto", steps=20_000))
        mine, theirs = (one.find(queries.evidence(0), [7]) for one in (teacher, other))
        assert np.array_equal(mine.assignment, theirs.assignment)
        assert mine.source == theirs.source

    def test_more_runs_are_never_worse(self):
        model = ising_grid(8, 8, seed=2)
        queries = sample_queries(model, 20)
        one, three = (
            collect(model, queries, CollectSettings(TeacherSettings("gls+", steps=300, runs=runs), steps=0))
            for runs in (1, 3)
        )
        assert (three.reference_scores >= one.reference_scores - 1e-9).all()
        assert (three.reference_scores > one.reference_scores + 1e-9).any()
        assert three.sources[0] == "gls+ 300 steps, best of 3 runs"

    def test_they_are_as_good_as_solving(self):
        model = ising_grid(8, 8, seed=2)
        queries = sample_queries(model, 10)
        made = collect(model, queries, CollectSettings(TeacherSettings("gls+", steps=20_000), steps=0))
        evidences = [queries.evidence(q) for q in range(10)]
        results = solve_many(model, evidences, strategy="gls+", stop=MaxSteps(500))
        assert (made.reference_scores >= [r.floored_log_score - 1e-9 for r in results]).all()

    def test_equal_evidence_is_searched_with_different_seeds(self):
        model = ising_grid(8, 8, seed=2)
        queries = sample_queries(model, 5, query_ratio=(1.0, 1.0))
        made = collect(model, queries, CollectSettings(TeacherSettings("gls+", steps=100), steps=0))
        assert len(set(made.reference_scores.tolist())) > 1

    def test_the_source_names_a_proof_and_a_time_limit(self):
        easy = GraphicalModel.from_tables([2, 2], [((0,), [0.0, -1.0]), ((1,), [0.0, -1.0])])
        queries = sample_queries(easy, 2)
        settings = CollectSettings(TeacherSettings("gls+", seconds=0.01), steps=0)
        assert collect(easy, queries, settings).sources[0] == "gls+, proved optimal"
        hard = ising_grid(8, 8, seed=2)
        assert collect(hard, sample_queries(hard, 1), settings).sources[0] == "gls+ 0.01 s"


def scores_of_all(model: GraphicalModel, evidence: dict[int, int]) -> np.ndarray:
    choices = [[evidence[i]] if i in evidence else range(s) for i, s in enumerate(model.domain_sizes)]
    grid = np.meshgrid(*choices, indexing="ij")
    return model.log_scores(np.stack([axis.ravel() for axis in grid], axis=1))


class TestIndependenceOfWorkers:
    def test_any_number_of_jobs_gives_the_same(self, model, queries, collected):
        assert are_equal(collect(model, queries, QUICK, seed=5, jobs=3), collected)

    def test_a_dask_cluster_gives_the_same(self, model, queries, collected):
        distributed = pytest.importorskip("distributed")
        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster),
            joblib.parallel_config(backend="dask"),
        ):
            assert are_equal(collect(model, queries, QUICK, seed=5), collected)

    def test_the_seed_decides(self, model, queries, collected):
        other = collect(model, queries, QUICK, seed=6)
        assert not np.array_equal(other.starts, collected.starts)

    def test_models_travel_frozen_and_complete(self, model):
        copy = pickle.loads(pickle.dumps(model))
        assert same_factors(copy, model)
        assert (copy.names, copy.labels, copy.fingerprint) == (model.names, model.labels, model.fingerprint)
        assert not any(factor.log_table.flags.writeable for factor in copy.factors)

    def test_teachers_travel_without_what_is_compiled(self, model):
        teacher = Teacher(model, QUICK.teacher)
        assert len(pickle.dumps(teacher)) == len(pickle.dumps(Teacher(model, QUICK.teacher)))
        teacher.strategy  # noqa: B018
        copy = pickle.loads(pickle.dumps(teacher))
        assert set(vars(copy)) == {"model", "settings"}
        assert not copy.flat.log_table.flags.writeable

    def test_dask_sees_how_large_a_collector_is(self, model):
        """Then it sends the model to a worker once, and not with every chunk."""
        collector = collector_module.Collector(Teacher(model, QUICK.teacher), QUICK, 0, {})
        assert sys.getsizeof(collector) > 8 * model.num_entries

    def test_an_error_in_a_worker_arrives(self, model, queries, monkeypatch):
        def fail(*_: object) -> None:
            raise ModelError("no such luck")

        monkeypatch.setattr(collector_module, "record_walks", fail)
        with pytest.raises(ModelError, match="no such luck"):
            collect(model, queries, QUICK, jobs=2)


class TestSettings:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"method": "cplex"}, "teacher methods are gls\\+, auto, toulbar2; found 'cplex'"),
            ({"steps": 0}, "teacher steps must be a whole number of at least 1; found 0"),
            ({"seconds": 0.0}, r"teacher seconds must be a positive number; found 0\.0"),
            ({"runs": 0}, "teacher runs must be a whole number of at least 1; found 0"),
            ({"restart_interval": -1}, "restart_interval must be a whole number of at least 0; found -1"),
        ],
    )
    def test_wrong_teachers_are_refused(self, wrong, message):
        with pytest.raises(UsageError, match=message):
            TeacherSettings(**wrong)

    def test_runs_must_be_equally_long(self):
        with pytest.raises(UsageError, match=r"restart_interval must divide steps, .*; found 30 and 100"):
            CollectSettings(steps=100, restart_interval=30)

    def test_a_budget_is_in_steps_unless_seconds_are_given(self):
        assert TeacherSettings().stop == MaxSteps(100_000)
        assert TeacherSettings(seconds=2.0).stop.steps == float("inf")
        assert TeacherSettings("toulbar2", seconds=2.0).stop == MaxSteps(100_000)

    @pytest.mark.parametrize(
        ("teacher", "size"),
        [
            (TeacherSettings(), 9),
            (TeacherSettings(steps=100), 20),
            (TeacherSettings(steps=10**9), 1),
            (TeacherSettings(runs=5), 1),
            (TeacherSettings(seconds=0.5), 4),
            (TeacherSettings(seconds=300), 1),
            (TeacherSettings("toulbar2", seconds=0.5), 4),
        ],
    )
    def test_a_chunk_is_little_to_lose(self, teacher, size):
        assert CollectSettings(teacher).chunk_size == size

    def test_queries_of_another_model_are_refused(self, queries):
        with pytest.raises(ModelError, match="these queries are for another model"):
            collect(ising_grid(3, 3), queries, QUICK)

    def test_joblib_may_be_missing(self, model, queries, monkeypatch):
        monkeypatch.setitem(sys.modules, "joblib", None)
        with pytest.raises(MissingDependencyError, match=r"collecting needs joblib; .*beacon-mpe\[learn\]"):
            collect(model, queries, QUICK)


class StoppedError(Exception):
    """Raised by a test in the middle of a collection."""


def stop_after(count: int):
    def hear(done: int, total: int) -> None:
        if done >= count:
            raise StoppedError

    return hear


class TestResumption:
    def test_an_interrupted_collection_goes_on(self, model, queries, collected, tmp_path):
        path, heard = tmp_path / "t.parquet", []
        with pytest.raises(StoppedError):
            collect(model, queries, QUICK, seed=5, path=path, on_progress=stop_after(20))
        assert not path.exists()
        assert (tmp_path / "t.parquet.parts").is_dir()
        again = collect(
            model, queries, QUICK, seed=5, path=path, on_progress=lambda *done: heard.append(done)
        )
        assert heard[0][0] in {10, 20}
        assert heard[-1] == (50, 50)
        assert are_equal(again, collected)
        assert are_equal(Trajectories.load(path, model, queries), collected)
        assert [file.name for file in tmp_path.iterdir()] == ["t.parquet"]

    def test_a_killed_process_loses_nothing_that_it_saved(self, tmp_path):
        model = ising_grid(6, 6, wrap=True)
        queries = sample_queries(model, 40)
        settings = CollectSettings(TeacherSettings("gls+", steps=100_000), steps=20, restart_interval=10)
        path, parts = tmp_path / "t.parquet", tmp_path / "t.parquet.parts"
        wanted = random.randint(1, 2)  # of 5
        with collecting_process(tmp_path, model, queries, settings, path) as process:
            wait_for(lambda: len(list(parts.glob("queries-*"))) >= wanted or process.poll() is not None)
            process.kill()
        assert not path.exists()
        assert any(parts.glob("queries-*"))
        (parts / ".queries-000000-000001.parquet-0123.tmp").write_bytes(b"half a file")
        collect(model, queries, settings, path=path)
        collect(model, queries, settings, path=tmp_path / "whole.parquet")
        assert path.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
        assert not parts.exists()

    def test_a_damaged_part_is_made_again(self, model, queries, collected, tmp_path):
        path = tmp_path / "t.parquet"
        with pytest.raises(StoppedError):
            collect(model, queries, QUICK, seed=5, jobs=1, path=path, on_progress=stop_after(40))
        part = next((tmp_path / "t.parquet.parts").iterdir())
        part.write_bytes(part.read_bytes()[:-100])
        assert are_equal(collect(model, queries, QUICK, seed=5, path=path), collected)

    def test_parts_with_other_settings_are_refused(self, model, queries, tmp_path):
        path = tmp_path / "t.parquet"
        with pytest.raises(StoppedError):
            collect(model, queries, QUICK, seed=5, path=path, on_progress=stop_after(20))
        with pytest.raises(
            UsageError, match=r"t\.parquet\.parts holds an unfinished collection with other seed \(5\); go on"
        ):
            collect(model, queries, QUICK, seed=6, path=path)

    def test_files_of_others_stay(self, model, queries, tmp_path):
        folder = tmp_path / "t.parquet.parts"
        folder.mkdir()
        (folder / "notes.txt").write_text("mine")
        collect(model, queries, QUICK, path=tmp_path / "t.parquet")
        assert [file.name for file in folder.iterdir()] == ["notes.txt"]

    def test_a_folder_that_cannot_be_made_is_reported(self, model, queries, tmp_path):
        (tmp_path / "t.parquet.parts").write_text("in the way")
        with pytest.raises(BeaconError, match=r"cannot write .*t\.parquet\.parts: file exists"):
            collect(model, queries, QUICK, path=tmp_path / "t.parquet")


def collecting_process(
    folder: Path, model: GraphicalModel, queries: QuerySet, settings: CollectSettings, path: Path
) -> subprocess.Popen[str]:
    """``beacon collect`` in a process of its own."""
    from beacon.formats import write_model  # noqa: PLC0415

    write_model(model, folder / "model.uai")
    queries.save(folder / "q.parquet")
    options = ["--teacher", settings.teacher.method, "--teacher-steps", settings.teacher.steps]
    options += ["--steps", settings.steps, "--restart-interval", settings.restart_interval]
    return start_process(
        "collect",
        folder / "model.uai",
        folder / "q.parquet",
        "-o",
        path,
        *options,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def wait_for(condition) -> None:
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("nothing happened for a minute")


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path):
    model = ising_grid(6, 6, wrap=True)
    queries = sample_queries(model, 40)
    settings = CollectSettings(TeacherSettings("gls+", steps=100_000), steps=20, restart_interval=10)
    path, parts = tmp_path / "t.parquet", tmp_path / "t.parquet.parts"
    with collecting_process(tmp_path, model, queries, settings, path) as process:
        wait_for(lambda: parts.exists() and any(parts.glob("queries-*")))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "queries are done and kept in" in errors
    assert "the same command goes on from there" in errors
    assert "Traceback" not in errors
    assert any(parts.glob("queries-*"))
