"""What the fallback is worth, and what it costs: all moves as candidates, from random starts.

RUN/NETWORK holds queries.parquet and fast.guide, made by ``beacon queries`` and ``train``. The guide is
scored once; a *misled* one is sure of the best assignment of another query. No propagation. Mean best floored
score after so many steps on the test queries, and the number of queries whose best still has zero factors.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from common import options
from numpy.typing import NDArray

from beacon.formats import read_model
from beacon.guide.checkpoint import load_guide
from beacon.guide.trivial import OracleGuide
from beacon.guided.guidance import Guidance
from beacon.guided.guide import Guide
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet
from beacon.runner.batch import SearchBatch
from beacon.runner.scored import ScoredStarts, given_starts
from beacon.runner.search import Trace
from beacon.runner.stop import MaxSteps

MODELS = ("Promedas_60", "or_chain_89.fg", "BN_30", "pedigree18", "grid20x20.f5.wrap")
STEPS = (500, 1000, 2000, 4000, 16000)


def scores_of(
    model: GraphicalModel, evidences: list[dict[int, int]], guide: Guide, given: NDArray[np.int64]
) -> NDArray[np.float32]:
    """What a guide says of the given starts."""
    return ScoredStarts.ask(model, compile_model(model), evidences, guide, list(given), 0).scores


def misled_scores(
    model: GraphicalModel, evidences: list[dict[int, int]], given: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Those of a guide that takes each query for the next one."""
    batch = SearchBatch(model, evidences, "gls+")
    batch.run_until(MaxSteps(STEPS[-1]))
    wrong = np.roll(batch.best_assignments, 1, axis=0)
    return scores_of(model, evidences, OracleGuide(model, wrong), given)


def cell(traces: list[Trace], steps: int) -> str:
    """Mean score, and queries with zeros."""
    places = [int(np.searchsorted(trace.steps, steps, side="right")) - 1 for trace in traces]
    mean = np.mean([trace.scores[place] for trace, place in zip(traces, places, strict=True)])
    zeros = sum(bool(trace.zero_factors[place]) for trace, place in zip(traces, places, strict=True))
    return f"{mean:.1f} ({zeros})"


def measure(name: str, arguments: Any) -> None:
    """One row per guide, strategy, weight and fallback."""
    model, folder = read_model(arguments.data / "paper" / f"{name}.uai.xz"), arguments.run / name
    test = QuerySet.load(folder / "queries.parquet", model).split("test")
    evidences = [test.evidence(k) for k in range(min(arguments.queries, len(test)))]
    given = given_starts(model, evidences, [None] * len(evidences), arguments.seed)
    fast = scores_of(model, evidences, load_guide(folder / "fast.guide", model), given)
    rows = [("none", None, 0.0, False)]
    for kind, scores in {"fast": fast, "misled": misled_scores(model, evidences, given)}.items():
        rows += [(kind, scores, weight, back) for weight in arguments.weights for back in (False, True)]
    for strategy in arguments.strategies:
        for kind, scores, weight, back in rows:
            batch = SearchBatch(model, evidences, strategy, given, propagate=False, threads=1)
            batch.run_until(MaxSteps(STEPS[-1]), scores, Guidance(weight, "all", fallback=back))
            cells = " | ".join(cell(batch.traces, steps) for steps in STEPS)
            told = f"{kind} | {weight:g} | {'yes' if back else 'no'}" if weight else "none | | "
            print(f"| {name} | {strategy} | {told} | {cells} |", flush=True)


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.set_defaults(queries=100)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--weights", nargs="+", type=float, default=[0.5, 1.0])
    parser.add_argument("--strategies", nargs="+", default=["gls+", "greedy"])
    arguments = parser.parse_args()
    print(f"| network | strategy | guide | λ | fallback | {' | '.join(map(str, STEPS))} |")
    print("|---" * (5 + len(STEPS)) + "|")
    for name in arguments.models:
        measure(name, arguments)


if __name__ == "__main__":
    main()
