"""What the settings of GLS+ are worth: the tables of research/gls-settings.md, made again.

Every variant changes one thing of the default and searches the same queries, on one thread. Prints Markdown:
what propagation leaves to the search; for each budget the mean best floored score of the first variant and
how much the others differ from it (+ is better); and the time per step. The variants take turns on each
query and the fastest query counts, so that a busy machine disturbs the times little.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from common import load, options

from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.propagate import implied_values
from beacon.runner.batch import SearchBatch
from beacon.runner.result import Result
from beacon.runner.stop import MaxSteps
from beacon.solver import solve
from beacon.strategies.gls import GlsPlus, default_penalty_weight

MODELS = (
    "BN_30",
    "BN_32",
    "pedigree30",
    "Promedas_60",
    "grid20x20.f5.wrap",
    "grid40x40.f10",
    "le450_5a_4.wcsp",
    "rus_20_40_9_3",
    "1405.wcsp",
)
BUDGETS = (1_000, 4_000, 30_000, 150_000)
FEWEST_STEPS = 1_000  # a search that ends sooner says nothing about the time of a step

Evidences = list[dict[int, int]]
Table = dict[str, list[str]]  # a row of cells for each model


@dataclass(frozen=True)
class Variant:
    """What differs from the default."""

    weight: float = 1.0
    """Factor on the default penalty weight."""
    propagate: bool = True
    other_seed: bool = False
    """Changes nothing but the randomness: differences of this size are noise."""
    settings: dict[str, Any] = field(default_factory=dict)


VARIANTS = {
    "default": Variant(),
    "another seed": Variant(other_seed=True),
    "weight*0.01": Variant(weight=0.01),
    "weight*0.1": Variant(weight=0.1),
    "weight*10": Variant(weight=10),
    "smooth 0.999/200": Variant(settings={"smoothing": 0.999, "smoothing_interval": 200}),
    "smooth 0.9/1000": Variant(settings={"smoothing": 0.9, "smoothing_interval": 1000}),
    "published utilities": Variant(settings={"relative_utilities": False}),
    "no restarts": Variant(settings={"restart_idle": 0.0}),
    "no harvests": Variant(settings={"harvest_share": 0.0}),
    "no propagation": Variant(propagate=False),
}


def run_variant(
    model: GraphicalModel, evidence: dict[int, int], variant: Variant, steps: int, seed: int
) -> Result:
    weight = variant.weight * default_penalty_weight(compile_model(model))
    return solve(
        model,
        evidence,
        strategy=GlsPlus(penalty_weight=weight, **variant.settings),
        stop=MaxSteps(steps),
        propagate=variant.propagate,
        seed=seed + variant.other_seed,
    )


def structure_cells(model: GraphicalModel, evidences: Evidences) -> list[str]:
    """Share of the query variables that propagation decides, its time, and the parts before and after."""
    flat = compile_model(model)
    implied_values(flat, {})  # compiles
    clock = [perf_counter()]
    for evidence in evidences:
        implied_values(flat, evidence)
        clock.append(perf_counter())
    milliseconds = 1e3 * np.median(np.diff(clock))
    free, parts = zip(*(_free_and_parts(model, evidences, on) for on in (False, True)), strict=True)
    decided = 1 - np.mean(free[1] / free[0])
    return [f"{decided:.0%}", f"{milliseconds:.2f}", f"{parts[0].mean():.1f}", f"{parts[1].mean():.1f}"]


def _free_and_parts(model: GraphicalModel, evidences: Evidences, propagate: bool) -> tuple[Any, Any]:
    states = [search.core for search in SearchBatch(model, evidences, propagate=propagate).searches]
    free = np.array([int(state.counters[0]["num_free"]) for state in states])
    return free, np.array([len(state.parts) for state in states])


def score_cells(runs: list[list[Result]], budget: int) -> list[str]:
    """The first variant's mean score, and how much better or worse the others are."""
    first, *others = (float(np.mean([result.trace.best_at(budget) for result in run])) for run in runs)
    return [f"{first:.2f}", *(f"{x - first:+.2f}" if abs(x - first) >= 0.005 else "=" for x in others)]


def time_cell(run: list[Result]) -> str:
    """Microseconds per step on the query where they are fewest."""
    times = [1e6 * result.seconds / result.steps for result in run if result.steps >= FEWEST_STEPS]
    return f"{min(times):.2f}" if times else "none"


def print_table(title: str, columns: list[str], rows: Table) -> None:
    print(f"\n{title}\n\n| model | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for model, cells in rows.items():
        print(f"| {model} | {' | '.join(cells)} |")


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.set_defaults(queries=8)
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS), help="steps")
    arguments = parser.parse_args()
    steps, names = max(arguments.budgets), arguments.variants
    scores: dict[int, Table] = {budget: {} for budget in arguments.budgets}
    times: Table = {}
    structure: Table = {}
    for name in arguments.models:
        print(f"searching {name} …", file=sys.stderr)
        model, evidences = load(arguments.data, name, arguments.queries, arguments.seed)
        structure[name] = structure_cells(model, evidences)
        by_query = [
            [run_variant(model, evidence, VARIANTS[variant], steps, arguments.seed) for variant in names]
            for evidence in evidences
        ]
        runs = [list(run) for run in zip(*by_query, strict=True)]
        for budget, rows in scores.items():
            rows[name] = score_cells(runs, budget)
        times[name] = [time_cell(run) for run in runs]
    print_table("What propagation leaves", ["decided", "ms", "parts before", "parts after"], structure)
    for budget, rows in scores.items():
        print_table(f"Mean best floored score after {budget:,} steps", names, rows)
    print_table("Microseconds per step", names, times)


if __name__ == "__main__":
    main()
