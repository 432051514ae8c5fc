"""Time until the best score is within 0.1 % of the best known: the tuned default against no guide.

RUN/NETWORK holds queries.parquet and a tuned fast.guide (``beacon queries``, ``train``, ``tune``). Both
search with the strategy that tuning chose, with propagation, on the test queries, one core; clocks count
set-up and scoring. The two take turns, and the medians of all rounds are compared. Clocks count processor
time, so that a busy machine does no harm; with --wall they count what the library's own do.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time

import numpy as np
from common import options
from numpy.typing import NDArray

from beacon.evaluation.method import Budget, Method, Network, Run
from beacon.evaluation.methods import EngineMethod, GuidedMethod
from beacon.evaluation.session import queries_of
from beacon.formats import read_model
from beacon.guide.checkpoint import load_guide
from beacon.model.flat import compile_model
from beacon.query.query_set import QuerySet
from beacon.runner import in_step, runner, scored, search
from beacon.solver import default_strategy, tuned_use
from beacon.strategies.strategy import make_strategy

MODELS = (
    "BN_30",
    "pedigree18",
    "Promedas_60",
    "grid20x20.f5.wrap",
    "le450_5a_3.wcsp",
    "rus_20_40_9_3",
    "1405.wcsp",
)
WITHIN = 1e-3


def contenders(network: Network, folder: Path) -> list[Method]:
    """The strategy that tuning chose, by itself and with the guide."""
    guide = load_guide(folder / "fast.guide", network.model)
    use = tuned_use(guide)
    strategy = make_strategy(default_strategy(guide, use))
    methods: list[Method] = [
        EngineMethod("unguided", strategy, propagate=True),
        GuidedMethod("tuned", strategy, propagate=True, baseline="unguided", guide=guide, use=use),
    ]
    for method in methods:
        method.prepare(network)
    return methods


def spent_on(run: Run, target: float) -> tuple[float, float, float]:
    """Seconds until the target was reached (infinite if never), those of set-up, and steps."""
    reached = np.flatnonzero(run.trace.scores >= target)
    if not len(reached):
        return np.inf, run.setup_seconds, np.inf
    return run.trace.seconds[reached[0]], run.setup_seconds, run.trace.steps[reached[0]]


def times(network: Network, queries: QuerySet, methods: list[Method], seconds: float, rounds: int) -> NDArray:
    """[3, methods, rounds x queries] seconds to the target, those of set-up, and steps to the target."""
    asked = queries_of(network, queries, 0)
    budget = Budget((1,), (seconds,))
    runs = [
        [[run for _, run in _in_order(method, network, asked, budget, seed)] for method in methods]
        for seed in range(rounds)
    ]
    best = np.max([[[run.trace.scores[-1] for run in rows] for rows in row] for row in runs], axis=(0, 1))
    targets = best - WITHIN * np.maximum(1.0, np.abs(best))
    spent = [
        [spent_on(run, target) for run, target in zip(rows, targets, strict=True)]
        for row in runs
        for rows in row
    ]
    return (
        np.array(spent).reshape(rounds, len(methods), len(asked), 3).transpose(3, 1, 0, 2).reshape(3, 2, -1)
    )


def _in_order(method: Method, network: Network, asked: list, budget: Budget, seed: int) -> list:
    answers = method.run(network, asked, budget, seed, 1)
    return sorted(answers, key=lambda answer: asked.index(answer[0]))


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.set_defaults(queries=100)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--wall", action="store_true")
    arguments = parser.parse_args()
    if not arguments.wall:
        for module in (in_step, runner, scored, search):
            module.perf_counter = process_time  # type: ignore[attr-defined]
    head = ["network", "strategy", "set-up, unguided", "guided", "steps, unguided", "guided"]
    head += ["unguided, median", "reached", "tuned", "reached", "ratio"]
    print(f"| {' | '.join(head)} |", "|---" * len(head) + "|", sep="\n")
    for name in arguments.models:
        model = read_model(arguments.data / "paper" / f"{name}.uai.xz")
        network, folder = Network(name, model, compile_model(model)), arguments.run / name
        queries = QuerySet.load(folder / "queries.parquet", model).split("test")
        methods = contenders(network, folder)
        spent = times(network, queries, methods, arguments.seconds, arguments.rounds)
        (plain, tuned), setups, steps = spent
        cells = [f"{1e3 * np.median(setup):.2f} ms" for setup in setups]
        cells += [f"{np.median(number):.0f}" for number in steps]
        for spent in (plain, tuned):
            cells += [f"{1e3 * np.median(spent):.2f} ms", f"{100 * np.isfinite(spent).mean():.0f}%"]
        ratio = np.median(tuned) / np.median(plain)
        print(f"| {name} | {methods[1].strategy.name} | {' | '.join(cells)} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
