"""Best scores of guided Greedy and GLS+ under different rules: candidates, stall, restarts.

Scores are those of an imagined guide (see guided.py), given once per query; no fallback.
"""

from __future__ import annotations

import numpy as np
from common import load, options

from beacon.guided.guidance import Guidance
from beacon.runner.batch import SearchBatch
from beacon.runner.stop import MaxSteps
from beacon.solver import solve_many
from guided import imagined_scores

MODELS = ("BN_30", "grid40x40.f10", "pedigree18", "le450_5a_3.wcsp")
BUDGETS = (500, 1000, 2000, 4000, 16000)
STALLS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)


def rules(weight: float) -> dict[str, Guidance]:
    """What is compared, by name."""
    found = {"unguided": Guidance(0.0)}
    for source in ("random", "guide"):
        found[f"improving, {source}"] = Guidance(weight, "improving", restart_from=source, fallback=False)
        for stall in STALLS:
            found[f"all, stall {stall:g}, {source}"] = Guidance(weight, "all", stall, source, fallback=False)
    return found


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.set_defaults(queries=8)
    parser.add_argument("--weight", type=float, default=0.5)
    arguments = parser.parse_args()
    for name in arguments.models:
        model, queries = load(arguments.data, name, arguments.queries, arguments.seed)
        teachers = solve_many(model, queries, strategy="gls+", stop=MaxSteps(100_000))
        scores = [imagined_scores(model, result.assignment, k) for k, result in enumerate(teachers)]
        print(f"{name:32}", *(f"{steps:>10}" for steps in BUDGETS))
        for strategy in ("greedy", "gls+"):
            for rule, guidance in rules(arguments.weight).items():
                batch = SearchBatch(model, queries, strategy, propagate=False)
                batch.run(BUDGETS[-1], np.array(scores), guidance)
                best = np.mean([trace.best_at(BUDGETS) for trace in batch.traces], axis=0)
                print(f"  {strategy:7} {rule:22}", *(f"{score:10.1f}" for score in best), flush=True)


if __name__ == "__main__":
    main()
