"""References: how good they are, where they come from, and settings that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from beacon.errors import ModelError, UsageError
from beacon.learn.collect import CollectSettings, collect
from beacon.learn.teacher import Teacher, TeacherSettings
from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import sample_queries
from beacon.runner.stop import MaxSteps
from beacon.solver import solve_many
from tests.learn.collecting import QUICK


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
