"""How often GLS+ reaches the optimum that toulbar2 proves, from random starts, in a time limit on one core.

toulbar2 runs in a child process; a query whose optimum it does not prove within its limit is left out.
"""

from __future__ import annotations

import numpy as np
from common import PROVABLE_MODELS, load, options
from toulbar2 import solve_with_toulbar2

from beacon.search.solve import solve_many
from beacon.search.stop import MaxRuntime


def main() -> None:
    parser = options(__doc__, PROVABLE_MODELS)
    parser.set_defaults(queries=100)
    parser.add_argument("--method", default="gls+")
    parser.add_argument("--time", type=float, default=0.5, help="seconds for each query")
    parser.add_argument("--judge-time", type=int, default=60, help="seconds for toulbar2")
    arguments = parser.parse_args()
    print(f"{'model':16} {'proved':>6} {'reached':>7} {'mean gap':>9} {'median s to best':>17}")
    for name in arguments.models:
        model, evidences = load(arguments.data, name, arguments.queries, arguments.seed)
        judged = [(e, *solve_with_toulbar2(model, e, arguments.judge_time)) for e in evidences]
        proved = [(evidence, model.log_score(best)) for evidence, best, is_proved in judged if is_proved]
        stop = MaxRuntime(arguments.time)
        results = solve_many(
            model,
            [e for e, _ in proved],
            strategy=arguments.method,
            stop=stop,
            threads=1,
            seed=arguments.seed,
        )
        gaps = np.array(
            [optimum - result.log_score for (_, optimum), result in zip(proved, results, strict=True)]
        )
        times = [result.trace.seconds[-1] for result in results]
        reached = int(np.sum(gaps < 1e-4))
        print(
            f"{name:16} {len(proved):6} {reached:7} {gaps.mean():9.4f} {np.median(times):17.3f}", flush=True
        )


if __name__ == "__main__":
    main()
