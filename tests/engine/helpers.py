"""Small models of every family, and the one place where tests look into the state of a search."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from beacon.engine.core import draw_assignment
from beacon.engine.incumbent import Limits, note_all_changed, save_all_best
from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import NO_LIMIT, Search
from beacon.strategies.gls import GlsState
from beacon.strategies.strategy import Strategy
from tests.reference import Naive

Penalties = dict[tuple[int, tuple[int, ...]], np.float32]

ODDITIES = GraphicalModel.from_tables(
    [2, 1, 3, 2, 4, 2],
    [
        ((), [0.5]),  # a constant
        ((1,), [-0.3]),  # a variable with a single value
        ((0, 2), [-np.inf, 0.0, -1.0, -2.0, -np.inf, -0.5]),
        ((0, 2), [-1.0, -2.0, 0.3, 0.0, 0.0, -4.0]),  # two factors over the same pair
        ((2, 4, 0), [-np.inf if k % 5 == 0 else -0.7 * (k % 5) for k in range(24)]),
        ((4,), [0.1, 2.0, -1.0, 0.0]),
        ((1, 4), [0.0, 0.0, -3.0, 1.0]),
        ((5, 0), [-7.0, 0.0, 0.0, -1.0]),  # variable 3 is in no factor
    ],
)


def many_values(sizes: Sequence[int] = (9, 12, 1, 10, 11), zeros: float = 0.1) -> GraphicalModel:
    """A table for every pair of variables, some entries zero, and one for every variable."""
    rng, n = np.random.default_rng(0), len(sizes)
    scopes = [
        *((i,) for i in range(n)),
        *((j, i) if (i + j) % 2 else (i, j) for j in range(n) for i in range(j)),
    ]
    tables = [rng.normal(size=[sizes[i] for i in scope]) for scope in scopes]
    for table in tables:
        table[rng.random(table.shape) < zeros] = -np.inf
    return GraphicalModel.from_tables(sizes, list(zip(scopes, tables, strict=True)))


def small_models() -> dict[str, GraphicalModel]:
    """One small model of each family, and one with everything unusual in it."""
    return {
        "grid": families.ising_grid(rows=3, columns=3, wrap=True, seed=1),
        "diagnosis": families.diagnosis(num_diseases=4, num_findings=2, min_causes=2, max_causes=2, seed=1),
        "dbn": families.deep_belief_net(width=2, height=2, hidden=(3, 2), seed=1),
        "coloring": families.weighted_coloring(num_vertices=7, density=0.6, num_colors=3, seed=1),
        "bayes": families.random_bayes_net(num_variables=9, max_domain=3, zero_fraction=0.3, seed=1),
        "pedigree": families.pedigree(num_founders=2, num_children=1, num_loci=1, max_alleles=3, seed=1),
        "many values": many_values(),
        "oddities": ODDITIES,
    }


def some_evidence(model: GraphicalModel, count: int, seed: int) -> dict[int, int]:
    """Random values for a few random variables."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(model.num_variables, size=min(count, model.num_variables - 1), replace=False)
    return {int(i): int(rng.integers(model.domain_sizes[i])) for i in chosen}


def new_search(model: GraphicalModel, evidence: dict[int, int], strategy: Strategy, seed: int = 0) -> Search:
    """A search at a random start."""
    return Search(compile_model(model), evidence, strategy, seed=seed, begin=draw_assignment)


def standing(search: Search) -> list[int]:
    """The current assignment of a search."""
    values: list[int] = search.core.assignment.tolist()
    return values


def put(search: Search, assignment: Sequence[int]) -> None:
    """Let a search go on from another assignment, as an arm of the mix does."""
    save_all_best(search.core)
    search.core.assignment[:] = assignment
    search.strategy.settle(search.model, search.core, search.own)
    note_all_changed(search.core)


def free_variables(search: Search) -> list[int]:
    """The variables that a search may change."""
    return np.flatnonzero(search.core.is_free).tolist()


def work_done(search: Search) -> int:
    """What a search has done so far, in links looked at."""
    return int(search.core.counters[0]["work"])


def advance(search: Search, work: int = 1) -> int:
    """Call the kernel once, for this much work; by default for one flip, restart or penalty."""
    limits = Limits(NO_LIMIT, work_done(search) + work, math.inf)
    return search.strategy.advance(search.model, search.core, search.own, limits)


def parts_of(search: Search) -> set[frozenset[int]]:
    """The independent parts of the query, as sets of variables."""
    labels = search.core.part_of
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in range(len(search.core.parts))}


def tops_of(search: Search) -> list[float]:
    """The largest log-potential of each factor that the evidence leaves possible."""
    values: list[float] = search.core.tops.tolist()
    return values


def upper_bound(search: Search) -> float:
    """The sum of these."""
    return float(search.core.counters[0]["upper_bound"])


def penalties_of(search: Search, model: GraphicalModel) -> Penalties:
    """The penalties of GLS+, by factor and values of its scope."""
    found, starts = {}, search.model.table_starts
    for factor, start in enumerate(starts[:-1]):
        shape = model.factors[factor].log_table.shape
        for offset, values in enumerate(np.ndindex(shape)):
            found[factor, tuple(map(int, values))] = search.own.penalties[start + offset]
    return found


def check_against_naive(search: Search, naive: Naive) -> None:
    """Everything that a search keeps up to date equals its naive recomputation."""
    x, flat = standing(search), search.model
    scale = 1e-7 * (1 + abs(naive.score(x)) + naive.weight * 100)
    assert search.score == pytest.approx(naive.score(x), abs=scale)
    assert search.zeros == naive.zeros(x)
    if search.strategy.flips:
        for i in free_variables(search):
            local = search.core.local_scores[flat.move_starts[i] : flat.move_starts[i + 1]]
            gains = {v: naive.gain(x, (i, v)) for v in range(len(local)) if v != x[i]}
            for v, gain in gains.items():
                assert local[v] - local[x[i]] == pytest.approx(gain, abs=scale)
            assert search.core.gains[i] == pytest.approx(max(gains.values()), abs=scale)
    if isinstance(search.own, GlsState):
        for factor in range(naive.model.num_factors):
            assert search.own.penalties[search.core.entries[factor]] == naive.penalty(factor, x)
            assert search.own.utilities.tree[factor] == naive.utility(factor, x)


def check_best(search: Search, naive: Naive) -> None:
    """The best assignment has the score and the zeros that the search says, and keeps the evidence."""
    best = search.best_assignment.tolist()
    assert search.best_zeros == naive.zeros(best)
    assert search.best_score == pytest.approx(naive.score(best), abs=1e-6)
    assert {i: best[i] for i in naive.evidence} == dict(naive.evidence)
