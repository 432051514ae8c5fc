"""A strategy of one's own: simulated annealing, complete, and compared with Beacon's own.

Usage: python new_strategy.py. docs/extending.md explains it line by line.
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

import beacon
from beacon.extend import (
    REFRESH_STEPS,
    RUNNING,
    FlatModel,
    Limits,
    SearchState,
    default_penalty_weight,
    flip,
    inlined,
    kernel,
    may_continue,
    outcome,
    random_below,
    rebuild,
)
from beacon.model.families import ising_grid

ONE = 1 << 30


@inlined
def temperature(hot: float, cold: float, round_work: int, work: int) -> float:
    """Falls from hot to cold, then begins again; counted in work, so it is the same on every machine."""
    return hot * (cold / hot) ** ((work % round_work) / round_work)


@kernel
def run_annealing(
    model: FlatModel, state: SearchState, hot: float, cold: float, round_work: int, limits: Limits
) -> int:
    """Propose a random move, make it if it gains, or else with probability exp(gain / temperature)."""
    counters = state.counters[0]
    verdict = outcome(state, limits)
    while verdict == RUNNING and may_continue(state, limits):
        counters["work"] += 1
        variable = random_below(state.rng, len(state.assignment))
        size = model.domain_sizes[variable]
        if not state.is_free[variable] or size < 2:
            continue
        value = (state.assignment[variable] + 1 + random_below(state.rng, size - 1)) % size
        first = model.move_starts[variable]
        gain = state.local_scores[first + value] - state.local_scores[first + state.assignment[variable]]
        heat = temperature(hot, cold, round_work, counters["work"])
        if gain < 0 and random_below(state.rng, ONE) >= ONE * math.exp(gain / heat):
            continue
        flip(model, state, variable, value, False)
        if counters["steps"] % REFRESH_STEPS == 0:
            rebuild(model, state)  # before rounding errors can add up
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(state, limits)
    return verdict


@dataclass(frozen=True)
class Annealing:
    """Simulated annealing that cools and heats up again for as long as it may."""

    hot: float | None = None
    """First temperature, in nats; None: the typical range of the model's tables."""
    cooling: float = 0.02
    """The last temperature of a round, as a share of the first."""
    sweeps: int = 100
    """Length of a round, in proposals per move."""

    name: ClassVar[str] = "annealing"
    penalising: ClassVar[bool] = False
    growing: ClassVar[bool] = False
    block_entries: ClassVar[int] = 0
    patience: ClassVar[float] = math.inf  # no matter how many local optima it meets

    def fitted(self, model: FlatModel) -> "Annealing":
        """Fill in the temperature."""
        return self if self.hot is not None else replace(self, hot=default_penalty_weight(model))

    def prepare(self, model: FlatModel, state: SearchState) -> None:
        """Nothing to set up."""

    def advance(self, model: FlatModel, state: SearchState, limits: Limits) -> int:
        """Run the kernel."""
        hot = float(self.hot or 1.0)
        round_work = self.sweeps * int(model.move_starts[-1])
        return run_annealing(model, state, hot, hot * self.cooling, round_work, limits)


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
