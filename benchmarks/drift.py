"""Drift: do the searches of an evaluation move towards the best known assignment?

    python benchmarks/drift.py RUN --suite benchmarks/paper.toml --data networks --steps 2000

follows the first steps of every search of single flips in the folder RUN of `beacon evaluate --suite` and
keeps what it finds in RUN/drift.parquet; `benchmarks/paper_report.py` shows it.

If every move brings a search closer to the reference with probability at least α > ½, the expected number
of moves to reach it from distance h₀ is at most h₀ / (2α − 1). That is the method's convergence theorem.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beacon.evaluation.evaluate import queries_of
from beacon.evaluation.method import EngineMethod, GuidedMethod, Method, Network, Query
from beacon.evaluation.problem import problems_of_suite
from beacon.evaluation.records import KEY, record_store
from beacon.evaluation.run_file import load_run
from beacon.evaluation.settings import Catalog, EvaluateSettings
from beacon.io.row_store import Row, RowStore
from beacon.io.work_folder import folder_lock
from beacon.query.query_set import QuerySet
from beacon.reduce.propagate import fixed_values
from beacon.runner.in_step import GuidedBatch
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps

SCHEMA = pa.schema(
    [
        ("network", pa.string()),
        ("method", pa.string()),
        ("seed", pa.int64()),
        ("query", pa.int64()),
        ("steps", pa.int64()),  # most steps that were followed
        ("moves", pa.int64()),
        ("closer", pa.int64()),
        ("start_distance", pa.int64()),
        ("hitting_step", pa.int64()),  # null: the reference was not reached
        ("reference_score", pa.float64()),
    ]
)
ENDED = ("optimal", "stalled", "nothing to search", "interrupted")


@dataclass(frozen=True)
class Reference:
    """The best assignment known of a query."""

    assignment: NDArray[np.int64]
    score: float


class Step(NamedTuple):
    """Where a search stands after one more step."""

    assignment: NDArray[np.integer]
    is_move: bool
    """Was it a single flip? A restart is a jump, and says nothing about the choice of moves."""


class Drift(NamedTuple):
    """What one search did, seen from its reference."""

    moves: int
    """Moves made at a distance above 0; jumps are not among them."""
    closer: int
    """How many of them reduced the distance."""
    start_distance: int
    """h₀: variables whose value differs from the reference's at the start."""
    hitting_step: int | None
    """The step at which the distance was 0 for the first time; None if it never was."""


def measure_drift(start: NDArray[np.integer], steps: Iterable[Step], reference: NDArray[np.integer]) -> Drift:
    """Follow a search to its end, also beyond the reference if it reaches and leaves it.

    Were the search followed only until it arrives, α would say no more than the number of moves that took.
    """
    distance = start_distance = int(np.count_nonzero(start != reference))
    moves = closer = 0
    hitting_step = None if distance else 0
    for step, taken in enumerate(steps, start=1):
        before, distance = distance, int(np.count_nonzero(taken.assignment != reference))
        moves += taken.is_move and before > 0
        closer += taken.is_move and distance < before
        hitting_step = step if hitting_step is None and distance == 0 else hitting_step
    return Drift(moves, closer, start_distance, hitting_step)


def alpha(moves: int, closer: int) -> float:
    """The share of moves that reduced the distance; nan without moves."""
    return closer / moves if moves else np.nan


def expected_hitting_bound(start_distance: float, share: float) -> float:
    """``h₀ / (2α − 1)``; infinite where α is not above one half (the theorem says nothing there)."""
    if start_distance == 0:
        return 0.0
    return start_distance / (2 * share - 1) if share > 0.5 else np.inf


def can_walk(method: Method) -> bool:
    """Is every step of the method a single flip? Tree moves change many variables at once."""
    return isinstance(method, EngineMethod) and method.strategy.flips


def walk(method: EngineMethod, network: Network, query: Query, seed: int, steps: int) -> Iterator[Step]:
    """The states of the search that the method makes of a query, step by step."""
    states = _guided_states if isinstance(method, GuidedMethod) else _engine_states
    before = query.start
    for now in states(method, network, query, seed, steps):
        yield Step(now, is_move=np.count_nonzero(now != before) == 1)
        before = now


def _engine_states(
    method: Any, network: Network, query: Query, seed: int, steps: int
) -> Iterator[NDArray[np.int64]]:
    fixed = fixed_values(network.flat, query.evidence, None, method.propagate)
    search = Search(network.flat, fixed, method.strategy, query.start, seed)
    for step in range(1, steps + 1):
        reason = search.run(MaxSteps(step))
        if search.steps < step:
            return
        yield search.core.assignment.copy()
        if reason in ENDED:
            return


def _guided_states(
    method: Any, network: Network, query: Query, seed: int, steps: int
) -> Iterator[NDArray[np.int64]]:
    guided = GuidedBatch(
        network.model,
        [query.evidence],
        method.guide,
        method.use,
        method.strategy,
        query.start,
        seed,
        propagate=method.propagate,
        log_zero=network.flat.log_zero,
        threads=1,
        yielding_start=True,
    )
    for step in range(1, steps + 1):
        guided.run_until(MaxSteps(step))
        if guided.batch.searches[0].steps < step:
            return
        yield guided.batch.assignments[0]


def drift_store(folder: Path) -> RowStore:
    """The drift of an evaluation's searches."""
    return RowStore(folder, "drift", SCHEMA, KEY, optional=("hitting_step",))


def best_references(network: str, rows: Iterable[Row]) -> dict[int, Reference]:
    """The best assignment of each query that any method found: fewest zeros first, then the score."""
    best: dict[int, Row] = {}
    for row in rows:
        if row["network"] == network and row["assignment"]:
            known = best.get(row["query"])
            if known is None or (-row["zeros"], row["score"]) > (-known["zeros"], known["score"]):
                best[row["query"]] = row
    return {
        query: Reference(np.array(row["assignment"], dtype=np.int64), row["score"])
        for query, row in best.items()
    }


def follow(
    network: Network,
    queries: QuerySet,
    methods: Sequence[Method],
    seeds: Sequence[int],
    steps: int,
    references: dict[int, Reference],
    store: RowStore,
) -> None:
    """Follow every search that the store does not hold yet."""
    done = store.keys()
    for seed in seeds:
        every = [query for query in queries_of(network, queries, seed) if query.index in references]
        for method in methods:
            if not isinstance(method, EngineMethod) or not can_walk(method):
                continue
            method.prepare(network)
            for query in every:
                if (network.name, method.name, seed, query.index) not in done:
                    reference = references[query.index]
                    taken = walk(method, network, query, seed, steps)
                    drift = measure_drift(query.start, taken, reference.assignment)
                    key = dict(zip(KEY, (network.name, method.name, seed, query.index), strict=True))
                    store.add({**key, "steps": steps, **drift._asdict(), "reference_score": reference.score})


def follow_folder(folder: Path, suite: Path, data: Path | None, steps: int) -> None:
    """Follow the searches of an evaluation of a suite."""
    run = load_run(folder)
    asked = run["settings"]
    own = {key: asked[key] for key in ("split", "limit", "count", "propagate")}
    budgets = {key: tuple(asked[key]) for key in ("steps", "seconds")}
    names = tuple(name for name in run["methods"] if " λ=" not in name)
    settings = EvaluateSettings(methods=names, **own, **budgets)
    rows = record_store(folder).rows()
    with folder_lock(folder), drift_store(folder) as store:
        for problem in problems_of_suite(suite, data)[0]:
            if problem.name in run["networks"]:
                network, queries, *_ = problem.load(settings, folder)
                catalog = Catalog(network.model, problem.guide, propagate=settings.propagate)
                methods = catalog.methods([name for name in names if name not in ("toulbar2", "daoopt")])
                follow(
                    network,
                    queries,
                    methods,
                    asked["seeds"],
                    steps,
                    best_references(network.name, rows),
                    store,
                )
        store.merge()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--suite", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--steps", type=int, default=2000)
    args = parser.parse_args()
    follow_folder(args.folder, args.suite, args.data, args.steps)
