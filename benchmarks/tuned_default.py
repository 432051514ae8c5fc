"""What a user gets by `beacon train --preset solved` and `beacon tune`, against `auto` without learning.

    python benchmarks/tuned_default.py --data DATA --cache CACHE --output ROWS.jsonl [--models NAME ...]
    python benchmarks/starts_tables.py default=ROWS.jsonl

Training, validation and test queries are sampled apart. Time is processor time. Searches are made anew for
every limit; fewer queries get the longest. Where tuning leaves the guide out, the default is `auto`
itself, and is not run again. Solved queries and tunings lie in CACHE; rows that ROWS.jsonl has are not made
again.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from common import load_model, options
from numpy.typing import NDArray
from pages import rows_of
from starts import LARGE, TRACE_TIMES, Case

import beacon
from beacon.engine.construct import construct_assignment
from beacon.guide.solved import SolvedGuide
from beacon.guided.guidance import GuideUse
from beacon.runner.runner import Query, Runner
from beacon.runner.search import Trace
from beacon.runner.stop import processor_time

PAPER = (
    "rus_100_200_1_1",
    "rus_50_100_4_1",
    "1405.wcsp",
    "grid80x80.f10",
    "wcsp_14",
    "le450_5a_4.wcsp",
    "1407.wcsp",
    "le450_5a_3.wcsp",
    "rus_20_40_9_3",
    "grid40x40.f10",
    "grid40x40.f15.wrap",
    "le450_5a_2.wcsp",
    "grid20x20.f5.wrap",
)
UAI = (
    "ProteinFolding_23",
    "ObjectDetection_11",
    "ObjectDetection_15",
    "Grids_22",
    "ProteinFolding_17",
    "Grids_30",
    "ProteinFolding_11",
    "Segmentation_11",
    "Promedas_16",
    "Promedas_20",
    "Segmentation_18",
    "wcsp_13",
)
SHORT, LAST = (0.003, 0.01, 0.03, 0.1), 0.3
LARGE_SHORT, LARGE_LAST = (0.1, 0.3), 1.0
MARKS = (0.003, 0.01, 0.03, 0.1)
LARGE_MARKS = (0.1, 0.3)
BASE, DEFAULT, CONSTRUCTED = METHODS = "auto", "default", "constructed"


@dataclass(frozen=True)
class Sizes:
    """How many queries of each kind, and how long a training query is searched."""

    train: int
    seconds: float
    validation: int
    test: int
    long: int
    """Test queries that are searched to the last limit, too."""


SIZES, LARGE_SIZES = Sizes(200, 0.05, 64, 40, 40), Sizes(40, 1.0, 12, 12, 12)


class Network(Case):
    """A network with its queries."""

    @property
    def sizes(self) -> Sizes:
        return sizes_of(self.name)

    @property
    def short(self) -> tuple[float, ...]:
        return LARGE_SHORT if self.is_large else SHORT

    @cached_property
    def test(self) -> NDArray[Any]:
        """[queries, variables] evidence that had no part in any choice."""
        return self._sampled("final", self.sizes.test, 12)

    @cached_property
    def validation(self) -> NDArray[Any]:
        """The same for tuning."""
        return self._sampled("validation", self.sizes.validation, 5)

    @cached_property
    def guide(self) -> SolvedGuide:
        """What `beacon train --preset solved` makes, solved by the time rather than by steps."""

        def make() -> NDArray[Any]:
            began = process_time()
            with processor_time():
                rows = [self.solved(self.evidence_of(f), self.sizes.seconds) for f in self.train_fixed]
            self.note(train_seconds=process_time() - began)
            return np.array(rows, dtype=np.int16)

        return SolvedGuide(self.model, self.kept(f"library {self.num_train}", make))

    @cached_property
    def use(self) -> GuideUse:
        """What `beacon tune` says."""
        if "tuned" not in self.facts:
            evidences = [self.evidence_of(fixed) for fixed in self.validation]
            queries = beacon.QuerySet.from_evidence(evidences, self.model, splits=(0.0, 1.0, 0.0))
            marks = LARGE_MARKS if self.is_large else MARKS
            settings = beacon.TuneSettings(seconds=marks, queries=len(evidences))
            began = process_time()
            tuning = beacon.tune(self.model, queries, self.guide, settings)
            self.note(tune_seconds=process_time() - began, tuned=tuning.to_dict(), said=str(tuning.best))
        return GuideUse.from_dict(self.facts["tuned"]["use"])

    @property
    def facts(self) -> dict[str, Any]:
        path = self.cache / f"{self.name} facts.json"
        known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return known

    def note(self, **facts: Any) -> None:
        path = self.cache / f"{self.name} facts.json"
        path.write_text(json.dumps(self.facts | facts), encoding="utf-8")

    @cached_property
    def guided(self) -> Runner:
        return Runner(self.model, "auto", self.guide, self.use, threads=1)

    def limits(self, k: int) -> tuple[float, ...]:
        """The time limits of a query."""
        last = LARGE_LAST if self.is_large else LAST
        return self.own_limits or (*self.short, *[last] * (k < self.sizes.long))

    def trace(self, method: str, k: int, limit: float) -> Trace:
        runner = self.guided if method == DEFAULT else self.runner
        begin = construct_assignment if method == CONSTRUCTED else None
        query, stop = Query(self.evidence_of(self.test[k]), begin=begin), beacon.MaxRuntime(limit)
        with processor_time():
            ((_, outcome),) = runner.run([query], [stop], lambda _, found: found)
        return outcome.trace.not_before(outcome.setup_seconds)

    def rows(self, k: int, names: Sequence[str]) -> list[dict[str, Any]]:
        """A row for each method: best scores at the limits, and on the way to the last."""
        rng = np.random.default_rng(k)
        scores: dict[str, dict[str, float | None]] = {name: {} for name in names}
        ways: dict[str, list[float | None]] = {}
        for limit in self.limits(k):
            is_asked = self.use.asks_guide and self.use.within(limit) is not None
            for name in rng.permutation([name for name in names if is_asked or name != DEFAULT]).tolist():
                trace = self.trace(name, k, limit)
                (scores[name][f"{limit:g}"],) = self.known(trace, np.array([limit]))
                ways[name] = self.known(trace, TRACE_TIMES)
            if DEFAULT in names and not is_asked:
                scores[DEFAULT][f"{limit:g}"], ways[DEFAULT] = scores[BASE][f"{limit:g}"], ways[BASE]
        facts = {"network": self.name, "query": f"test {k}"}
        return [{**facts, "method": name, "scores": scores[name], "way": ways[name]} for name in names]


def main() -> None:
    parser = options(__doc__, (*PAPER, *LARGE, *UAI))
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--limits", type=float, nargs="*", default=(), help="other time limits")
    parser.add_argument("--only", type=int, help="no more than this many of the test queries")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--prepare", action="store_true", help="train and tune alone")
    parser.add_argument(
        "--facts", type=Path, help="write what training and tuning took to this table, no more"
    )
    arguments = parser.parse_args()
    arguments.cache.mkdir(exist_ok=True)
    if arguments.facts is not None:
        keep_facts(arguments)
        return
    arguments.output.touch()
    lines = arguments.output.read_text(encoding="utf-8").splitlines()
    done = {(row["network"], row["query"], row["method"]) for row in map(json.loads, lines)}
    for name in arguments.models:
        began = perf_counter()
        network = load_network(name, arguments)
        network.runner.outcome(Query(network.evidence_of(network.test[0])), [beacon.MaxRuntime(0.5)])
        network.trace(DEFAULT, 0, 0.3)  # trains and tunes
        print(f"{name}: {network.facts['said']}, {perf_counter() - began:.0f} s", flush=True)
        if arguments.prepare:
            continue
        for k in range(arguments.only or network.sizes.test):
            if any((name, f"test {k}", method) not in done for method in arguments.methods):
                with arguments.output.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(row) + "\n" for row in network.rows(k, arguments.methods))
        print(f"{name}: done, {perf_counter() - began:.0f} s", flush=True)


def sizes_of(name: str) -> Sizes:
    return LARGE_SIZES if name in LARGE else SIZES


def keep_facts(arguments: argparse.Namespace) -> None:
    """A row for each network that has been tuned; those of others stay as they are."""
    known = {row["network"]: list(row.values()) for row in rows_of(arguments.facts)}
    with arguments.facts.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["network", "answers", "train_seconds", "validation", "tune_seconds", "use"])
        for name in arguments.models:
            path, sizes = arguments.cache / f"{name} facts.json", sizes_of(name)
            if path.exists():
                facts = json.loads(path.read_text(encoding="utf-8"))
                spent = [facts.get(f"{stage}_seconds", "") for stage in ("train", "tune")]
                spent = [round(seconds, 1) if seconds else "" for seconds in spent]
                known[name] = [name, sizes.train, spent[0], sizes.validation, spent[1], facts["said"]]
        writer.writerows(known.values())


def load_network(name: str, arguments: argparse.Namespace) -> Network:
    model = LARGE[name]() if name in LARGE else load_model(arguments.data, name)
    sizes = sizes_of(name)
    limits = tuple(arguments.limits)
    return Network(name, model, arguments.cache, sizes.train, sizes.test, own_limits=limits)


if __name__ == "__main__":
    main()
