"""Does the numbering of variables matter? Steps of GLS+ on grids numbered by rows, at random, breadth first.

Factors follow the first of their variables. Times are of the processor: what more steps take, divided by
their number; the fewest of some rounds, in which the orders take turns. Writes results/orders.csv, from which
large.py makes a table.

    python benchmarks/orders.py; python benchmarks/large.py --page
"""

from __future__ import annotations

import argparse
import csv
from time import process_time

import numpy as np
from numpy.typing import NDArray
from pages import ROOT, markdown, rows_of

from beacon.model.factors import Factors, counted
from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from beacon.model.sweep import links_of, order_of
from beacon.runner.stop import MaxSteps
from beacon.solver import solve
from beacon.strategies.gls import GlsPlus

RESULTS = ROOT / "results" / "orders.csv"
SIDES, ORDERS, ROUNDS = (100, 316), ("rows", "random", "breadth-first"), 3
COLUMNS = ("side", *ORDERS)


def renumbered(model: GraphicalModel, order: NDArray[np.int64]) -> GraphicalModel:
    """The model with its variables in this order."""
    old, place = model.factors, np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    firsts = np.minimum.reduceat(place[old.variables], old.scope_starts[:-1])
    factors = np.argsort(firsts, kind="stable")
    arities, sizes = old.arities[factors], np.diff(old.table_starts)[factors]
    scopes = np.repeat(old.scope_starts[:-1][factors], arities) + counted(arities)
    entries = np.repeat(old.bases[factors], sizes) + counted(sizes)
    return GraphicalModel.from_factors(
        Factors(model.domain_sizes[order], arities, place[old.variables[scopes]], old.log_table[entries])
    )


def step_us(model: GraphicalModel) -> float:
    """Microseconds of a step after the first descent."""
    descent, more = 2 * model.num_variables, 300_000
    strategy, seconds = GlsPlus(penalty_weight=10.0, restart_idle=0), []
    for steps in (descent, descent + more):
        began = process_time()
        solve(model, strategy=strategy, stop=MaxSteps(steps), propagate=False)
        seconds.append(process_time() - began)
    return 1e6 * (seconds[1] - seconds[0]) / more


def measure(side: int) -> dict[str, str]:
    rows = ising_grid(side, side, seed=0)
    mixed = renumbered(rows, np.random.default_rng(0).permutation(rows.num_variables))
    order = order_of(mixed.factors, links_of(mixed.factors), np.arange(mixed.num_variables))
    swept = renumbered(mixed, order)
    models = dict(zip(ORDERS, (rows, mixed, swept), strict=True))
    runs = [{name: step_us(model) for name, model in models.items()} for _ in range(ROUNDS)]
    found = {name: min(run[name] for run in runs) for name in ORDERS}
    return {"side": str(side)} | {name: f"{found[name]:.3g}" for name in ORDERS}


def table() -> str:
    """The table of the page."""
    rows = rows_of(RESULTS)
    return markdown(
        ["grid", *(f"{name}, µs" for name in ORDERS)],
        ([f"{row['side']} × {row['side']}", *(row[name] for name in ORDERS)] for row in rows),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sides", nargs="+", type=int, default=SIDES)
    arguments = parser.parse_args()
    solve(ising_grid(4, 4), strategy="gls+", stop=MaxSteps(10), propagate=False)  # load the kernels
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for side in arguments.sides:
            writer.writerow(measure(side))
            file.flush()


if __name__ == "__main__":
    main()
