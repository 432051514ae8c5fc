"""Samples of models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from beacon.errors import ModelError, UsageError
from beacon.formats import read_model
from beacon.model.bayes import child_of_factors
from beacon.model.families import FAMILIES, ising_grid, pedigree, random_bayes_net
from beacon.model.graphical_model import GraphicalModel
from beacon.query.gibbs import feasible_assignments
from beacon.query.query_set import QuerySet, sample_queries
from beacon.query.sampling import GibbsSettings, sample_assignments
from tests.reference import assignments
from tests.small_strategies import small_models

MANY = GibbsSettings(burn_in=20, thin=3, chains=20)
FEW = GibbsSettings(burn_in=2, thin=1, chains=3)


def exact_marginals(model: GraphicalModel) -> np.ndarray:
    """[variables, values] by summing over all assignments."""
    rows = list(assignments(model, {}))
    weights = np.exp([model.log_score(row) for row in rows])
    marginals = np.zeros((model.num_variables, model.max_domain))
    for row, weight in zip(rows, weights, strict=True):
        marginals[range(model.num_variables), row] += weight
    return marginals / weights.sum()


def frequencies(model: GraphicalModel, samples: np.ndarray) -> np.ndarray:
    """[variables, values] shares of the samples."""
    return np.array([np.bincount(column, minlength=model.max_domain) for column in samples.T]) / len(samples)


class TestAncestral:
    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_frequencies_are_the_exact_marginals(self, seed):
        model = random_bayes_net(6, max_domain=3, zero_fraction=0.2, seed=seed)
        samples = sample_assignments(model, 20_000, seed)
        assert frequencies(model, samples) == pytest.approx(exact_marginals(model), abs=0.015)

    def test_rounded_tables_never_lead_outside_a_domain(self):
        model = GraphicalModel.from_tables([3], [((0,), np.log([0.3333, 0.3333, 0.3333]))])
        assert set(sample_assignments(model, 5000, 0).ravel().tolist()) == {0, 1, 2}

    def test_impossible_values_are_never_drawn(self):
        with np.errstate(divide="ignore"):
            model = GraphicalModel.from_tables([4], [((0,), np.log([0.0, 0.5, 0.0, 0.5]))])
        model = GraphicalModel(model.names, model.labels, model.factors)
        assert set(sample_assignments(model, 5000, 0).ravel().tolist()) == {1, 3}


class TestGibbs:
    def test_frequencies_approach_the_exact_marginals(self):
        rng = np.random.default_rng(3)
        scopes = [(0,), (0, 1), (1, 2), (0, 2, 3), (3, 4), (4,)]
        sizes = [2, 3, 2, 2, 3]
        model = GraphicalModel.from_tables(
            sizes, [(s, rng.normal(size=[sizes[i] for i in s])) for s in scopes]
        )
        assert child_of_factors(model) is None
        samples = sample_assignments(model, 20_000, 0, gibbs=MANY)
        assert frequencies(model, samples) == pytest.approx(exact_marginals(model), abs=0.02)

    def test_soft_zeros_keep_their_share(self):
        model = GraphicalModel.from_tables([2, 3], [((0, 1), [0.0, -np.inf, 0.5, 1.0, 0.2, -np.inf])])
        samples = sample_assignments(model, 20_000, 0, gibbs=MANY)
        assert frequencies(model, samples) == pytest.approx(exact_marginals(model), abs=0.02)

    def test_large_potentials_do_not_overflow(self):
        model = GraphicalModel.from_tables([2, 2], [((0,), [5000.0, 0.0]), ((0, 1), [-9e5, 9e5, 9e5, -9e5])])
        samples = sample_assignments(model, 50, 0)
        assert {tuple(row) for row in samples.tolist()} <= {(0, 1), (1, 0)}

    def test_variables_without_factors_are_uniform(self):
        model = GraphicalModel.from_tables([4, 1], [])
        samples = sample_assignments(model, 8000, 0, gibbs=MANY)
        assert frequencies(model, samples)[0] == pytest.approx([0.25] * 4, abs=0.03)

    @settings(max_examples=30, deadline=None)
    @given(small_models())
    def test_every_sample_is_possible_wherever_one_is(self, model):
        possible = any(model.log_score(row) > -np.inf for row in assignments(model, {}))
        if not possible:
            with pytest.raises(ModelError, match="no assignment"):
                sample_assignments(model, 3, 0, gibbs=FEW)
        else:
            assert np.isfinite(model.log_scores(sample_assignments(model, 5, 0, gibbs=FEW))).all()

    def test_there_may_be_fewer_samples_than_chains(self):
        assert sample_assignments(pedigree(2, 1), 2, 0).shape[0] == 2


class TestIndependence:
    """A chain of a strongly coupled model stays in one mode: samples that share it are near-copies."""

    model = ising_grid(12, 12, coupling=3.0, seed=1)

    def agreement(self, chains: int | None) -> float:
        """Share of variables in which training and test samples of a query set agree."""
        queries = sample_queries(self.model, 60, 0, gibbs=GibbsSettings(chains=chains))
        train, test = queries.split("train").samples, queries.split("test").samples
        return float((train[:, None] == test[None]).mean())

    def test_training_and_test_samples_agree_no_more_than_separate_runs_do(self):
        first, second = (sample_queries(self.model, 30, seed).samples for seed in (1, 2))
        independent = float((first[:, None] == second[None]).mean())
        assert self.agreement(None) == pytest.approx(independent, abs=0.05)
        assert self.agreement(1) > independent + 0.15

    def test_the_number_of_chains_is_stored_with_the_queries(self, tmp_path):
        for chains in (None, 1):
            made = sample_queries(self.model, 4, gibbs=GibbsSettings(burn_in=1, chains=chains))
            made.save(tmp_path / "q.parquet")
            assert QuerySet.load(tmp_path / "q.parquet").settings.gibbs.chains == chains


class TestFeasibleStart:
    model = pedigree(3, 4, num_loci=2, seed=1)

    def test_every_chain_begins_at_a_possible_assignment_of_its_own(self):
        found = feasible_assignments(self.model, [1, 2, 3])
        assert np.isfinite(self.model.log_scores(found)).all()
        assert len({tuple(row) for row in found.tolist()}) > 1
        assert np.array_equal(found, feasible_assignments(self.model, [1, 2, 3]))

    def test_a_factor_that_is_zero_everywhere_is_named(self):
        model = GraphicalModel.from_tables([2, 2], [((0,), [0.0, 1.0]), ((1,), [-np.inf, -np.inf])])
        message = "no assignment has a non-zero probability: factor 1 is zero everywhere"
        with pytest.raises(ModelError, match=message):
            sample_assignments(model, 1, 0)

    def test_contradicting_factors_are_reported_after_a_bounded_search(self):
        equal, unequal = np.array([0.0, -np.inf, -np.inf, 0.0]), np.array([-np.inf, 0.0, 0.0, -np.inf])
        model = GraphicalModel.from_tables([2, 2], [((0, 1), equal), ((0, 1), unequal)])
        message = r"no assignment of non-zero probability was found in [\d,]+ steps; at best 1 of 2 factors"
        with pytest.raises(ModelError, match=message):
            sample_assignments(model, 1, 0)


@pytest.mark.parametrize("family", FAMILIES)
class TestEveryFamily:
    def test_every_sample_is_possible(self, family):
        model = FAMILIES[family]()
        samples = sample_assignments(model, 100, 0, gibbs=GibbsSettings(burn_in=10, thin=1, chains=10))
        assert samples.shape == (100, model.num_variables)
        assert np.isfinite(model.log_scores(samples)).all()

    def test_the_seed_decides(self, family):
        model = FAMILIES[family]()
        first, again, other = (sample_assignments(model, 10, seed, gibbs=FEW) for seed in (1, 1, 2))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)


class TestWrongUse:
    @pytest.mark.parametrize(
        ("count", "seed", "message"),
        [
            (-1, 0, "count must be a whole number of at least 0; found -1"),
            (1.5, 0, "count must be a whole number of at least 0; found 1.5"),
            (1, -1, "seed must be a whole number of at least 0; found -1"),
            (10**12, 0, "are too many to hold in memory; ask for at most"),
        ],
    )
    def test_it_is_explained(self, count, seed, message):
        with pytest.raises(UsageError, match=message):
            sample_assignments(random_bayes_net(5), count, seed)

    @pytest.mark.parametrize(
        ("setting", "low"), [({"burn_in": -1}, 0), ({"thin": 0}, 1), ({"chains": 0}, 1), ({"thin": 1.5}, 1)]
    )
    def test_settings_check_themselves(self, setting, low):
        ((name, value),) = setting.items()
        with pytest.raises(
            UsageError, match=f"{name} must be a whole number of at least {low}; found {value}"
        ):
            GibbsSettings(**setting)


@pytest.mark.parametrize(
    "file",
    [
        "paper/BN_30.uai.xz",
        "paper/pedigree18.uai.xz",
        "paper/Promedas_62.uai.xz",
        "more/or_chain_10.fg.uai.xz",
    ],
)
def test_samples_of_published_models_with_zeros_are_possible(benchmark_files, file):
    model = read_model(benchmark_files / file)
    samples = sample_assignments(model, 200, 0)
    assert np.isfinite(model.log_scores(samples)).all()
    assert len(np.unique(samples, axis=0)) > 20
