"""How the cost of a tree move grows with the size of its region and the degree of the variables, as a plot.

Random regular pairwise models of two-valued variables, so that nothing but degree and region size changes.
A move is one region: perturbed, swept by three forests, and judged. Processor time, the fastest of --repeats.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.engine.limits import Limits
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import NO_LIMIT, Search
from beacon.strategies.tree import Tree

SIZES = (8, 16, 32, 64, 128, 256, 512)
DEGREES = (2, 3, 4, 6, 8, 16, 32)
NUM_VARIABLES = 4000


def random_regular_model(num_variables: int, degree: int, seed: int) -> GraphicalModel:
    """Every variable in about ``degree`` pairwise factors: random ends joined, loops and repeats left out."""
    rng = np.random.default_rng([seed, degree])
    ends = rng.permutation(np.repeat(np.arange(num_variables), degree)).reshape(-1, 2)
    edges = sorted({(int(min(pair)), int(max(pair))) for pair in ends if pair[0] != pair[1]})
    return GraphicalModel.from_tables(
        [2] * num_variables, [(edge, np.exp(rng.normal(size=(2, 2)))) for edge in edges]
    )


def move_microseconds(model: GraphicalModel, size: int, moves: int, repeats: int) -> float:
    """Processor time of one move once the first sweeps are over."""
    flat = compile_model(model)
    search = Search(flat, {}, Tree(min_region=size, max_region=size, restart_idle=0, block_entries=0))
    counters = search.core.counters[0]
    fastest = np.inf
    _advance(search, 20)
    for _ in range(repeats):
        first, began = int(counters["local_optima"]), process_time()
        _advance(search, moves)
        fastest = min(fastest, (process_time() - began) / (int(counters["local_optima"]) - first))
    return float(1e6 * fastest)


def _advance(search: Search, moves: int) -> None:
    """At least so many regions, in kernel calls of a size that leaves the call itself out of account."""
    counters = search.core.counters[0]
    goal, chunk = int(counters["local_optima"]) + moves, 20_000
    while counters["local_optima"] < goal:
        counters["num_events"] = 0  # nobody reads the improvements
        limits = Limits(NO_LIMIT, int(counters["work"]) + chunk, float("inf"))
        search.strategy.advance(search.model, search.core, search.own, limits)


def exponent(places: Any, costs: NDArray[np.float64]) -> float:
    """The slope on doubly logarithmic paper."""
    return float(np.polyfit(np.log(places), np.log(costs), 1)[0])


def draw(costs: NDArray[np.float64], path: Path) -> None:
    """Two panels: against region size for each degree, against degree for each region size."""
    import matplotlib  # noqa: PLC0415

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for row, degree in enumerate(DEGREES):
        left.loglog(SIZES, costs[row], marker="o", markersize=3, label=f"degree {degree}")
    for column, size in enumerate(SIZES):
        right.loglog(DEGREES, costs[:, column], marker="o", markersize=3, label=f"{size} variables")
    left.set(xlabel="variables in the region", ylabel="µs a move")
    right.set(xlabel="factors of a variable")
    for axes in (left, right):
        axes.legend(fontsize=7)
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("docs/images/tree-cost.svg"))
    parser.add_argument("--moves", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    costs = np.empty((len(DEGREES), len(SIZES)))
    print(f"| degree | {' | '.join(f'{size} variables' for size in SIZES)} | grows as size to the |")
    print("|---" * (len(SIZES) + 2) + "|")
    for row, degree in enumerate(DEGREES):
        model = random_regular_model(NUM_VARIABLES, degree, arguments.seed)
        for column, size in enumerate(SIZES):
            costs[row, column] = move_microseconds(model, size, arguments.moves, arguments.repeats)
        cells = " | ".join(f"{cost:.0f}" for cost in costs[row])
        print(f"| {degree} | {cells} | {exponent(SIZES, costs[row]):.2f} |", flush=True)
    slopes = " | ".join(f"{exponent(DEGREES, column):.2f}" for column in costs.T)
    print(f"| grows as degree to the | {slopes} | |")
    draw(costs, arguments.out)


if __name__ == "__main__":
    main()
