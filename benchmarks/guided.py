"""Time per step of guided search against the same strategy without a guide.

Scores are given, once per query: those of an imagined guide (right about nine variables in ten, more or less
sure of it) and random ones, which are harder for the selection. All take turns; the fastest run counts.
"""

from __future__ import annotations

from time import process_time

import numpy as np
from common import load, options
from numpy.typing import NDArray

from beacon.guided.guidance import Candidates, Guidance
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.batch import SearchBatch
from beacon.runner.stop import MaxSteps
from beacon.solver import solve

MODELS = ("BN_30", "grid40x40.f10", "pedigree18", "Promedas_60", "le450_5a_3.wcsp", "rus_20_40_9_3")
CANDIDATES: tuple[Candidates, ...] = ("improving", "all")
Scores = NDArray[np.float32]


def imagined_scores(model: GraphicalModel, reference: NDArray[np.int64], seed: int) -> Scores:
    """For each variable most of the probability on one value, which is the reference's nine times in ten."""
    rng = np.random.default_rng(seed)
    rows = []
    for size, right in zip(model.domain_sizes, reference, strict=True):
        sure = rng.uniform(0.55, 0.99) if size > 1 else 1.0
        row = np.full(size, (1 - sure) / max(1, size - 1))
        row[right if rng.random() < 0.9 else rng.integers(size)] = sure
        rows.append(row)
    return np.concatenate(rows).astype(np.float32)


def microseconds(
    model: GraphicalModel,
    evidence: dict[int, int],
    strategy: str,
    steps: int,
    scores: Scores | None = None,
    guidance: Guidance | float = 0.0,
) -> float:
    """Processor time of a step, penalty rounds and restarts included."""
    batch = SearchBatch(model, [evidence], strategy, propagate=False, threads=1)
    began = process_time()
    batch.run_until(MaxSteps(steps), None if scores is None else scores[None], guidance)
    return 1e6 * (process_time() - began) / max(1, batch.searches[0].steps)


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--weight", type=float, default=0.5)
    parser.add_argument("--strategy", default="gls+", choices=["gls+", "greedy"])
    arguments = parser.parse_args()
    print(f"{'model':18} {'scores':9} {'unguided µs':>12} {'improving':>10} {'all':>6}")
    for name in arguments.models:
        model, (evidence,) = load(arguments.data, name, 1, arguments.seed)
        reference = solve(model, evidence, strategy="gls+", stop=MaxSteps(300_000)).assignment
        rng = np.random.default_rng(arguments.seed)
        kinds = {
            "imagined": imagined_scores(model, reference, arguments.seed),
            "random": rng.random(int(model.domain_sizes.sum()), dtype=np.float32),
        }
        for kind, scores in kinds.items():
            ways = [(None, 0.0), *((scores, Guidance(arguments.weight, c)) for c in CANDIDATES)]
            times = [
                [microseconds(model, evidence, arguments.strategy, arguments.steps, *way) for way in ways]
                for _ in range(arguments.rounds)
            ]
            plain, improving, free = np.min(times, axis=0)
            ratios = f"{improving / plain:10.2f} {free / plain:6.2f}"
            print(f"{name:18} {kind:9} {plain:12.3f} {ratios}", flush=True)


if __name__ == "__main__":
    main()
