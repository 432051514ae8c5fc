"""What the fast guide learns, and what its start is worth, on queries with a chain each and with one for all.

    python benchmarks/fast_guide.py --data DATA [NETWORK ...]
    python benchmarks/fast_guide.py --page

References are the best of many steps of GLS+. The guides learn from the training queries; losses, accuracies
and the mean best scores after growing numbers of steps are those of the test queries. A network that is in
results/fast_guide.json already is passed over. ``--page`` makes the tables of research/fast-guide.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pages import ROOT, markdown, updated

import beacon
from beacon.guide.trivial import FrequencyGuide
from beacon.guided.guide import EvidenceGuide
from beacon.learn.examples import Examples, measured
from beacon.query.sampling import GibbsSettings

PAGE = ROOT / "research" / "fast-guide.md"
RESULTS = ROOT / "results" / "fast_guide.json"
NETWORKS = (
    *("BN_30", "pedigree18", "grid20x20.f5.wrap"),
    *("le450_5a_3.wcsp", "rus_20_40_9_3", "grid40x40.f15.wrap"),
)
KINDS = {"own chains": None, "one chain": 1}
BUDGETS = (0, 50, 200, 500, 1000, 2000, 4000)
QUERIES, REFERENCE_STEPS, SEED = 1000, 20_000, 0
Row = dict[str, Any]


def measure(network: str, model: beacon.GraphicalModel, kind: str) -> Row:
    """All figures of one network and kind of queries."""
    queries = beacon.sample_queries(model, QUERIES, SEED, gibbs=GibbsSettings(chains=KINDS[kind]))
    teacher = beacon.TeacherSettings("gls+", steps=REFERENCE_STEPS)
    solved = beacon.collect(model, queries, beacon.CollectSettings(teacher, steps=0), seed=SEED)
    training = Examples.of_split(queries, solved, "train")
    import_module("torch")  # takes seconds by itself
    began = process_time()
    fast = beacon.train(model, queries, "fast", solved, seed=SEED)
    assert isinstance(fast, EvidenceGuide)
    seconds = process_time() - began
    frequency = FrequencyGuide.from_references(model, training.references, training.observed)
    test, examples = queries.split("test"), Examples.of_split(queries, solved, "test")
    row: Row = {"network": network, "queries": kind, "training_seconds": seconds, "guides": {}}
    row["scores"] = {"random": curve(model, test, None)}
    for name, guide in {"frequency": frequency, "fast": fast}.items():
        row["guides"][name] = measured(guide, examples)._asdict()
        likely = guide.moves.best_values(guide.probabilities(test.samples, test.observed))
        row["scores"][name] = curve(model, test, np.where(test.observed, test.samples, likely))
    row["microseconds"] = scoring_microseconds(fast, test)
    return row


def scoring_microseconds(guide: EvidenceGuide, test: beacon.QuerySet, rounds: int = 200) -> float:
    """Processor time to score one query in a batch of all: the best of several rounds."""
    times = []
    for _ in range(rounds):
        began = process_time()
        guide.probabilities(test.samples, test.observed)
        times.append(process_time() - began)
    return 1e6 * min(times) / len(test)


def curve(
    model: beacon.GraphicalModel, test: beacon.QuerySet, starts: NDArray[np.int64] | None
) -> list[float]:
    """Mean best score of GLS+ after each number of steps, nothing propagated, a zero factor counting -100."""
    evidences = [test.evidence(k) for k in range(len(test))]
    stop, start = beacon.MaxSteps(BUDGETS[-1]), "random" if starts is None else list(starts)
    found = beacon.solve_many(
        model, evidences, strategy="gls+", stop=stop, start=start, seed=SEED, propagate=False
    )
    scores: list[float] = np.mean([result.trace.best_at(BUDGETS) for result in found], axis=0).tolist()
    return scores


def rows_left(data: Path, networks: list[str], found: list[Row]) -> Iterator[Row]:
    """What has not been measured; Bayesian networks are sampled without chains."""
    done = {(row["network"], row["queries"]) for row in found}
    for network in networks:
        model = beacon.read_model(data / f"{network}.uai.xz")
        for kind in KINDS if not network.startswith("BN_") else ("own chains",):
            if (network, kind) not in done:
                yield measure(network, model, kind)


def quality_table(rows: list[Row]) -> str:
    """What the frequencies and the fast guide predict."""
    lines = []
    for row in rows:
        both = [row["guides"][name] for name in ("frequency", "fast")]
        losses = " → ".join(f"{quality['loss']:.3f}" for quality in both)
        right = " → ".join(f"{100 * quality['accuracy']:.1f}" for quality in both)
        costs = [f"{row['training_seconds']:.1f}", f"{row['microseconds']:.0f}"]
        lines.append([row["network"], _kind(row), losses, f"{right} %", *costs])
    header = ["network", "queries", "test loss", "right values", "training, CPU s", "µs a query"]
    return markdown(header, lines)


def scores_table(rows: list[Row]) -> str:
    """Mean best scores after growing numbers of steps."""
    lines = [
        [row["network"], _kind(row), start, *(f"{score:.1f}" for score in scores)]
        for row in rows
        for start, scores in row["scores"].items()
    ]
    return markdown(["network", "queries", "start", *(f"{steps:,}" for steps in BUDGETS)], lines)


def _kind(row: Row) -> str:
    return "ancestral" if row["network"].startswith("BN_") else str(row["queries"])


def page() -> str:
    """The page with its tables made anew."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))
    made = {"fast quality": lambda: quality_table(rows), "fast scores": lambda: scores_table(rows)}
    return updated(PAGE.read_text(encoding="utf-8"), made)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="NETWORK")
    parser.add_argument("--data", type=Path, help="folder with NAME.uai.xz")
    parser.add_argument("--page", action="store_true", help="make the page's tables from the results")
    arguments = parser.parse_args()
    if arguments.page:
        PAGE.write_text(page(), encoding="utf-8")
        return
    found = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    for row in rows_left(arguments.data, arguments.networks, found):
        found.append(row)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(row, flush=True)


if __name__ == "__main__":
    main()
