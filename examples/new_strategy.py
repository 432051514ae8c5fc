"""A strategy of one's own: simulated annealing, complete, and compared with Beacon's own.

Usage: python new_strategy.py. docs/extending.md explains it line by line.
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

import beacon
from beacon.extend import (
    REFRESH_STEPS,
    RUNNING,
    CoreState,
    FlatModel,
    Limits,
    Strategy,
    default_penalty_weight,
    flip,
    kernel,
    may_continue,
    outcome,
    random_below,
    rebuild,
)
from beacon.model.families import ising_grid

ONE = 1 << 30


class AnnealingState(NamedTuple):
    """What one search remembers between two calls of the kernel."""

    round_began: np.ndarray
    """[1] the work at which the present round of cooling began."""


@kernel
def run_annealing(
    model: FlatModel,
    core: CoreState,
    own: AnnealingState,
    hot: float,
    cold: float,
    round_work: int,
    limits: Limits,
) -> int:
    """Propose a random move, make it if it gains, or else with probability exp(gain / temperature)."""
    counters = core.counters[0]
    verdict = outcome(core, limits)
    while verdict == RUNNING and may_continue(core, limits):
        counters["work"] += 1
        if counters["work"] - own.round_began[0] >= round_work:
            own.round_began[0] = counters["work"]  # heat up again
        variable = random_below(core.rng, len(core.assignment))
        size = model.domain_sizes[variable]
        if not core.is_free[variable] or size < 2:
            continue
        value = (core.assignment[variable] + 1 + random_below(core.rng, size - 1)) % size
        first = model.move_starts[variable]
        gain = core.local_scores[first + value] - core.local_scores[first + core.assignment[variable]]
        temperature = hot * (cold / hot) ** ((counters["work"] - own.round_began[0]) / round_work)
        if gain < 0 and random_below(core.rng, ONE) >= ONE * math.exp(gain / temperature):
            continue
        flip(model, core, variable, value)
        if counters["steps"] % REFRESH_STEPS == 0:
            rebuild(model, core)  # before rounding errors can add up
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(core, limits)
    return verdict


@dataclass(frozen=True)
class Annealing(Strategy):
    """Simulated annealing that cools and heats up again for as long as it may."""

    hot: float | None = None
    """First temperature, in nats; None: the typical range of the model's tables."""
    cooling: float = 0.02
    """The last temperature of a round, as a share of the first."""
    sweeps: int = 100
    """Length of a round, in proposals per move."""

    name: ClassVar[str] = "annealing"

    def fitted(self, model: FlatModel) -> "Annealing":
        """Fill in the temperature."""
        return self if self.hot is not None else replace(self, hot=default_penalty_weight(model))

    def new_state(self, model: FlatModel, core: CoreState) -> AnnealingState:
        """Begin to cool."""
        return AnnealingState(np.zeros(1, dtype=np.int64))

    def advance(self, model: FlatModel, core: CoreState, own: AnnealingState, limits: Limits) -> int:
        """Run the kernel."""
        hot = float(self.hot or 1.0)
        round_work = self.sweeps * int(model.move_starts[-1])
        return run_annealing(model, core, own, hot, hot * self.cooling, round_work, limits)


def main() -> None:
    """Compare mean best scores on the same queries, after the same numbers of steps."""
    budgets = [1_000, 10_000, 100_000]
    model = ising_grid(30, 30, seed=1)
    queries = beacon.sample_queries(model, count=5, seed=0)
    evidences = [queries.evidence(k) for k in range(len(queries))]
    print(f"{'steps':>10}", *(f"{budget:>10,}" for budget in budgets))
    for strategy in ("greedy", "gls+", "auto", Annealing()):
        results = beacon.solve_many(model, evidences, strategy=strategy, stop=beacon.MaxSteps(budgets[-1]))
        means = np.mean([result.trace.best_at(budgets) for result in results], axis=0)
        print(f"{results[0].method:>10}", *(f"{mean:10.2f}" for mean in means))


if __name__ == "__main__":
    main()
