"""Guided search with scores that know nothing, or little: what is the guide's, and what the rule's?

    python benchmarks/controls.py --data DATA --run RUN

The rule (λ, candidates, restarts, turns without the guide) is what was chosen for the trained guide of each
network; queries and starts are those of the reproduction. Scores are the same for all moves (``constant``),
drawn once for every query and value (``random``), or the share of a value among the answers to 200 training
queries (``frequencies``: the guides of ``clock_tuned.py``, in RUN). Best scores of every test query go to
results/controls.parquet; a network that it has already is left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from clock_tuned import tuned
from lockstep import Lockstep, Scorer, run_together
from numpy.typing import NDArray
from reproduce_stages import BUDGETS, STRATEGIES, Job, Shop, unguided
from rerun import check_same, rerun, without_references

from beacon.guide.checkpoint import load_guide
from beacon.guided.guidance import GuideUse
from beacon.strategies.strategy import make_strategy

NAMES = ("network", "queries", "method", "control", "query", "steps", "score")


def constant(shop: Shop) -> Scorer:
    """The same score for all moves."""
    return lambda assignments, observed, moves: np.zeros(moves.shape, np.float32)


def random(shop: Shop) -> Scorer:
    """A number between 0 and 1 for every query and value, the same at all steps."""
    rng = np.random.default_rng(shop.job.seed)
    of_value, of_query = rng.random(shop.flat.num_moves), rng.random(shop.model.num_variables)

    def score(_: Any, observed: NDArray[np.bool_], moves: NDArray[np.int32]) -> NDArray[np.float32]:
        return np.float32((of_value[moves] + (observed @ of_query)[:, None]) % 1)

    return score


def frequencies(shop: Shop) -> Scorer:
    """How often the answers to training queries have a value."""
    guide: Any = load_guide(tuned(shop.args.run, shop.job.network).folder, shop.model)
    counts = np.zeros(shop.flat.num_moves, np.float32)
    np.add.at(counts, guide.references + shop.flat.move_starts[:-1], 1)
    shares = counts / len(guide.references)
    return lambda assignments, observed, moves: shares[moves]


CONTROLS: dict[str, Callable[[Shop], Scorer]] = {
    "constant": constant,
    "random": random,
    "frequencies": frequencies,
}


def scores_of(job: Job, args: argparse.Namespace) -> dict[str, list[Any]]:
    """Best scores of every test query at every budget."""
    shop = without_references(job, args)
    evidences, starts, _ = shop.split("test")
    check_same(job, unguided(shop, "gls+", evidences, starts, BUDGETS)[0], args.results)
    chosen = json.loads((args.results / f"{job.name}.json").read_text(encoding="utf-8"))["tune"]["chosen"]
    rows = []
    for control, make in CONTROLS.items():
        uses = [GuideUse.from_dict(chosen[strategy]) for strategy in STRATEGIES]
        groups = [
            Lockstep(shop.flat, make_strategy(strategy), evidences, starts, [use], job.seed)
            for strategy, use in zip(STRATEGIES, uses, strict=True)
        ]
        for strategy, (scores, _) in zip(STRATEGIES, run_together(groups, make(shop), BUDGETS), strict=True):
            for query, own in enumerate(scores.tolist()):
                cells = zip(BUDGETS, own, strict=True)
                rows += [(job.network, job.kind, strategy, control, query, *cell) for cell in cells]
    return dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))


def main() -> None:
    rerun(__doc__, "controls.parquet", ("own",), scores_of)


if __name__ == "__main__":
    main()
