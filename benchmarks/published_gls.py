"""GLS+ as it was published, on the queries and from the starts of the reproduction.

    python benchmarks/published_gls.py --data DATA --run RUN --out results/published_gls.parquet

Queries are sampled again from their seeds. Our GLS+ is run beside it and must give the scores that
``results/guided`` has, or the queries are not the same and nothing is written. A network that the output
has already, with this kind of queries, is left out.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from reproduce_stages import BUDGETS, KINDS, Job, Shop, suite, unguided

from beacon.query.query_set import sample_queries
from beacon.query.sampling import GibbsSettings
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


def without_references(job: Job, args: argparse.Namespace) -> Shop:
    """A job with its queries, sampled again, and nothing else."""
    shop = Shop(job, args)
    gibbs = GibbsSettings(chains=KINDS[job.kind])
    shop.queries = sample_queries(shop.model, 1000, job.seed, gibbs=gibbs)
    shop.trajectories = _NoReferences(len(shop.queries))
    return shop


class _NoReferences:
    """Stands for the trajectories where only queries and starts are asked for."""

    def __init__(self, count: int) -> None:
        self.references = np.zeros((count, 0))


def check_same(job: Job, ours: Any, results: Path) -> None:
    """Stop where our GLS+ has other scores than the reproduction has: other queries, or another engine."""
    table = pq.read_table(results / f"{job.name}.parquet", filters=[("method", "=", "gls+")]).to_pydict()
    theirs = {(q, b): s for q, b, s in zip(table["query"], table["steps"], table["score"], strict=True)}
    stored = np.array([[theirs[q, b] for b in BUDGETS] for q in range(len(ours))])
    differ = int((~np.isclose(ours, stored, rtol=1e-9)).any(axis=1).sum())
    print(f"{job.network}: our GLS+ differs from the stored scores on {differ} of {len(ours)} queries")
    if differ:
        raise SystemExit(f"{job.network}: not the queries of {job.name}.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with NAME.uai.xz")
    parser.add_argument("--run", type=Path, required=True, help="folder for what is made on the way")
    parser.add_argument("--results", type=Path, default=Path("results/guided"))
    parser.add_argument("--out", type=Path, default=Path("results/published_gls.parquet"))
    parser.add_argument("--networks", nargs="+", metavar="NAME")
    args = parser.parse_args()
    found = pq.read_table(args.out) if args.out.exists() else None
    have = set() if found is None else {(row["network"], row["queries"]) for row in found.to_pylist()}
    for job in [Job(name, kind, 0) for kind in KINDS for name in args.networks or suite()]:
        if job.is_done(args.results) and (job.network, job.kind) not in have:
            own = pa.table(scores_of(job, args))
            found = own if found is None else pa.concat_tables([found, own])
            pq.write_table(found, args.out, compression="zstd")


if __name__ == "__main__":
    main()
