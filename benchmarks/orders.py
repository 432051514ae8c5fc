"""Does the numbering of variables matter? Steps of GLS+ on grids numbered by rows, at random, breadth first.

Factors follow the first of their variables. Times are of the processor: what more steps take, divided by
their number; from the shortest of some rounds, in which the orders take turns. Writes results/orders.csv,
from which large.py makes a table.

    python benchmarks/orders.py; python benchmarks/large.py --page
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
from numpy.typing import NDArray
from pages import ROOT, markdown, replace_row, rows_of

from beacon.model.factors import Factors, counted
from beacon.model.families import ising_grid
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.model.sweep import links_of, order_of
from beacon.runner.stop import MaxSteps
from beacon.solver import solve
from beacon.strategies.gls import GlsPlus

RESULTS = ROOT / "results" / "orders.csv"
SIDES, ORDERS, ROUNDS = (100, 316, 1000), ("rows", "random", "breadth-first"), 3
DESCENT = 2  # steps for each variable: the first descent is over


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


def seconds_of(model: GraphicalModel) -> tuple[float, float]:
    """What the first descent takes, and what it takes with more steps."""
    strategy, seconds = GlsPlus(penalty_weight=10.0, restart_idle=0), []
    for steps in (DESCENT * model.num_variables, DESCENT * model.num_variables + more_steps(model)):
        began = process_time()
        solve(model, strategy=strategy, stop=MaxSteps(steps), propagate=False)
        seconds.append(process_time() - began)
    return seconds[0], seconds[1]


def more_steps(model: GraphicalModel) -> int:
    """Enough of them to tell their time from that of the descent."""
    return max(300_000, model.num_variables)


def measure(side: int) -> dict[str, str]:
    """Microseconds of a step after the first descent, for each order."""
    rows = ising_grid(side, side, seed=0)
    mixed = renumbered(rows, np.random.default_rng(0).permutation(rows.num_variables))
    order = order_of(mixed.factors, links_of(mixed.factors), np.arange(mixed.num_variables))
    models = dict(zip(ORDERS, (rows, mixed, renumbered(mixed, order)), strict=True))
    for model in models.values():
        compile_model(model)  # once for all searches: outside the clock
    runs = [{name: seconds_of(model) for name, model in models.items()} for _ in range(ROUNDS)]
    found = {"side": str(side)}
    for name, model in models.items():
        descent, whole = (min(run[name][k] for run in runs) for k in (0, 1))
        found[name] = f"{1e6 * (whole - descent) / more_steps(model):.3g}"
    return found


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
    for side in arguments.sides:
        replace_row(RESULTS, measure(side))


if __name__ == "__main__":
    main()
