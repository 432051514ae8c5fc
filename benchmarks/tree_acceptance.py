"""Tree moves that keep worse outcomes of a region: mean best score over time by how readily they do.

In brackets, on how many queries it is the best score of all settings and times. One search at a time.
"""

from __future__ import annotations

import numpy as np
from common import load, options

from beacon.runner.stop import MaxRuntime
from beacon.solver import solve
from beacon.strategies.tree import Tree

MODELS = ("grid40x40.f15.wrap", "grid80x80.f10")
ACCEPTANCES = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
MARKS = (0.3, 1.0, 3.0)
TOLERANCE = 1e-3


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.add_argument("--first", type=int, default=10, help="only so many of the queries sampled")
    arguments = parser.parse_args()
    print("| network | acceptance |", " | ".join(f"{mark:g} s" for mark in MARKS), "|")
    print("|---" * (2 + len(MARKS)) + "|")
    for name in arguments.models:
        model, evidences = load(arguments.data, name, arguments.queries, arguments.seed)
        found = np.zeros((len(ACCEPTANCES), len(evidences[: arguments.first]), len(MARKS)))
        for query, evidence in enumerate(evidences[: arguments.first]):
            for row, acceptance in enumerate(ACCEPTANCES):
                strategy, stop = Tree(acceptance=acceptance), MaxRuntime(MARKS[-1])
                result = solve(model, evidence, strategy=strategy, stop=stop, seed=arguments.seed)
                found[row, query] = result.trace.best_after(MARKS)
        reached = found >= found.max(axis=(0, 2))[:, None] - TOLERANCE
        for acceptance, scores, hits in zip(
            ACCEPTANCES, found.mean(axis=1), reached.sum(axis=1), strict=True
        ):
            cells = [f"{score:.3f} ({hit})" for score, hit in zip(scores, hits, strict=True)]
            print(f"| {name} | {acceptance:g} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
