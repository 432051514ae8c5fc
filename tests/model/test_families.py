"""Generated models."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from beacon.errors import UsageError
from beacon.model.bayes import child_of_factors
from beacon.model.families import (
    FAMILIES,
    deep_belief_net,
    demo_model,
    diagnosis,
    ising_grid,
    pedigree,
    random_bayes_net,
    weighted_coloring,
)
from beacon.model.families.coloring import _pairs_at


@pytest.mark.parametrize("family", FAMILIES)
class TestEveryFamily:
    def test_the_seed_decides(self, family):
        make = FAMILIES[family]
        assert make(seed=1).fingerprint == make(seed=1).fingerprint
        assert make(seed=1).fingerprint != make(seed=2).fingerprint

    def test_every_setting_has_a_default(self, family):
        settings = inspect.signature(FAMILIES[family]).parameters.values()
        assert all(setting.default is not inspect.Parameter.empty for setting in settings)

    def test_names_suit_every_file_format(self, family):
        model = FAMILIES[family]()
        for name in (*model.names, *(label for labels in model.labels for label in labels)):
            assert not set(name) & set(" \t\n,;=|(){}[]\"'")

    def test_a_negative_seed_is_refused(self, family):
        with pytest.raises(UsageError, match="seed must be a whole number of at least 0; found -1"):
            FAMILIES[family](seed=-1)


@pytest.mark.parametrize(
    ("family", "settings", "message"),
    [
        (ising_grid, {"rows": 0}, "rows must be a whole number from 1 to 5000000; found 0"),
        (ising_grid, {"columns": 2.5}, "columns must be a whole number from 1 to 5000000; found 2.5"),
        (ising_grid, {"rows": True}, "rows must be a whole number from 1 to 5000000; found True"),
        (ising_grid, {"coupling": -1.0}, "coupling must be a number of at least 0; found -1.0"),
        (ising_grid, {"field": float("nan")}, "field must be a number of at least 0; found nan"),
        (ising_grid, {"coupling": "5"}, "coupling must be a number of at least 0; found '5'"),
        (ising_grid, {"rows": 2, "wrap": True}, "wrap needs at least 3 rows and 3 columns; found 2 and 20"),
        (
            ising_grid,
            {"rows": 2000, "columns": 2000},
            "the model would have 12000000 factors; at most 5000000 are allowed",
        ),
        (diagnosis, {"leak": 1.5}, "leak must be a number from 0 to 1; found 1.5"),
        (
            diagnosis,
            {"min_causes": 4, "max_causes": 3},
            "min_causes must not exceed max_causes; found 4 and 3",
        ),
        (diagnosis, {"num_diseases": 3}, "max_causes must not exceed num_diseases; found 10 and 3"),
        (
            diagnosis,
            {"min_prior": 0.2, "max_prior": 0.1},
            "min_prior must not exceed max_prior; found 0.2 and 0.1",
        ),
        (deep_belief_net, {"hidden": ()}, "hidden must list the size of at least one layer; found ()"),
        (deep_belief_net, {"hidden": "12"}, "hidden must list the size of at least one layer; found '12'"),
        (
            deep_belief_net,
            {"hidden": (3, 0)},
            "each size in hidden must be a whole number from 1 to 5000000; found 0",
        ),
        (weighted_coloring, {"num_colors": 1}, "num_colors must be a whole number from 2 to 1000; found 1"),
        (weighted_coloring, {"density": 1.1}, "density must be a number from 0 to 1; found 1.1"),
        (
            weighted_coloring,
            {"num_vertices": 1000, "density": 1.0, "num_colors": 100},
            "the model would have 4995000000 table entries; at most 50000000 are allowed",
        ),
        (
            random_bayes_net,
            {"max_parents": 20, "max_domain": 1000},
            "table entries; at most 50000000 are allowed; lower max_parents or max_domain",
        ),
        (pedigree, {"recombination": 0.6}, "recombination must be a number from 0 to 0.5; found 0.6"),
        (pedigree, {"num_founders": 1}, "num_founders must be a whole number from 2 to 5000000; found 1"),
    ],
)
def test_nonsense_is_refused_in_one_line(family, settings, message):
    with pytest.raises(UsageError) as caught:
        family(**settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


class TestIsingGrid:
    @pytest.mark.parametrize(("wrap", "num_pairs"), [(False, 3 * 4 + 2 * 5), (True, 2 * 15)])
    def test_neighbours_are_coupled(self, wrap, num_pairs):
        model = ising_grid(3, 5, wrap=wrap)
        pairs = {factor.scope for factor in model.factors if len(factor.scope) == 2}
        assert len(pairs) == num_pairs
        assert (0, 1) in pairs
        assert (0, 5) in pairs
        assert ((4, 0) in pairs) == wrap

    def test_strengths_keep_to_their_bounds(self):
        model = ising_grid(20, 20, coupling=3.0, field=0.5)
        tables = {size: [f.log_table for f in model.factors if len(f.scope) == size] for size in (1, 2)}
        assert 0.45 < np.abs(tables[1]).max() <= 0.5
        assert 2.9 < np.abs(tables[2]).max() <= 3.0

    def test_a_positive_coupling_favours_equal_values(self):
        model = ising_grid(1, 2, field=0.0, seed=0)
        strength = model.factors[-1].log_table[0, 0]
        assert model.log_score([0, 0]) == model.log_score([1, 1]) == pytest.approx(strength)
        assert model.log_score([0, 1]) == model.log_score([1, 0]) == pytest.approx(-strength)


class TestDiagnosis:
    def test_a_finding_is_the_noisy_or_of_its_causes(self):
        model = diagnosis(2, 1, min_causes=2, max_causes=2, leak=0.1, seed=4)
        assert model.names[-1] == "fever"
        first, second = (np.exp(model.factors[k].log_table) for k in (2, 3))
        causes = [model.factors[2].scope[1], model.factors[3].scope[1]]
        strengths = [first[1, 1], second[1, 1, 0]]
        for diseases in np.ndindex(2, 2):
            rows = [[*diseases, a, b, 0] for a in (0, 1) for b in (0, 1)]
            absent = np.exp(model.log_scores(rows)).sum()
            prior = np.prod([np.exp(model.factors[k].log_table[diseases[k]]) for k in (0, 1)])
            misses = [1 - s if diseases[c] else 1.0 for c, s in zip(causes, strengths, strict=True)]
            assert absent == pytest.approx(prior * 0.9 * misses[0] * misses[1])

    def test_it_is_a_bayesian_network_with_readable_names(self):
        model = diagnosis(seed=5)
        assert child_of_factors(model) is not None
        assert model.names[:3] == ("influenza", "pneumonia", "asthma")
        assert set(model.labels) == {("no", "yes")}

    def test_names_are_numbered_when_the_words_run_out(self):
        model = diagnosis(150, 150, min_causes=1, max_causes=2)
        assert {"disease_149", "finding_149"} <= set(model.names)


class TestDeepBeliefNet:
    def test_layers_are_fully_connected(self):
        model = deep_belief_net(4, 3, hidden=(5, 2))
        degrees = [len(others) for others in model.primal_graph()]
        assert degrees == [5] * 12 + [12 + 2] * 5 + [5] * 2

    def test_only_hidden_units_have_a_field(self):
        model = deep_belief_net(4, 3, hidden=(5, 2))
        assert [f.scope for f in model.factors if len(f.scope) == 1] == [(i,) for i in range(12, 19)]

    def test_it_has_the_size_of_the_published_models(self):
        model = deep_belief_net(28, 28, hidden=(20, 40, 10))
        assert (model.num_variables, model.num_factors, model.width_bound) == (854, 16950, 30)


class TestWeightedColoring:
    def test_an_edge_costs_its_weight_if_both_ends_are_alike(self):
        model = weighted_coloring(2, density=1.0, num_colors=3, min_weight=4.0, max_weight=4.0)
        assert model.log_score([1, 1]) == -4.0
        assert model.log_score([1, 2]) == 0.0

    def test_the_density_sets_the_number_of_edges(self):
        model = weighted_coloring(30, density=0.2)
        assert model.num_factors == 87
        assert len({factor.scope for factor in model.factors}) == 87

    def test_every_pair_has_one_position(self):
        pairs = _pairs_at(np.arange(45)).tolist()
        assert sorted(map(tuple, pairs)) == [(a, b) for a in range(10) for b in range(a + 1, 10)]
        last = 1_000_000 * 999_999 // 2 - 1
        assert _pairs_at(np.array([last])).tolist() == [[999_998, 999_999]]


class TestRandomBayesNet:
    @pytest.mark.parametrize("zero_fraction", [0.0, 0.5, 1.0])
    def test_it_is_a_bayesian_network_with_zeros_on_request(self, zero_fraction):
        model = random_bayes_net(100, zero_fraction=zero_fraction)
        assert child_of_factors(model) == list(range(100))
        assert (model.zero_fraction > 0) == (zero_fraction > 0)

    def test_settings_bound_parents_and_domains(self):
        model = random_bayes_net(100, max_parents=2, max_domain=4)
        assert (model.max_scope, model.max_domain) == (3, 4)


class TestPedigree:
    def test_some_variables_have_a_single_value(self):
        model = pedigree()
        assert set(model.domain_sizes.tolist()) >= {1, 2, 3, 4}
        assert model.zero_fraction > 0.5

    def test_a_childs_allele_is_the_selected_one(self):
        model = pedigree(2, 1, num_loci=1, max_alleles=3, typed=0.0, seed=1)
        factor = next(f for f in model.factors if len(f.scope) == 4)
        for paternal, maternal, selector, child in np.argwhere(factor.log_table == 0):
            assert child == (paternal, maternal)[selector]
        num_alleles = factor.log_table.shape[0]
        assert np.isfinite(factor.log_table).sum() == 2 * num_alleles**2

    def test_a_phenotype_is_an_unordered_pair_of_alleles(self):
        model = pedigree(2, 0, num_loci=1, typed=1.0)
        factor = model.factors[-1]
        low, high = map(int, model.labels[factor.scope[-1]][0].split("/"))
        assert {tuple(entry) for entry in np.argwhere(factor.log_table == 0)} == {
            (low, high, 0),
            (high, low, 0),
        }


def test_the_demo_model_is_a_readable_network_of_several_hundred_variables():
    model = demo_model()
    assert 300 <= model.num_variables <= 1000
    assert child_of_factors(model) is not None
    assert model.zero_fraction > 0.2
    assert {"influenza", "fever", "cough"} <= set(model.names)
    assert demo_model().fingerprint == model.fingerprint
