"""Collecting: what is collected, and that nothing depends on who does the work."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from beacon.errors import ModelError
from beacon.learn import collector as collector_module
from beacon.learn.collect import CollectSettings, collect
from beacon.learn.teacher import Teacher
from beacon.learn.trajectories import replay
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, sample_queries
from tests.learn.collecting import QUICK, are_equal
from tests.small_strategies import same_factors


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

    def test_by_default_walks_cover_the_whole_way(self, model, queries):
        made = collect(model, queries, CollectSettings(QUICK.teacher, steps=40))
        runs, steps = made.flip_variables.shape[1:]
        assert (runs, steps) == (40 // 12, 12)
        ways = [
            [(replay(made, q, 0, t) != made.references[q]).sum() for t in range(steps + 1)]
            for q in range(len(queries))
        ]
        assert np.mean([way[0] for way in ways]) > 3
        assert max(min(way) for way in ways) == 0
        assert max(way[-1] for way in ways) <= 1  # a greedy move may lead away again

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


class TestIndependenceOfWorkers:
    def test_any_number_of_jobs_gives_the_same(self, model, queries, collected):
        assert are_equal(collect(model, queries, QUICK, seed=5, jobs=3), collected)

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
        teacher.runner  # noqa: B018
        copy = pickle.loads(pickle.dumps(teacher))
        assert set(vars(copy)) == {"model", "settings"}
        assert not copy.flat.log_table.flags.writeable

    def test_an_error_in_a_worker_arrives(self, model, queries, monkeypatch):
        def fail(*_: object) -> None:
            raise ModelError("no such luck")

        monkeypatch.setattr(collector_module, "record_walks", fail)
        with pytest.raises(ModelError, match="no such luck"):
            collect(model, queries, QUICK, jobs=2)


def test_queries_of_ones_own_are_collected_as_they_are(model, queries):
    evidences = [queries.evidence(k) for k in range(3)]
    own = QuerySet.from_evidence(evidences, model)
    assert are_equal(collect(model, evidences, QUICK, jobs=1), collect(model, own, QUICK, jobs=1))
