"""Other searches on the queries of the reproduction, from its starts, without a GPU.

Queries are sampled again from their seeds. Our GLS+ is run beside the other searches and must give the scores
that ``results/guided`` has.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pages import ROOT
from reproduce_stages import BUDGETS, KINDS, Job, Shop, suite

from beacon.query.query_set import sample_queries
from beacon.query.sampling import GibbsSettings

Columns = dict[str, list[Any]]


def rerun(
    description: str | None,
    name: str,
    kinds: Sequence[str],
    scores_of: Callable[[Job, argparse.Namespace], Columns],
) -> None:
    """Add the jobs of these kinds of queries that results/NAME does not have yet."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with NAME.uai.xz")
    parser.add_argument("--run", type=Path, required=True, help="folder of reproduce.py")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "guided")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / name)
    parser.add_argument("--networks", nargs="+", default=list(suite()), metavar="NAME")
    args = parser.parse_args()
    found = pq.read_table(args.out) if args.out.exists() else None
    have = set() if found is None else {(row["network"], row["queries"]) for row in found.to_pylist()}
    for job in [Job(network, kind, 0) for kind in kinds for network in args.networks]:
        if job.is_done(args.results) and (job.network, job.kind) not in have:
            own = pa.table(scores_of(job, args))
            found = own if found is None else pa.concat_tables([found, own])
            pq.write_table(found, args.out, compression="zstd")


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
