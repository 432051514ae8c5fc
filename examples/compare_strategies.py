"""Compare two strategies on the same sampled queries, after the same numbers of steps."""

import numpy as np

import beacon
from beacon.model.families import ising_grid

BUDGETS = [500, 2_000, 8_000, 32_000]

model = ising_grid(20, 20, seed=1)
queries = beacon.sample_queries(model, count=10, seed=0)
evidences = [queries.evidence(k) for k in range(len(queries))]

print(f"{'steps':>10}", *(f"{budget:>10,}" for budget in BUDGETS))
for strategy in ("greedy", "gls+"):
    results = beacon.solve_many(model, evidences, strategy=strategy, stop=beacon.MaxSteps(BUDGETS[-1]))
    means = np.mean([result.trace.best_at(BUDGETS) for result in results], axis=0)
    print(f"{strategy:>10}", *(f"{mean:10.2f}" for mean in means))
