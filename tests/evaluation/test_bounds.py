"""Upper bounds are kept with the runs, and say how far the best known may be below the optimum."""

from __future__ import annotations

import numpy as np
import pytest

import beacon
from beacon.model.families import ising_grid


@pytest.fixture(scope="module")
def results() -> beacon.Evaluation:
    """A grid that is solved exactly by one of two methods."""
    model = ising_grid(3, 4, seed=1)
    queries = beacon.sample_queries(model, 20, seed=0)
    return beacon.evaluate(model, queries, methods=["auto", "greedy"], steps=[20], propagate=True)


def test_only_methods_that_know_a_bound_have_one(results: beacon.Evaluation) -> None:
    known = {record.method: record.upper_bound for record in results.records}
    assert known["greedy"] is None
    assert known["auto"] is not None
    for record in results.records:
        assert record.upper_bound is None or record.upper_bound >= record.score - 1e-9


def test_the_best_is_no_further_below_the_optimum_than_the_bound_says(results: beacon.Evaluation) -> None:
    (network,) = results.networks
    gaps = results.bound_gaps(network)
    assert gaps.shape == (len(results.queries(network)),)
    assert (gaps == 0).all()  # elimination proves this grid


def test_a_bound_above_the_best_is_a_gap_in_percent(results: beacon.Evaluation) -> None:
    (network,) = results.networks
    best = results.best(network)
    changed = [
        {**vars(record), "proved": False, "upper_bound": record.score + abs(record.score) / 50}
        if record.method == "auto"
        else {**vars(record), "proved": False}
        for record in results.records
    ]
    later = beacon.Evaluation(results.run, [type(results.records[0])(**row) for row in changed])
    np.testing.assert_allclose(later.bound_gaps(network), np.full(len(best), 2.0))
    without = [row for row in changed if row["method"] == "greedy"]
    blind = beacon.Evaluation(results.run, [type(results.records[0])(**row) for row in without])
    assert np.isinf(blind.bound_gaps(network)).all()
