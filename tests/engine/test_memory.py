"""What one search takes: a few times the model's tables, from the first step to the last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beacon.formats import read_model
from beacon.model import families
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.auto import Auto
from beacon.strategies.strategy import STRATEGIES, make_strategy
from tests.engine.helpers import new_search

FAMILIES: dict[str, dict[str, Any]] = {
    "grid": {"rows": 40, "columns": 40, "wrap": True},
    "diagnosis": {"num_diseases": 400, "num_findings": 300},
    "dbn": {"width": 20, "height": 20, "hidden": (40, 20)},
    "coloring": {"num_vertices": 450, "num_colors": 5},
    "bayes": {"num_variables": 1000},
    "pedigree": {},
}
PAPER_MODELS = [
    "BN_30",
    "pedigree18",
    "Promedas_60",
    "grid40x40.f15.wrap",
    "1405.wcsp",
    "le450_5a_3.wcsp",
    "rus_20_40_9_3",
]


def arrays(state: Any) -> Iterator[np.ndarray]:
    """All arrays of a state, and of the states in it."""
    if isinstance(state, np.ndarray):
        yield state
    elif is_dataclass(state):
        for field in fields(state):
            yield from arrays(getattr(state, field.name))
    elif isinstance(state, tuple | list):
        for field in state:
            yield from arrays(field)


def sizes_of(search: Search) -> list[int]:
    """Bytes of each array of a search; arms of the mix share some."""
    found = {id(array): array.nbytes for array in arrays([search.core, search.own])}
    return list(found.values())


def begun(model: GraphicalModel, strategy: str) -> Search:
    """A search that has all its state: an arm of a mix has none before its first turn."""
    plan = make_strategy(strategy)
    search = new_search(model, {}, replace(plan, first_round=1) if isinstance(plan, Auto) else plan)
    search.run(MaxSteps(50))
    return search


def check_size(model: GraphicalModel, strategy: str) -> None:
    taken, tables = sum(sizes_of(begun(model, strategy))), 8 * model.num_entries
    has_blocks = strategy in {"tree", "auto"}
    times = {"tree": 7, "auto": 12}.get(strategy, 5)  # tree moves need marks, each arm of the mix a core
    room = 64 * 1024 + (192 * 1024 if has_blocks else 0)  # blocks take the same for all models
    assert taken <= times * tables + room, f"{taken / tables:.2f} times the tables"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_search_takes_a_few_times_the_tables(family: str, strategy: str) -> None:
    check_size(families.FAMILIES[family](**FAMILIES[family]), strategy)


@pytest.mark.parametrize("name", PAPER_MODELS)
def test_a_search_of_a_published_model_takes_a_few_times_the_tables(name: str, benchmark_files: Path) -> None:
    model = read_model(benchmark_files / "paper" / f"{name}.uai.xz")
    for strategy in STRATEGIES:
        check_size(model, strategy)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_array_grows_however_long_the_search(strategy: str) -> None:
    search = begun(families.ising_grid(rows=10, columns=10, wrap=True, seed=0), strategy)
    sizes = sizes_of(search)
    search.run(MaxSteps(1000))
    rows = len(search.trace)
    search.run(MaxSteps(100_000))
    assert sizes_of(search) == sizes
    assert len(search.trace) < rows + 100  # the record grows with improvements, not with steps


def test_one_variable_of_many_values_does_not_cost_memory_for_all_others() -> None:
    chain = [((i, i + 1), [0.0, -1.0, -1.0, 0.0]) for i in range(1, 5000)]
    model = GraphicalModel.from_tables([2000] + [2] * 5000, [((0,), np.zeros(2000)), *chain])
    for strategy in STRATEGIES:
        check_size(model, strategy)
