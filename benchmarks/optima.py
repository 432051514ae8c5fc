"""On how many test queries of the reproduction several assignments are optimal: results/optima.csv.

    python benchmarks/optima.py --data DATA

The two best assignments of every query, by elimination, on the networks where that is cheap.
"""

from __future__ import annotations

import csv

from common import PROVABLE_MODELS, load_model, options
from pages import ROOT, markdown, rows_of

import beacon

RESULTS = ROOT / "results" / "optima.csv"
FIELDS = ("network", "queries", "ties")
QUERIES = 20
ALIKE = 1e-9  # nats


def count(network: str, model: beacon.GraphicalModel) -> dict[str, object]:
    """Queries with a second assignment as good as the best, of those whose two best are known."""
    tests, known, ties = beacon.sample_queries(model, 1000, 0).split("test"), 0, 0
    for k in range(QUERIES):
        result = beacon.solve(model, tests.evidence(k), stop=beacon.MaxRuntime(10.0), alternatives=2)
        found = result.alternatives
        if found is not None and found.exact and len(found) == 2:
            best, second = (one.log_score for one in found)
            known += 1
            ties += best - second < ALIKE
    return {"network": network, "queries": known, "ties": ties}


def table() -> str:
    """A line a network."""
    rows = [[row["network"], row["queries"], row["ties"]] for row in rows_of(RESULTS)]
    return markdown(["network", "queries", "several optimal assignments"], rows)


def main() -> None:
    arguments = options(__doc__, PROVABLE_MODELS).parse_args()
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for network in arguments.models:
            writer.writerow(count(network, load_model(arguments.data, network)))
            file.flush()


if __name__ == "__main__":
    main()
