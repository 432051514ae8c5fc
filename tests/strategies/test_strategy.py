"""Settings of the strategies, and the penalty weight that fits a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from beacon.engine.incumbent import EPSILON
from beacon.errors import UsageError
from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime, MaxSteps
from beacon.solver import solve
from beacon.strategies.auto import Auto
from beacon.strategies.gls import GlsPlus, default_penalty_weight
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import STRATEGIES, make_strategy
from beacon.strategies.tree import Tree
from tests.engine.helpers import advance, new_search, small_models

MODELS = small_models()


def weight_of(domain_sizes: list[int], tables: Sequence[tuple[tuple[int, ...], list[float]]]) -> float:
    return default_penalty_weight(compile_model(GraphicalModel.from_tables(domain_sizes, tables)))


def test_utilities_from_probability_one_do_not_wait_for_ever_on_a_constant() -> None:
    tables = [((0,), [5.0, 1.0]), ((0,), [1.0, 4.9]), ((), [-3.0])]
    model = GraphicalModel.from_tables([2], tables)
    strategy = GlsPlus(relative_utilities=False)
    assert solve(model, strategy=strategy, stop=MaxSteps(100) | MaxRuntime(0.5)).stop != "seconds"


def test_patience_doubles_now_and_then_from_restart_to_restart() -> None:
    model = families.ising_grid(5, 5, wrap=True, seed=3)
    search = new_search(model, {}, GlsPlus(restart_idle=2, restart_doubling=True))
    counters, waited = search.core.counters[0], []
    while len(waited) < 15:
        patience, restarted = int(counters["patience"]), int(counters["last_restart"])
        while counters["last_restart"] == restarted:
            advance(search)
        idle = int(counters["steps"]) - max(int(counters["best_step"]), restarted)
        waited.append(patience)
        assert idle == 2 * 25 * patience
    assert waited == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]


def test_strategies_go_by_name() -> None:
    assert make_strategy("gls+") == GlsPlus()
    assert make_strategy("greedy") == Greedy()
    assert make_strategy("tree") == Tree()
    assert make_strategy("auto") == Auto()
    for name in STRATEGIES:
        assert make_strategy(name).name == name


def test_a_strategy_with_settings_passes_through() -> None:
    strategy = GlsPlus(penalty_weight=3.0)
    assert make_strategy(strategy) is strategy


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no strategy is called 'annealing'; there are: .*greedy, gls\+"):
        make_strategy("annealing")


@pytest.mark.parametrize("weight", [0, -1.0, math.inf, math.nan])
def test_a_penalty_weight_must_be_positive(weight: float) -> None:
    with pytest.raises(UsageError, match=f"penalty_weight must be a positive number; found {weight}"):
        GlsPlus(penalty_weight=weight)


@pytest.mark.parametrize("name", ["smoothing", "harvest_share"])
@pytest.mark.parametrize("value", [-0.1, 1.01, math.nan])
def test_smoothing_and_the_share_of_harvests_must_lie_between_zero_and_one(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=rf"{name} must be a number from 0 to 1; found {value}"):
        GlsPlus(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [GlsPlus, Tree])
@pytest.mark.parametrize("value", [-1, math.nan])
def test_idleness_must_not_be_negative(kind: Any, value: float) -> None:
    with pytest.raises(UsageError, match=f"restart_idle must be 0 or more; found {value}"):
        kind(restart_idle=value)


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (Auto, {"min_share": "0.1"}, "min_share needs a number; found '0.1'"),
        (Auto, {"first_round": 0.5}, "first_round must be a whole number of at least 1; found 0.5"),
        (GlsPlus, {"penalty_weight": "2"}, "penalty_weight must be a positive number; found '2'"),
        (
            GlsPlus,
            {"restart_interval": math.inf},
            "restart_interval must be a whole number of at least 0; found inf",
        ),
        (
            GlsPlus,
            {"smoothing_interval": -1},
            "smoothing_interval must be a whole number of at least 0; found -1",
        ),
        (GlsPlus, {"smoothing": None}, "smoothing must be a number from 0 to 1; found None"),
        (Tree, {"min_region": "8"}, "min_region must be a whole number of at least 1; found '8'"),
        (Tree, {"blocks": 2.5}, "blocks must be a whole number of at least 1; found 2.5"),
        (Tree, {"first_sweeps": 0}, "first_sweeps must be a whole number of at least 1; found 0"),
        (
            Tree,
            {"min_region": 9, "max_region": 8},
            "regions need min_region ≤ max_region; found 9 and 8",
        ),
        (Tree, {"restart_idle": "never"}, "restart_idle must be 0 or more; found 'never'"),
    ],
)
def test_settings_of_the_wrong_kind_are_refused(kind: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        kind(**settings)
    assert str(caught.value) == message


def test_fitting_fills_in_the_penalty_weight_and_keeps_a_given_one() -> None:
    flat = compile_model(MODELS["grid"])
    assert GlsPlus().fitted(flat).penalty_weight == default_penalty_weight(flat)
    assert GlsPlus(penalty_weight=7.0, smoothing=0.5).fitted(flat) == GlsPlus(
        penalty_weight=7.0, smoothing=0.5
    )


# The default penalty weight, on tables made by hand.


def test_the_penalty_weight_is_the_typical_range_of_the_tables() -> None:
    assert weight_of([2, 2], [((0,), [0.0, -3.0]), ((1,), [5.0, 1.0])]) == pytest.approx(math.sqrt(12.5))
    assert weight_of([3, 2], [((0, 1), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])]) == pytest.approx(5.0)


def test_constants_and_single_valued_tables_do_not_count() -> None:
    tables = [((0,), [0.0, -3.0]), ((), [-50.0]), ((1,), [-70.0])]
    assert weight_of([2, 1], tables) == pytest.approx(3.0)


def test_the_penalty_weight_is_less_where_variables_have_many_factors() -> None:
    assert weight_of([2], [((0,), [0.0, -3.0])] * 4) == pytest.approx(3.0)
    assert weight_of([2], [((0,), [0.0, -3.0])] * 16) == pytest.approx(3.0 * math.sqrt(4 / 16))


def test_hard_constraints_set_the_scale_where_a_tenth_of_the_tables_have_zeros() -> None:
    soft, hard = ((0,), [0.0, -2.0]), ((0,), [0.0, -math.inf])
    one_in_ten, one_in_eleven = [hard, *[soft] * 9], [hard, *[soft] * 10]
    assert weight_of([2], one_in_ten) == pytest.approx(100.0 * math.sqrt(4 / 10))
    typical = math.sqrt((100.0**2 + 10 * 2.0**2) / 11)
    assert weight_of([2], one_in_eleven) == pytest.approx(typical * math.sqrt(4 / 11))


@pytest.mark.parametrize(
    ("domain_sizes", "tables"),
    [
        ([], []),
        ([2, 2], []),
        ([2], [((), [-5.0])]),
        ([1, 1], [((0,), [-5.0]), ((0, 1), [-1.0])]),
        ([2, 2], [((0, 1), [-3.0] * 4)]),
        ([2], [((0,), [-math.inf] * 2)]),
    ],
    ids=["empty", "no tables", "constants", "one entry", "all equal", "all zero"],
)
def test_the_penalty_weight_of_tables_that_distinguish_nothing_is_one(
    domain_sizes: list[int], tables: list[tuple[tuple[int, ...], list[float]]]
) -> None:
    assert weight_of(domain_sizes, tables) == 1.0


def test_penalties_that_fade_too_fast_to_leave_an_optimum_end_the_search() -> None:
    both_or_none = np.array([[0.0, -np.inf], [-np.inf, 0.5]])
    ring = GraphicalModel.from_tables([2] * 6, [((i, (i + 1) % 6), both_or_none) for i in range(6)])
    fading = GlsPlus(3.0, smoothing=0.5, smoothing_interval=3)
    result = solve(ring, strategy=fading, start=[0] * 6, stop=MaxSteps(200))
    assert (result.stop, result.steps) == ("stalled", 0)
    lasting = GlsPlus(3.0, smoothing=1.0)
    assert solve(ring, strategy=lasting, start=[0] * 6, stop=MaxSteps(200)).log_score == 3.0


def landscape_search(model: GraphicalModel, seed: int = 0) -> Search:
    """A search by the landscape's weight at its first local optimum, before it has penalised anything."""
    search = new_search(model, {}, GlsPlus(by_landscape=True, harvest_share=0), seed)
    while search.core.gains[search.core.gain_levels[-2]] > EPSILON:
        search.run(MaxSteps(search.steps + 1))
    assert search.own.weight[0] == 0.0
    return search


@pytest.mark.parametrize("seed", range(4))
def test_the_weight_of_the_landscape_is_a_quarter_of_the_median_loss(seed: int) -> None:
    search = landscape_search(
        families.weighted_coloring(num_vertices=31, density=0.6, num_colors=3, seed=2), seed
    )
    losses = np.sort(-search.core.gains[:31])
    advance(search)
    assert search.own.weight[0] == pytest.approx(losses[15] / 4)


def test_where_most_variables_lose_nothing_the_tables_give_the_weight() -> None:
    pairs = [((0, 1), [0.0, -1.0, -1.0, 0.0]), ((0, 1), [-1.0, 0.0, 0.0, -1.0])]
    search = landscape_search(GraphicalModel.from_tables([2] * 5, pairs))
    advance(search)
    assert search.own.weight[0] == default_penalty_weight(search.model)


def test_a_penalty_weight_is_given_to_what_has_penalties() -> None:
    assert GlsPlus(smoothing=0.9).weighted(2.0) == GlsPlus(penalty_weight=2.0, smoothing=0.9)
    assert Auto(exact=False).weighted(2.0) == Auto(arms=(GlsPlus(penalty_weight=2.0), Tree()), exact=False)
    with pytest.raises(UsageError, match="a penalty weight belongs to auto or gls\\+, not to greedy"):
        Greedy().weighted(2.0)
