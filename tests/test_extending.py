"""Strategies and guides of one's own: the examples keep every contract, by object and by name."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from new_guide import NeighbourGuide
from new_strategy import Annealing

import beacon
from beacon import plugins
from beacon.errors import BeaconError, FormatError, UsageError
from beacon.evaluation.settings import check_names
from beacon.guide.checkpoint import update_tuned
from beacon.model.families import ising_grid
from beacon.solver import default_strategy, tuned_use
from beacon.strategies.strategy import make_strategy, strategy_names
from tests.cli.helpers import run
from tests.engine.helpers import small_models, some_evidence
from tests.reference import Naive, assignments

MODELS = small_models()
POINTS = {plugins.STRATEGIES: {"annealing": Annealing}, plugins.GUIDES: {"neighbours": NeighbourGuide}}


class Point:
    """An entry point of an installed package."""

    dist = None

    def __init__(self, name: str, target: Any) -> None:
        self.name, self.target = name, target

    def load(self) -> Any:
        if isinstance(self.target, Exception):
            raise self.target
        return self.target


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """A package that is installed beside Beacon and declares both examples."""
    points = {group: dict(targets) for group, targets in POINTS.items()}

    def entry_points(*, group: str, name: str | None = None) -> list[Point]:
        return [Point(each, target) for each, target in points[group].items() if name in (None, each)]

    monkeypatch.setattr(plugins, "entry_points", entry_points)
    return points


@pytest.fixture(scope="module")
def grid_guide() -> NeighbourGuide:
    model = ising_grid(4, 4, seed=1)
    queries = beacon.sample_queries(model, count=40, query_ratio=(0.5, 0.7))
    return NeighbourGuide(model, queries.samples, queries.observed, neighbours=5)


def best_of_all(model: beacon.GraphicalModel, evidence: dict[int, int]) -> tuple[int, float]:
    """Fewest zero factors, and the best score with them, over all assignments."""
    naive = Naive(model, evidence, log_zero=-1000.0)
    return min((naive.zeros(x), -naive.score(x)) for x in assignments(model, evidence))


@pytest.mark.parametrize("name", ["grid", "coloring", "bayes", "oddities"])
def test_the_new_strategy_finds_the_optimum_of_small_models(name: str) -> None:
    model = MODELS[name]
    evidence = some_evidence(model, 2, seed=3)
    found = beacon.solve(
        model, evidence, strategy=Annealing(sweeps=10), stop=beacon.MaxSteps(5_000), log_zero=-1000.0
    )
    zeros, cost = best_of_all(model, evidence)
    assert found.method == "annealing"
    assert found.zero_factors == zeros
    assert found.floored_log_score == pytest.approx(-cost)


def test_the_new_strategy_goes_on_wherever_it_was_stopped() -> None:
    model = MODELS["grid"]
    whole, pieces = (beacon.SearchBatch(model, [{0: 1}], Annealing(sweeps=5), seed=7) for _ in range(2))
    whole.run(300)
    for _ in range(300):
        pieces.run(1)
    assert whole.assignments.tolist() == pieces.assignments.tolist()
    assert whole.traces[0].steps.tolist() == pieces.traces[0].steps.tolist()
    assert whole.gains == pytest.approx(pieces.gains, abs=1e-9)


def test_the_new_strategy_is_scaled_to_the_model() -> None:
    model = ising_grid(4, 4, seed=1)
    small, large = (
        Annealing().fitted(beacon.SearchBatch(model.scaled(scale), [{}]).flat).hot for scale in (1.0, 10.0)
    )
    assert large == pytest.approx(10 * (small or math.nan))


def test_the_new_strategy_can_be_an_arm_of_the_mix() -> None:
    model = ising_grid(8, 8, seed=1)
    mix = beacon.Auto((beacon.GlsPlus(), Annealing(sweeps=5)), first_round=2_000)
    whole, pieces = (beacon.SearchBatch(model, [{0: 1}], mix, seed=7) for _ in range(2))
    whole.run(3_000)
    for _ in range(30):
        pieces.run(100)
    assert whole.assignments.tolist() == pieces.assignments.tolist()
    assert whole.traces[0].steps.tolist() == pieces.traces[0].steps.tolist()
    alone = beacon.solve(model, {0: 1}, strategy="gls+", stop=beacon.MaxSteps(3_000), seed=7)
    assert whole.best_scores[0] >= alone.log_score - 1e-9


def test_a_strategy_that_cannot_be_made_without_settings_can_be_used() -> None:
    @dataclass(frozen=True)
    class Needy(Annealing):
        reason: str = field(kw_only=True)

    result = beacon.solve(MODELS["grid"], strategy=Needy(reason="none"), stop=beacon.MaxSteps(50))
    assert result.steps == 50


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (beacon.GlsPlus, r"expected a strategy, found the class GlsPlus; write GlsPlus\(\)"),
        (3, r"expected a strategy, such as .*; found 3: strategies derive from beacon.extend.Strategy"),
    ],
)
def test_what_is_no_strategy_is_refused(wrong: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        beacon.solve(MODELS["grid"], strategy=wrong)


@pytest.mark.usefixtures("package")
def test_an_installed_strategy_is_known_by_its_name(tmp_path: Path) -> None:
    assert make_strategy("annealing") == Annealing()
    assert strategy_names() == ["auto", "greedy", "gls+", "tree", "annealing"]
    check_names(["gls+", "annealing"])
    beacon.write_model(MODELS["grid"], tmp_path / "grid.uai")
    solved = run("solve", tmp_path / "grid.uai", "--method", "annealing", "--steps", 100, "--json", "--quiet")
    assert solved.json["method"] == "annealing"


@pytest.mark.usefixtures("package")
def test_an_unknown_name_lists_installed_strategies_too() -> None:
    with pytest.raises(UsageError, match=r"there are: auto, greedy, gls\+, tree, annealing$"):
        make_strategy("anealing")


def test_a_package_that_cannot_be_loaded_is_named(package: dict[str, dict[str, Any]]) -> None:
    package[plugins.STRATEGIES]["broken"] = ImportError("No module named 'nowhere'")
    message = "an installed package offers 'broken' and cannot be loaded: No module named 'nowhere'"
    with pytest.raises(BeaconError, match=message):
        make_strategy("broken")


def test_the_new_guide_votes_by_the_most_similar_queries() -> None:
    model = ising_grid(2, 2)
    references = np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 1]])
    observed = np.array([[True, False, False, False]] * 3)
    guide = NeighbourGuide(model, references, observed, neighbours=2)
    scores = guide.probabilities(np.array([[1, 0, 0, 0]]), observed[:1]).reshape(4, 2)
    assert scores[1:] == pytest.approx(np.array([[0.75, 0.25], [0.75, 0.25], [0.5, 0.5]]))  # 0, 0, undecided


def test_the_new_guide_scores_as_guides_must(grid_guide: NeighbourGuide) -> None:
    model = ising_grid(4, 4, seed=1)
    batch = beacon.SearchBatch(model, [{0: 1}, {3: 0, 5: 1}, {}], "gls+")
    scores = grid_guide.score(batch)
    assert scores.shape == (3, 32)
    assert scores.dtype == np.float32
    assert scores.reshape(3, 16, 2).sum(axis=2) == pytest.approx(1)
    alone = grid_guide.score(beacon.SearchBatch(model, [{3: 0, 5: 1}], "gls+"))
    assert alone[0].tolist() == scores[1].tolist()


@pytest.mark.usefixtures("package")
def test_the_new_guide_is_read_from_its_folder_by_its_kind(
    grid_guide: NeighbourGuide, tmp_path: Path
) -> None:
    model = ising_grid(4, 4, seed=1)
    grid_guide.save(tmp_path / "guide")
    loaded = beacon.load_guide(tmp_path / "guide", model)
    assert isinstance(loaded, NeighbourGuide)
    batch = beacon.SearchBatch(model, [{0: 1}], "gls+")
    assert loaded.score(batch).tolist() == grid_guide.score(batch).tolist()
    stop = beacon.MaxSteps(50)
    by_path, by_object = (
        beacon.solve(model, {0: 1}, guide=g, stop=stop) for g in (tmp_path / "guide", grid_guide)
    )
    assert by_path.trace.scores.tolist() == by_object.trace.scores.tolist()


@pytest.mark.usefixtures("package")
def test_what_tuning_found_stays_with_the_new_guide(grid_guide: NeighbourGuide, tmp_path: Path) -> None:
    grid_guide.save(tmp_path / "guide")
    update_tuned(tmp_path / "guide", {"strategy": "gls+", "use": {"start": "random"}})
    loaded = beacon.load_guide(tmp_path / "guide", ising_grid(4, 4, seed=1))
    assert tuned_use(loaded) == beacon.GuideUse(start="random")
    assert default_strategy(loaded, tuned_use(loaded)) == "gls+"


def test_without_its_package_a_guide_is_refused(grid_guide: NeighbourGuide, tmp_path: Path) -> None:
    grid_guide.save(tmp_path / "guide")
    with pytest.raises(FormatError, match="found 'neighbours'; install the package that made it"):
        beacon.load_guide(tmp_path / "guide", ising_grid(4, 4, seed=1))
