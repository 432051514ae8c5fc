"""How often GLS+ reaches the optimum that toulbar2 proves, from random starts, in a time limit on one core.

toulbar2 runs in a child process; a query whose optimum it does not prove within its limit is left out. With
``--processor-time`` the seconds are those that the search has the processor: for a machine with other work.
"""

from __future__ import annotations

from time import process_time

import numpy as np
from common import PROVABLE_MODELS, load, options
from toulbar2 import solve_with_toulbar2

from beacon.model.evidence import Evidence
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.propagate import with_implied
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime, MaxSteps
from beacon.runner.warm_up import warm_up
from beacon.solver import solve_many
from beacon.strategies.gls import GlsPlus
from beacon.strategies.strategy import Strategy, make_strategy

SLICE = 10_000  # steps between two looks at the processor's clock


def best_scores(
    model: GraphicalModel, evidences: list[Evidence], strategy: Strategy, seconds: float, seed: int
) -> list[float]:
    """What a search of so many seconds finds for each query."""
    stop = MaxRuntime(seconds)
    results = solve_many(model, evidences, strategy=strategy, stop=stop, threads=1, seed=seed)
    return [result.log_score for result in results]


def best_scores_in_processor_time(
    model: GraphicalModel, evidences: list[Evidence], strategy: Strategy, seconds: float, seed: int
) -> list[float]:
    """The same where the seconds count only while the search has the processor."""
    flat, scores = compile_model(model), []
    warm_up(strategy)
    for evidence in evidences:
        search = Search(flat, with_implied(flat, evidence, None), strategy, seed=seed)
        end, reason = process_time() + seconds, "steps"
        while process_time() < end and reason == "steps":
            reason = search.run(MaxSteps(search.steps + SLICE))
        scores.append(model.log_score(search.best_assignment))
    return scores


def chosen_strategy(method: str, harvest_share: float | None) -> Strategy:
    """A strategy by name, or GLS+ with another share of harvests."""
    return make_strategy(method) if harvest_share is None else GlsPlus(harvest_share=harvest_share)


def main() -> None:
    parser = options(__doc__, PROVABLE_MODELS)
    parser.set_defaults(queries=100)
    parser.add_argument("--method", default="gls+")
    parser.add_argument("--harvest-share", type=float, help="that setting of GLS+")
    parser.add_argument("--time", type=float, default=0.5, help="seconds for each query")
    parser.add_argument("--processor-time", action="store_true", help="count seconds of the processor")
    parser.add_argument("--judge-time", type=int, default=60, help="seconds for toulbar2")
    arguments = parser.parse_args()
    strategy = chosen_strategy(arguments.method, arguments.harvest_share)
    search = best_scores_in_processor_time if arguments.processor_time else best_scores
    print(f"{'model':16} {'proved':>6} {'reached':>7} {'mean gap':>9}")
    for name in arguments.models:
        model, evidences = load(arguments.data, name, arguments.queries, arguments.seed)
        judged = [(e, *solve_with_toulbar2(model, e, arguments.judge_time)) for e in evidences]
        proved = [(evidence, model.log_score(best)) for evidence, best, is_proved in judged if is_proved]
        found = search(model, [e for e, _ in proved], strategy, arguments.time, arguments.seed)
        gaps = np.array([optimum for _, optimum in proved]) - found
        print(f"{name:16} {len(proved):6} {np.sum(gaps < 1e-4):7} {gaps.mean():9.4f}", flush=True)


if __name__ == "__main__":
    main()
