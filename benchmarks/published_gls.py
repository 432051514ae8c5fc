"""GLS+ as it was published, on the queries and from the starts of the reproduction.

    python benchmarks/published_gls.py --data DATA --run RUN --out results/published_gls.parquet

Queries are sampled again from their seeds. Our GLS+ is run beside it and must give the scores that
``results/guided`` has, or the queries are not the same and nothing is written. A network that the output
has already, with this kind of queries, is left out.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

from reproduce_stages import BUDGETS, KINDS, Job, unguided
from rerun import check_same, rerun, without_references

from beacon.strategies.gls import GlsPlus

PUBLISHED = GlsPlus(
    penalty_weight=1e4 * math.log(10),
    smoothing=0.999,
    smoothing_interval=200,
    restart_idle=0,
    harvest_share=0,
    relative_utilities=False,
)
"""A weight of 10⁴ in decimal logarithms, fading penalties, no restarts, costs counted from probability 1."""


def scores_of(job: Job, args: argparse.Namespace) -> dict[str, list[Any]]:
    """Best scores of every test query at every budget."""
    shop = without_references(job, args)
    evidences, starts, _ = shop.split("test")
    ours, _, _ = unguided(shop, "gls+", evidences, starts, BUDGETS)
    check_same(job, ours, args.results)
    scores, zeros, _ = unguided(shop, PUBLISHED, evidences, starts, BUDGETS)
    rows = [
        (job.network, job.kind, query, budget, float(scores[query, k]), int(zeros[query, k]))
        for query in range(len(scores))
        for k, budget in enumerate(BUDGETS)
    ]
    names = ("network", "queries", "query", "steps", "score", "zeros")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def main() -> None:
    rerun(__doc__, "published_gls.parquet", tuple(KINDS), scores_of)


if __name__ == "__main__":
    main()
