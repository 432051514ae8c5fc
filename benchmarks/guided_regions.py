"""Tree moves whose regions lie where a fast guide doubts, against plain ones from the same guided start.

A prototype, for the figures in docs/guidance.md. The centre of a region is drawn among all free variables and
taken with probability FLOOR + (1 - FLOOR) · (1 - the guide's score of its current value), else drawn again.
RUN/NETWORK holds queries.parquet and fast.guide, made by ``beacon queries`` and ``beacon train``. Mean best score
after so much processor time, and the share of queries on which guided regions are ahead (ties half).
"""

from __future__ import annotations

from pathlib import Path
from time import process_time

import numpy as np
from common import options
from numpy.typing import NDArray

from beacon.engine.core import SearchState
from beacon.engine.limits import RUNNING, Limits, may_continue, outcome
from beacon.evaluation.metrics import win_points
from beacon.formats import read_model
from beacon.guide.checkpoint import load_guide
from beacon.jit import kernel
from beacon.model.flat import FlatModel, compile_model
from beacon.query.query_set import QuerySet
from beacon.reduce.propagate import fixed_values
from beacon.rng import random_below
from beacon.runner import search as search_module
from beacon.runner.scored import given_starts, guided_start
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime
from beacon.strategies.strategy import Tree
from beacon.strategies.tree.kernel import (
    TreeConstants,
    _change_course,
    _improve_region,
    _is_idle,
    _sweep_everything,
    renew_stamps,
)

MODELS = ("grid20x20.f5.wrap", "grid40x40.f10", "BN_30")
SECONDS = (0.003, 0.01, 0.03, 0.1, 0.3)
FLOORS = (0.05, 0.3)
UNITS = 1 << 30


@kernel
def doubted(model: FlatModel, state: SearchState, scores: NDArray[np.float32], floor: float) -> int:
    """A free variable, rather one whose value the guide doubts."""
    while True:
        place = random_below(state.rng, state.counters[0]["num_free"])
        variable = state.touched[place]
        doubt = 1.0 - scores[model.move_starts[variable] + state.assignment[variable]]
        if random_below(state.rng, UNITS) < UNITS * (floor + (1.0 - floor) * doubt):
            return place


@kernel
def run_doubting(
    model: FlatModel,
    state: SearchState,
    constants: TreeConstants,
    limits: Limits,
    scores: NDArray[np.float32],
    floor: float,
) -> int:
    """As run_tree does, with other centres."""
    counters, length = state.counters[0], 0
    for variable in range(len(state.assignment)):
        if state.is_free[variable]:
            state.touched[length] = variable
            length += 1
    verdict = outcome(state, limits)
    while verdict == RUNNING and may_continue(state, limits):
        renew_stamps(state.trees)
        if counters["sweeps"] < constants.first_sweeps:
            _sweep_everything(model, state, constants)
        elif _is_idle(state, constants):
            _change_course(model, state)
        else:  # leave one centre to choose from
            place = doubted(model, state, scores, floor)
            first, chosen, num_free = state.touched[0], state.touched[place], counters["num_free"]
            state.touched[0], counters["num_free"] = chosen, 1
            _improve_region(model, state, constants)
            state.touched[0], counters["num_free"] = first, num_free
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(state, limits)
    return verdict


class DoubtingTree(Tree):
    """Tree moves with the scores of one query; without scores, plain ones."""

    scores: NDArray[np.float32] | None = None
    floor = 0.0

    def advance(self, model: FlatModel, state: SearchState, limits: Limits) -> int:
        """Run the kernel."""
        constants = self.constants(model)
        if self.scores is None:
            return super().advance(model, state, limits)
        return run_doubting(model, state, constants, limits, self.scores, self.floor)


def strategy_of(scores: NDArray[np.float32] | None, floor: float) -> DoubtingTree:
    strategy = DoubtingTree()
    object.__setattr__(strategy, "scores", scores)
    object.__setattr__(strategy, "floor", floor)
    return strategy


def measure(name: str, data: Path, folder: Path, num_queries: int, seed: int) -> None:
    model = read_model(data / "paper" / f"{name}.uai.xz")
    flat, guide = compile_model(model), load_guide(folder / "fast.guide", model)
    test = QuerySet.load(folder / "queries.parquet", model).split("test")
    evidences = [test.evidence(k) for k in range(min(num_queries, len(test)))]
    starts, scores = guided_start(model, evidences, guide, given_starts(model, evidences, "random", seed))
    ways: list[float | None] = [None, *FLOORS]
    found = np.zeros((len(ways), len(evidences), len(SECONDS)))
    for way, floor in enumerate(ways):
        for query, evidence in enumerate([evidences[0], *evidences]):  # the first one loads the kernels
            k = max(0, query - 1)
            strategy = strategy_of(None if floor is None else scores[k].copy(), floor or 0.0)
            fixed = fixed_values(flat, evidence, None)
            search = Search(flat, fixed, strategy, starts[k], seed)
            search.run(MaxRuntime(SECONDS[-1]))
            found[way, k] = search.trace.best_after(SECONDS)
    for floor, scores_of_way in zip(ways, found, strict=True):
        wins = win_points(scores_of_way, found[0]).mean(axis=0)
        cells = [
            f"{score:.2f} ({100 * win:.0f})" for score, win in zip(scores_of_way.mean(0), wins, strict=True)
        ]
        label = "plain" if floor is None else f"where the guide doubts, floor {floor:g}"
        print(f"| {name} | {label} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.set_defaults(queries=50)
    parser.add_argument("--run", type=Path, required=True)
    arguments = parser.parse_args()
    search_module.perf_counter = process_time  # type: ignore[attr-defined]
    print(f"| network | regions | {' | '.join(f'{1000 * mark:g} ms' for mark in SECONDS)} |")
    print("|---" * (2 + len(SECONDS)) + "|")
    for name in arguments.models:
        measure(name, arguments.data, arguments.run / name, arguments.queries, arguments.seed)


if __name__ == "__main__":
    main()
