"""What a start is worth to `auto`, at equal wall-clock time, on networks that elimination does not solve.

    python benchmarks/starts.py --cache CACHE --output ROWS.jsonl --methods curve [--models NAME ...]
    python benchmarks/starts_tables.py ROWS.jsonl

Every search is made anew for every time limit; methods take turns on each query. What a learned start takes
to compute is charged. Time is processor time. References and other things that are found once lie in CACHE;
rows that ROWS.jsonl has are not made again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
from common import load_model, options
from guided_restarts import RESTARTS
from learned_starts import LEARNED, library, train_fast, train_solved
from message_starts import GENERATED, by_messages, by_network
from numpy.typing import NDArray

import beacon
from beacon.engine.construct import construct_assignment
from beacon.engine.cross import LaterOpinions
from beacon.guide.fast_guide import FastGuide
from beacon.guide.solved import SolvedGuide
from beacon.learn.train import FastSettings
from beacon.model import families
from beacon.model.families.diagnosis import findings_of
from beacon.model.families.ising import ising_factors
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import sample_queries
from beacon.runner.runner import Query, Runner
from beacon.runner.search import Trace
from beacon.runner.stop import random_start
from beacon.strategies.auto.profile import Profile
from beacon.strategies.strategy import Strategy

Row = NDArray[np.int64]
NETWORKS = (
    "rus_100_200_1_1",
    "wcsp_14",
    "1405.wcsp",
    "le450_5a_4.wcsp",
    "grid40x40.f10",
    "grid80x80.f10",
    "rus_20_40_9_3",
    "ProteinFolding_23",
    "ObjectDetection_11",
    "1407.wcsp",
    "le450_5a_3.wcsp",
    "rus_50_100_4_1",
)


def boltzmann_machine(size: int) -> GraphicalModel:
    """Two layers of units, Gaussian couplings of each unit to the whole other layer, and fields."""
    rng, units = np.random.default_rng(0), np.arange(2 * size)
    pairs = np.stack(np.meshgrid(units[:size], units[size:], indexing="ij"), -1).reshape(-1, 2)
    couplings = rng.normal(0, 1, len(pairs))
    return GraphicalModel(
        names=tuple(f"unit_{unit}" for unit in units),
        labels=(("off", "on"),) * len(units),
        factors=ising_factors(len(units), units[:, None], rng.normal(0, 1, len(units)), pairs, couplings),
    )


LARGE: dict[str, Callable[[], GraphicalModel]] = {
    "grid 250 × 250": lambda: families.ising_grid(250, 250),
    "colouring 4,500": lambda: families.weighted_coloring(4500, density=0.0056, num_colors=5),
    "RBM 500 + 500": lambda: boltzmann_machine(500),
    "diagnosis 10,000": lambda: families.diagnosis(1400, 1400, min_prior=0.05, max_prior=0.3),
    "pedigree 10,000": lambda: families.pedigree(200, 800, num_loci=2),
}
LIMITS = (0.003, 0.01, 0.03, 0.1, 1.0)
LARGE_LIMITS = (0.1, 0.3, 3.0)
MARKS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
TRACE_TIMES = np.round(0.001 * 10 ** (np.arange(36) / 10), 5)  # 1 ms to 3.2 s
SHARES = (2, 5, 10, 20)
SEED = 0
ZERO = -100.0


class Begin(NamedTuple):
    """Where a search begins, and what it took to find out."""

    start: Row | None = None
    """None: where `auto` begins."""
    seconds: float = 0.0
    opinions: NDArray[np.integer] | None = None
    """What the start is crossed with."""
    profile: Profile | None = None
    """None: `auto` as it is."""
    later: LaterOpinions | None = None
    """What the best is crossed with later."""
    strategy: Strategy | None = None
    """None: `auto` as it is."""
    begin: Callable[[Any, Any], None] | None = None
    """What puts a start in place; None: `start`, or as `auto` does."""


@dataclass(frozen=True, eq=False)
class Case:
    """A network with its queries."""

    name: str
    model: GraphicalModel
    cache: Path
    num_train: int
    num_test: int
    data: Path = Path()
    """Where models lie."""
    own_limits: tuple[float, ...] = ()
    """Other time limits than by default."""

    @cached_property
    def runner(self) -> Runner:
        return Runner(self.model, "auto", threads=1, seed=SEED)

    @property
    def is_large(self) -> bool:
        return self.name in LARGE

    @property
    def limits(self) -> tuple[float, ...]:
        return self.own_limits or (LARGE_LIMITS if self.is_large else LIMITS)

    def kept(self, what: str, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """An array from the cache, or made for it."""
        path = self.cache / f"{self.name} {what}.npy"
        if not path.exists():
            np.save(path, make())
        found: NDArray[Any] = np.load(path)
        return found

    @cached_property
    def fixed(self) -> NDArray[Any]:
        """[queries, variables] evidence of the test queries, -1 where there is none."""
        return self._sampled("test", self.num_test, 1)

    @cached_property
    def train_fixed(self) -> NDArray[Any]:
        """The same of the training queries."""
        return self._sampled("train", self.num_train, 2)

    def _sampled(self, what: str, count: int, seed: int) -> NDArray[Any]:
        def make() -> NDArray[Any]:
            queries = sample_queries(self.model, count, seed)
            observed = queries.observed
            if self.name.startswith("diagnosis"):  # a patient's findings, and nothing else
                observed = np.zeros_like(observed)
                observed[:, findings_of(self.model)] = True
            return np.where(observed, queries.samples.astype(np.int16), np.int16(-1))

        return self.kept(f"{what} {count}", make)

    @cached_property
    def library(self) -> NDArray[np.int16]:
        """[training queries, variables] their references."""
        return library(self)

    @cache  # noqa: B019 - a case lives as long as the process
    def solved_guide(self, count: int | None = None) -> SolvedGuide:
        """Of the first answers."""
        return train_solved(self, count)

    @cache  # noqa: B019
    def fast_guide(self, count: int | None = None, width: int = FastSettings().width) -> FastGuide:
        """The same."""
        return train_fast(self, count, width)

    def evidence(self, k: int) -> dict[int, int]:
        return self.evidence_of(self.fixed[k])

    @staticmethod
    def evidence_of(fixed: NDArray[Any]) -> dict[int, int]:
        found = np.flatnonzero(fixed >= 0)
        return dict(zip(found.tolist(), fixed[found].tolist(), strict=True))

    @cached_property
    def optimum(self) -> Row:
        """The best known assignment without evidence."""
        return self.kept("optimum", lambda: self.solved({}, 30.0 if self.is_large else 10.0))

    def reference(self, k: int) -> Row:
        """A long search's answer to a test query."""
        seconds = 10.0 if self.is_large else 3.0
        return self.kept(f"reference {k}", lambda: self.solved(self.evidence(k), seconds))

    def solved(self, evidence: dict[int, int], seconds: float, seed: int = 9) -> Row:
        stop = beacon.MaxRuntime(seconds)
        return self.runner.outcome(Query(evidence, seed=seed), [stop]).assignment

    def search(self, k: int, begin: Begin, seconds: float) -> Trace:
        """The trace of one search."""
        query = Query(
            self.evidence(k),
            begin.start,
            yields=True,
            opinions=begin.opinions,
            later=begin.later,
            begin=begin.begin,
            seed=k,
        )
        stop, runner = beacon.MaxRuntime(seconds), self.runner
        if begin.profile is not None:
            runner = self._tuned_runner(begin.profile)
        if begin.strategy is not None:
            runner = Runner(self.model, begin.strategy, threads=1, seed=SEED, flat=self.runner.flat)
        outcome = runner.outcome(query, [stop], spent_seconds=begin.seconds)
        return outcome.trace.not_before(outcome.setup_seconds)

    @cache  # noqa: B019 - a case lives as long as the process
    def _tuned_runner(self, profile: Profile) -> Runner:
        return Runner(self.model, profile.strategy(), threads=1, seed=SEED)

    def known(self, trace: Trace, seconds: NDArray[np.float64]) -> list[float | None]:
        """The best score known after each time; None: nothing."""
        scores = trace.scores + trace.zero_factors * (ZERO - self.runner.flat.log_zero)
        counts = np.searchsorted(trace.seconds, seconds, side="right").tolist()
        return [round(float(scores[count - 1]), 9) if count else None for count in counts]


def damaged(case: Case, k: int, percent: int, clustered: bool) -> Begin:
    """The reference with this share of its free variables at other values."""
    rng = np.random.default_rng([k, percent, clustered])
    start, free = case.reference(k).copy(), np.flatnonzero(case.fixed[k] < 0)
    count = round(percent / 100 * len(free))
    if clustered:
        return Begin(_in_clusters(case, k, start, count, rng))
    chosen = rng.permutation(free[case.model.domain_sizes[free] > 1])[:count]
    shifts = rng.integers(1, case.model.domain_sizes[chosen])
    start[chosen] = (start[chosen] + shifts) % case.model.domain_sizes[chosen]
    return Begin(start)


def _in_clusters(case: Case, k: int, start: Row, count: int, rng: np.random.Generator) -> Row:
    """Connected regions take the values of another local optimum, where those differ from the reference."""
    size, is_wrong = max(5, round(0.02 * len(start))), np.zeros(len(start), dtype=np.bool_)
    for attempt in range(10):
        other = case.kept(f"local optimum {k} {attempt}", lambda a=attempt: _local_optimum(case, k, a))
        offered = other != case.reference(k)
        for _ in range(50):
            left = np.flatnonzero(offered & ~is_wrong)
            if is_wrong.sum() >= count or not len(left):
                break
            most = min(size, count - int(is_wrong.sum()))
            region = _region(case, int(rng.choice(left)), offered & ~is_wrong, most)
            start[region], is_wrong[region] = other[region], True
    return start


def _local_optimum(case: Case, k: int, attempt: int) -> Row:
    """Where a short search from a random start ends."""
    query = Query(case.evidence(k), random_start(case.model, case.evidence(k), 100 + attempt))
    stop = beacon.MaxSteps(case.model.num_variables)
    return Runner(case.model, "gls+", threads=1).outcome(query, [stop]).assignment


def _region(case: Case, centre: int, is_in: NDArray[np.bool_], size: int) -> list[int]:
    """The first variables of a breadth-first walk over those that are in."""
    flat, region, seen = case.runner.flat, [centre], {centre}
    for variable in region:
        for other in flat.neighbours[flat.neighbour_starts[variable] : flat.neighbour_starts[variable + 1]]:
            if is_in[other] and int(other) not in seen and len(region) < size:
                seen.add(int(other))
                region.append(int(other))
    return region


def at_random(case: Case, k: int, _: float) -> Begin:
    return Begin(random_start(case.model, case.evidence(k), k))


Method = Callable[[Case, int, float], Begin]
"""Where a search begins, by the case, the number of the query and the time limit."""
BASELINES: dict[str, Method] = {
    "auto": lambda case, k, _: Begin(),
    "constructed": lambda case, k, _: Begin(begin=construct_assignment),
    "random": at_random,
    "optimum": lambda case, k, _: Begin(case.optimum),
}
DAMAGED: dict[str, Method] = {
    f"{kind} {percent} %": lambda case, k, _, p=percent, c=kind == "clusters": damaged(case, k, p, c)
    for kind in ("scattered", "clusters")
    for percent in SHARES
}
MESSAGES: dict[str, Method] = {"messages": by_messages, "network": by_network}
MESSAGES["network of generated models"] = lambda case, k, s: by_network(case, k, s, tuple(GENERATED))
SETS: dict[str, dict[str, Method]] = {
    "curve": {**BASELINES, **DAMAGED},
    "learned": LEARNED,
    "messages": MESSAGES,
    "restarts": RESTARTS,
}


def count_time(clock: Callable[[], float]) -> None:
    """Let Beacon read this clock. Processor time is that of the thread: other programs share the machine."""
    for name, module in list(sys.modules.items()):
        if name.startswith("beacon") and hasattr(module, "perf_counter"):
            module.perf_counter = clock  # type: ignore[attr-defined]


def load_case(name: str, arguments: argparse.Namespace) -> Case:
    model = LARGE[name]() if name in LARGE else load_model(arguments.data, name)
    limits = tuple(getattr(arguments, "limits", ()))
    return Case(name, model, arguments.cache, arguments.train, arguments.queries, arguments.data, limits)


def measured(case: Case, k: int, methods: dict[str, Method], left: list[str]) -> Iterator[dict[str, Any]]:
    """A row for each method that is left: best scores at the limits, and on the way to the last."""
    rng = np.random.default_rng(k)
    scores: dict[str, dict[str, float | None]] = {name: {} for name in left}
    rows: dict[str, dict[str, Any]] = {}
    for limit in case.limits:
        for name in rng.permutation(left).tolist():
            begin = methods[name](case, k, limit)
            trace = case.search(k, begin, limit)
            (scores[name][f"{limit:g}"],) = case.known(trace, np.array([limit]))
            if limit == case.limits[-1]:
                way, agreement = case.known(trace, TRACE_TIMES), _agreement(case, k, begin)
                rows[name] = {"way": way, "start_seconds": begin.seconds, "start": agreement}
    for name in left:
        yield {"network": case.name, "query": k, "method": name, "scores": scores[name], **rows[name]}


def _agreement(case: Case, k: int, begin: Begin) -> float | None:
    """Share of the free variables at which a start has the reference's value."""
    if begin.start is None or case.own_limits:
        return None
    free = case.fixed[k] < 0
    return round(float((begin.start == case.reference(k))[free].mean()), 4)


def main() -> None:
    parser = options(__doc__, (*NETWORKS, *LARGE))
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--methods", nargs="+", default=["curve"], help="sets of methods, or methods")
    parser.add_argument("--train", type=int, default=200, help="training queries")
    parser.add_argument("--limits", type=float, nargs="*", default=(), help="other time limits")
    parser.add_argument("--only", type=int, help="no more than this many of the test queries")
    arguments = parser.parse_args()
    arguments.cache.mkdir(exist_ok=True)
    arguments.output.touch()
    done = {
        (row["network"], row["query"], row["method"])
        for row in map(json.loads, arguments.output.read_text(encoding="utf-8").splitlines())
    }
    known = {name: method for some in SETS.values() for name, method in some.items()}
    wanted = [name for word in arguments.methods for name in SETS.get(word, [word])]
    for network in arguments.models:
        case = load_case(network, arguments)
        count_time(perf_counter)
        case.search(0, Begin(), 0.1)  # what is found out once for a model
        for name in wanted:  # compiles and trains what a method needs
            case.search(0, known[name](case, 0, 0.1), 0.01)
        count_time(thread_time)
        began = perf_counter()
        for k in range(arguments.only or arguments.queries):
            left = [name for name in wanted if (network, k, name) not in done]
            with arguments.output.open("a", encoding="utf-8") as file:
                for row in measured(case, k, known, left) if left else ():
                    file.write(json.dumps(row) + "\n")
        print(f"{network}: {perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
