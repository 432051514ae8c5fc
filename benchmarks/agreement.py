"""How much test samples agree with training samples, a chain for each query or one for all.

    python benchmarks/agreement.py --data DATA

Shares of all variables, means over the test queries of the reproduction: with training samples in the mean,
and with the nearest of them. To results/agreement.csv.
"""

from __future__ import annotations

import csv

import numpy as np
from common import ALL_MODELS, load_model, options
from pages import ROOT
from reproduce_stages import KINDS

from beacon.query.query_set import QuerySet, sample_queries
from beacon.query.sampling import GibbsSettings

RESULTS = ROOT / "results" / "agreement.csv"


def agreements(queries: QuerySet) -> tuple[float, float]:
    """Of the test samples with training samples: mean, and with the nearest."""
    train, test = queries.split("train").samples, queries.split("test").samples
    shares = np.array([(train == sample).mean(axis=1) for sample in test])
    return float(shares.mean()), float(shares.max(axis=1).mean())


def main() -> None:
    args = options(__doc__, ALL_MODELS).parse_args()
    rows = []
    for network in args.models:
        if not (ROOT / "results" / "guided" / f"{network}.shared.0.json").exists():
            continue
        model = load_model(args.data, network)
        for kind, chains in KINDS.items():
            queries = sample_queries(model, 1000, 0, gibbs=GibbsSettings(chains=chains))
            rows.append([network, kind, *(f"{share:.4f}" for share in agreements(queries))])
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["network", "queries", "mean", "nearest"], *rows])


if __name__ == "__main__":
    main()
