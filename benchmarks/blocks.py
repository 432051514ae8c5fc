"""Blocks of bounded width against forests as tree moves: mean best score over processor time.

Every method searches the same queries, one after the other; the numbers in brackets say on how many of them
the best score of all methods and times was reached.
"""

from __future__ import annotations

from time import process_time

import numpy as np
from common import load, options
from numpy.typing import NDArray

from beacon.model.graphical_model import GraphicalModel
from beacon.runner import search
from beacon.runner.stop import MaxRuntime
from beacon.solver import solve
from beacon.strategies.auto import Auto
from beacon.strategies.gls import GlsPlus
from beacon.strategies.strategy import Strategy
from beacon.strategies.tree import Tree

MODELS = (
    "grid20x20.f5.wrap",
    "grid40x40.f10",
    "grid40x40.f15.wrap",
    "grid80x80.f10",
    "pedigree18",
    "BN_32",
    "rus_20_40_9_3",
    "le450_5a_3.wcsp",
    "wcsp_14",
)
MARKS = (0.1, 0.3, 1.0, 3.0)
TOLERANCE = 1e-3
FORESTS = Tree(block_entries=0, max_region=100)


def method(name: str) -> Strategy:
    """A strategy by name: a number is blocks with tables of so many entries, auto-NUMBER a mix with them."""
    if name == "gls+":
        return GlsPlus()
    kind = name.removeprefix("auto-")
    tree = FORESTS if kind == "forests" else Tree(block_entries=int(kind))
    return Auto(tree=tree) if name.startswith("auto") else tree


def scores(
    model: GraphicalModel, queries: list[dict[int, int]], strategy: Strategy, marks: list[float], seed: int
) -> NDArray[np.float64]:
    """[queries, marks] the best score by then."""
    stop = MaxRuntime(marks[-1])
    results = [solve(model, query, strategy=strategy, stop=stop, seed=seed) for query in queries]
    return np.array([result.trace.best_after(marks) for result in results])


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.add_argument("--seconds", type=float, default=MARKS[-1], help="length of a search")
    parser.add_argument("--first", type=int, default=6, help="only so many of the queries sampled")
    parser.add_argument("--seeds", type=int, default=1, help="searches of each query")
    parser.add_argument("--methods", nargs="+", default=["forests", "64", "256", "1024"])
    arguments = parser.parse_args()
    setattr(search, "perf_counter", process_time)  # noqa: B010 - not a name that it exports
    marks = [*(mark for mark in MARKS if mark < arguments.seconds), arguments.seconds]
    print(
        f"| network | method | {' | '.join(f'{mark:g} s' for mark in marks)} |\n{'|---' * (len(marks) + 2)}|"
    )
    for network in arguments.models:
        model, queries = load(arguments.data, network, arguments.queries, arguments.seed)
        chosen = queries[: arguments.first]
        found = {
            name: np.stack(
                [scores(model, chosen, method(name), marks, seed) for seed in range(arguments.seeds)]
            )
            for name in arguments.methods
        }
        best = np.max([table[:, :, -1].max(axis=0) for table in found.values()], axis=0)
        for name, table in found.items():
            means, reached = (
                table.mean(axis=(0, 1)),
                (table >= best[None, :, None] - TOLERANCE).sum(axis=(0, 1)),
            )
            cells = [f"{mean:.3f} ({count})" for mean, count in zip(means, reached, strict=True)]
            print(f"| {network} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
