"""What the fast guide's starts are worth: GLS+ from random, frequent and predicted values.

References come from GLS+ with many steps; the guides learn from the training queries, and the mean best
score on the test queries is printed after growing numbers of steps, beside losses, accuracies and times.
With --cache, queries' references are kept in a folder and used again.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from common import options
from numpy.typing import NDArray

from beacon.formats import read_model
from beacon.guide.trivial import FrequencyGuide
from beacon.guided.guide import EvidenceGuide
from beacon.learn.fast import Examples, measured, train_fast
from beacon.learn.train import FastSettings
from beacon.learn.trajectories import Trajectories
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, sample_queries
from beacon.runner.scored import ScoredStarts
from beacon.runner.stop import MaxSteps, Start
from beacon.solver import solve_many

MODELS = (
    "BN_30",
    "pedigree18",
    "grid20x20.f5.wrap",
    "le450_5a_3.wcsp",
    "rus_20_40_9_3",
    "grid40x40.f15.wrap",
)
BUDGETS = (0, 50, 200, 500, 1000, 2000, 4000)


def references(
    model: GraphicalModel, queries: QuerySet, steps: int, cache: Path | None, name: str
) -> Trajectories:
    """GLS+'s best of so many steps for each query; no states."""
    file = cache / f"{name}-{len(queries)}-{queries.seed}-{steps}.npz" if cache else None
    if file is not None and file.exists():
        rows, scores, zeros = (np.load(file)[key] for key in ("rows", "scores", "zeros"))
    else:
        results = solve_many(
            model, [queries.evidence(k) for k in range(len(queries))], strategy="gls+", stop=MaxSteps(steps)
        )
        rows = np.array([result.assignment for result in results])
        scores = np.array([result.floored_log_score for result in results])
        zeros = np.array([result.zero_factors for result in results])
        if file is not None:
            np.savez(file, rows=rows, scores=scores, zeros=zeros)
    none = np.zeros((len(queries), 0, 0), dtype=np.int32)
    starts = np.zeros((len(queries), 0, model.num_variables), dtype=np.uint8)
    return Trajectories(
        model.fingerprint, rows, scores, zeros, ("gls+",) * len(queries), starts, none, none, {"steps": steps}
    )


def curve(
    model: GraphicalModel, evidences: list[dict[int, int]], start: Start, propagate: bool
) -> NDArray[np.float64]:
    """Mean best score of GLS+ after each budget of steps."""
    results = solve_many(
        model,
        evidences,
        strategy="gls+",
        stop=MaxSteps(BUDGETS[-1]),
        start=start,
        propagate=propagate,
        yielding_start=True,
    )
    return np.mean([result.trace.best_at(BUDGETS) for result in results], axis=0)


def scoring_microseconds(guide: EvidenceGuide, test: QuerySet, rounds: int = 200) -> float:
    """Time to score one query in a batch of all: the best of several rounds."""
    times = []
    for _ in range(rounds):
        began = perf_counter()
        guide.probabilities(test.samples, test.observed)
        times.append(perf_counter() - began)
    return 1e6 * min(times) / len(test)


def measure(name: str, model: GraphicalModel, arguments: Any) -> list[dict[str, Any]]:
    """One row per propagation and start."""
    queries = sample_queries(model, arguments.queries, arguments.seed, splits=tuple(arguments.splits))
    trajectories = references(model, queries, arguments.reference_steps, arguments.cache, name)
    train = Examples.of_split(queries, trajectories, "train")
    frequency = FrequencyGuide.from_references(
        model, train.references, train.observed, FastSettings().smoothing
    )
    import_module("torch")  # takes seconds by itself
    began = process_time()
    fast = train_fast(model, queries, trajectories, seed=arguments.seed)
    train_seconds = process_time() - began
    test = queries.split("test")
    evidences = [test.evidence(k) for k in range(len(test))]
    rows = []
    for start, guide in {"random": None, "frequency": frequency, "fast": fast}.items():
        facts: dict[str, Any] = {"network": name, "start": start}
        if guide is not None:
            for split in ("validation", "test"):
                facts[split] = measured(guide, Examples.of_split(queries, trajectories, split))._asdict()
            facts["microseconds"] = scoring_microseconds(guide, test)
        for propagate in (False, True):
            first: Start = "random"
            if guide is not None:
                starts = [None] * len(evidences)
                first = ScoredStarts.ask(
                    model, compile_model(model), evidences, guide, starts, arguments.seed
                ).starts
            scores = curve(model, evidences, first, propagate)
            rows.append({**facts, "propagate": propagate, "scores": scores.tolist()})
    rows[-1] |= {"train_seconds": train_seconds, "train_queries": len(train.references)}
    rows[-1] |= {"epochs": len(fast.facts["history"]) - 1, "best_epoch": fast.facts["best_epoch"]}
    return rows


def table(rows: list[dict[str, Any]], propagate: bool) -> str:
    """Markdown: mean best score after each budget."""
    lines = [f"| network | start | {' | '.join(map(str, BUDGETS))} |", "|---" * (len(BUDGETS) + 2) + "|"]
    for row in rows:
        if row["propagate"] == propagate:
            cells = " | ".join(f"{score:.1f}" for score in row["scores"])
            lines.append(f"| {row['network']} | {row['start']} | {cells} |")
    return "\n".join(lines)


def quality_table(rows: list[dict[str, Any]]) -> str:
    """Markdown: what the frequency guide → the fast guide learned, and how long it took."""
    head = ["network", "training queries", "validation loss", "validation accuracy", "test accuracy"]
    head += ["training CPU s", "best epoch", "µs a query"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for last in (row for row in rows if "train_seconds" in row):
        other = next(row for row in rows if (row["network"], row["start"]) == (last["network"], "frequency"))
        cells = [last["network"], str(last["train_queries"])]
        cells += [" → ".join(f"{row['validation']['loss']:.3f}" for row in (other, last))]
        for split in ("validation", "test"):
            cells += [" → ".join(f"{100 * row[split]['accuracy']:.1f}" for row in (other, last)) + " %"]
        cells += [f"{last['train_seconds']:.1f}"]
        cells += [f"{last['best_epoch']} of {last['epochs']}", f"{last['microseconds']:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.set_defaults(queries=900)
    parser.add_argument("--splits", nargs=3, type=float, default=(7 / 9, 1 / 9, 1 / 9))
    parser.add_argument("--reference-steps", type=int, default=50_000)
    parser.add_argument("--cache", type=Path, help="an existing folder for references")
    parser.add_argument("--out", type=Path, help="JSON lines, replaced")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in arguments.models:
        rows += measure(name, read_model(arguments.data / "paper" / f"{name}.uai.xz"), arguments)
        print(f"{name} done", file=sys.stderr)
    if arguments.out:
        arguments.out.write_text("".join(json.dumps(row) + "\n" for row in rows))
    print(quality_table(rows), "", "Searching without propagation:", table(rows, False), sep="\n")
    print("", "With propagation:", table(rows, True), sep="\n")


if __name__ == "__main__":
    main()
