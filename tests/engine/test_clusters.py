"""Better clusters of the current assignment, against clusters found and judged the long way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.gls import GlsPlus
from tests.engine.helpers import check_best, new_search, put, small_models, some_evidence, standing
from tests.kernels import harvest_clusters
from tests.reference import Naive
from tests.small_strategies import small_models as random_models

MODELS = small_models()
PLAIN = GlsPlus(penalty_weight=3.0, harvest_share=0, restart_interval=17)


def clusters(model: GraphicalModel, differing: set[int]) -> list[set[int]]:
    """The differing variables, joined as long as any factor joins two of the sets."""
    found = [{i} for i in differing]
    for factor in model.factors:
        met = [cluster for cluster in found if cluster & set(factor.scope)]
        if met:
            found = [cluster for cluster in found if cluster not in met] + [set().union(*met)]
    return found


def naive_harvest(search: Search, model: GraphicalModel, current: list[int], best: list[int]) -> list[int]:
    """The best assignment with every cluster of the current one that makes it better by itself."""
    naive = Naive(model, {}, search.model.log_zero)
    for cluster in clusters(model, {i for i in range(len(best)) if best[i] != current[i]}):
        tried = [current[i] if i in cluster else best[i] for i in range(len(best))]
        fewer, gain = naive.zeros(best) - naive.zeros(tried), naive.score(tried) - naive.score(best)
        if fewer > 0 or (fewer == 0 and gain > 1e-7):
            best = tried
    return best


def harvest(search: Search) -> None:
    harvest_clusters(search.model, search.core, np.empty(search.model.num_variables, dtype=np.int32))


def check_harvest(search: Search, model: GraphicalModel) -> None:
    current, best = standing(search), search.best_assignment.tolist()
    expected, naive = naive_harvest(search, model, current, best), Naive(model, {}, search.model.log_zero)
    harvest(search)
    check_best(search, naive)
    assert naive.zeros(expected) == search.best_zeros
    assert search.best_score == pytest.approx(naive.score(expected), abs=1e-6)
    assert standing(search) == current


@pytest.mark.parametrize("name", MODELS)
def test_the_best_takes_over_exactly_the_better_clusters(name: str) -> None:
    model = MODELS[name]
    search = new_search(model, some_evidence(model, 1, seed=3), PLAIN, seed=2)
    for steps in range(3, 60, 3):
        search.run(MaxSteps(steps))
        check_harvest(search, model)


@settings(max_examples=60, deadline=None)
@given(model=random_models(max_domain=3), seed=st.integers(0, 10**6))
def test_so_it_does_on_any_model(model: GraphicalModel, seed: int) -> None:
    search = new_search(model, some_evidence(model, seed % 3, seed), PLAIN, seed)
    for steps in (1, 4, 9, 20):
        search.run(MaxSteps(steps))
        check_harvest(search, model)


def test_what_two_assignments_do_well_in_different_places_is_joined() -> None:
    ends = [((0,), [0.0, 1.0]), ((4,), [0.0, 1.0])]
    model = GraphicalModel.from_tables([2] * 5, ends + [((i, i + 1), [0.1, 0, 0, 0]) for i in range(4)])
    search = Search(compile_model(model), {}, PLAIN, start=np.array([1, 0, 0, 0, 0]))
    put(search, [0, 0, 0, 0, 1])
    harvest(search)
    assert search.best_assignment.tolist() == [1, 0, 0, 0, 1]
    assert standing(search) == [0, 0, 0, 0, 1]
    assert search.best_score == pytest.approx(model.log_score(search.best_assignment))


@pytest.mark.parametrize("seed", range(5))
def test_harvests_leave_the_path_of_the_search_alone_and_never_make_its_best_worse(seed: int) -> None:
    model = families.ising_grid(rows=8, columns=8, seed=seed)
    with_harvests, without = (
        new_search(model, {}, GlsPlus(restart_idle=0, harvest_share=share), seed) for share in (0.5, 0)
    )
    for steps in (20, 100, 500, 2500):
        with_harvests.run(MaxSteps(steps))
        without.run(MaxSteps(steps))
        assert standing(with_harvests) == standing(without)
        assert with_harvests.best_score >= without.best_score - 1e-9
        assert with_harvests.best_score == pytest.approx(model.log_score(with_harvests.best_assignment))


def test_harvests_find_assignments_that_the_search_does_not_pass() -> None:
    better = 0
    for seed in range(5):
        model = families.ising_grid(rows=20, columns=20, seed=seed)
        scores = [
            new_search(model, {}, GlsPlus(restart_idle=0, harvest_share=share), seed) for share in (0.1, 0)
        ]
        for search in scores:
            search.run(MaxSteps(5000))
        better += scores[0].best_score > scores[1].best_score + 1e-6
    assert better >= 4
