"""Methods by name: what a guide's tuned settings and the weights of a comparison make of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from beacon.errors import ModelError, UsageError
from beacon.evaluation.method import EngineMethod, GuidedMethod, PeerMethod
from beacon.evaluation.settings import DEFAULT_WEIGHT, Catalog, check_names
from beacon.guide.checkpoint import update_tuned
from beacon.guide.fast_guide import FastGuide
from beacon.guided.guidance import GuideUse
from beacon.model.families import ising_grid
from beacon.peers.peer import find_peer
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from tests.evaluation.helpers import evaluated, network_of
from tests.guide.helpers import random_weights

GRID = ising_grid(4, 4, seed=1)


@pytest.fixture
def guide(tmp_path: Path) -> str:
    FastGuide(GRID, random_weights(GRID)).save(tmp_path / "grid.guide")
    return str(tmp_path / "grid.guide")


def guided_of(names: list[str], guide: str, weights: tuple[float, ...] = ()) -> dict[str, GuidedMethod]:
    methods = Catalog(GRID, guide, weights).methods(names)
    return {method.name: method for method in methods if isinstance(method, GuidedMethod)}


def test_methods_come_in_the_order_asked_for(guide: str) -> None:
    names = ["auto", "beacon", "greedy"]
    methods = Catalog(GRID, guide, propagate=True).methods(names)
    assert [method.name for method in methods] == names
    assert all(isinstance(m, EngineMethod | GuidedMethod) and m.propagate for m in methods)


def test_the_papers_methods_begin_at_random_with_a_weight(guide: str) -> None:
    for name, method in guided_of(["beacon-greedy", "beacon-gls+"], guide).items():
        assert method.strategy.name == method.baseline == name.removeprefix("beacon-")
        assert (method.use.start, method.weight) == ("random", DEFAULT_WEIGHT)
        assert method.settings()["guide"] == {"folder": guide}


def test_a_guide_is_used_as_tuned(guide: str) -> None:
    tuned = GuideUse("guide", 0.7, "all", restart_from="guide", least_seconds=0.01, most_seconds=0.1)
    update_tuned(guide, {"strategy": "greedy", "use": tuned.to_dict()})
    methods = guided_of(["beacon", "beacon-gls+"], guide)
    assert (methods["beacon"].use, methods["beacon"].strategy.name) == (tuned, "greedy")
    whatever_the_time = GuideUse("random", 0.7, "all", restart_from="guide")
    assert methods["beacon-gls+"].use == whatever_the_time, "with every time limit"


def test_a_guide_that_was_never_tuned_chooses_the_start_of_the_automatic_mix(guide: str) -> None:
    method = guided_of(["beacon"], guide)["beacon"]
    assert (method.use, method.strategy.name, method.baseline) == (GuideUse(), "auto", "auto")


def test_every_weight_is_a_method_of_its_own(guide: str) -> None:
    methods = guided_of(["beacon", "beacon-gls+"], guide, (0.2, 1.0))
    weights = {name: method.weight for name, method in methods.items()}
    assert weights == {
        "beacon": None,
        "beacon-gls+": DEFAULT_WEIGHT,
        "beacon-gls+ λ=0.2": 0.2,
        "beacon-gls+ λ=1": 1.0,
    }


def test_guided_and_unguided_methods_are_measured_side_by_side(guide: str, tmp_path: Path) -> None:
    methods = Catalog(GRID, guide).methods(["gls+", "beacon", "beacon-gls+"])
    rows = evaluated(tmp_path / "run", network_of(GRID), methods)
    assert [row["method"] for row in rows] == ["beacon"] * 4 + ["beacon-gls+"] * 4 + ["gls+"] * 4
    first = [
        [row["trace_scores"][0] for row in rows if row["method"] == name] for name in ("beacon-gls+", "gls+")
    ]
    assert first[0] == pytest.approx(first[1])


def test_guided_methods_need_a_guide_of_this_model(guide: str) -> None:
    with pytest.raises(UsageError, match="beacon needs a guide; give its folder after the queries"):
        Catalog(GRID).methods(["beacon"])
    with pytest.raises(ModelError, match="this guide is for another model"):
        Catalog(ising_grid(4, 4, seed=2), guide).methods(["beacon"])


def test_strategies_solvers_and_methods_are_taken_as_they_are() -> None:
    own = EngineMethod("my own", Greedy())
    methods = Catalog(GRID, propagate=True).methods([GlsPlus(), find_peer("brute-force"), own, "auto"])
    assert [method.name for method in methods] == ["gls+", "brute-force", "my own", "auto"]
    assert isinstance(methods[0], EngineMethod)
    assert methods[0].propagate
    assert isinstance(methods[1], PeerMethod)
    assert methods[2] is own


def test_two_methods_of_one_name_and_other_things_are_refused() -> None:
    with pytest.raises(UsageError, match=r"two methods are called 'gls\+'; give one another name"):
        Catalog(GRID).methods(["gls+", GlsPlus(penalty_weight=2.0)])
    with pytest.raises(UsageError, match="expected a method: a name, a strategy or a solver; found 3"):
        Catalog(GRID).methods([3])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["beacon-gsl+"], r"no method is called 'beacon-gsl\+'; did you mean 'beacon-gls\+'\?"),
        (["qqq"], "no method is called 'qqq'; there are: auto, greedy, "),
        (["auto", "auto"], "method 'auto' is listed twice"),
        ([], "no method to measure; there are: "),
    ],
)
def test_wrong_lists_of_methods_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_names(names)


class TestMethodsByPlace:
    def test_a_class_is_called_and_an_object_taken_as_it_is(self) -> None:
        made = Catalog(GRID).methods(["gls+", "beacon.strategies.greedy:Greedy"])
        assert [method.name for method in made] == ["gls+", "greedy"]

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("beacon.nowhere:Thing", "No module named 'beacon.nowhere'"),
            ("beacon.strategies.greedy:Thing", "has no attribute 'Thing'"),
            (":Thing", "Empty module name"),
        ],
    )
    def test_what_is_not_there_is_refused_before_any_work(self, name: str, reason: str) -> None:
        with pytest.raises(UsageError, match=rf"expected an object as package.module:name, found .*{reason}"):
            check_names([name])

    def test_what_is_no_method_is_refused(self) -> None:
        with pytest.raises(UsageError, match="expected a method: a name, a strategy or a solver"):
            Catalog(GRID).methods(["math:pi"])
