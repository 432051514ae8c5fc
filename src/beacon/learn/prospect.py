"""Would a guide be worth its training? A quick measurement, and a sentence."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter, thread_time
from typing import Any

from beacon.errors import BeaconError
from beacon.learn.teacher import DEFAULT_STEPS
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import sample_queries
from beacon.query.sampling import GibbsSettings
from beacon.reduce.propagate import fixed_values
from beacon.runner.pool import num_threads
from beacon.runner.runner import Query, Runner
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime
from beacon.strategies.auto import Auto

PROBES = 3
BURN_IN = 20
MAX_PROBED_ENTRIES = 4_000_000  # of a larger model one query is searched, after a quarter of the burn-in
PROBE_SECONDS = 0.5
SEED = 0
QUICK_SECONDS = 0.005  # unguided search that is done so soon leaves a guide nothing to do
# Of the fast guide, on one core: loading torch, and then for each query and (variable, value) pair.
TRAINING_START, TRAINING_EACH = 3.0, 3e-6


@dataclass(frozen=True)
class Probe:
    """A sampled query, solved or searched without a guide; the times are the processor's."""

    settled_seconds: float
    """When it last found something better."""
    settled_steps: int
    is_settled: bool
    """Had it stopped improving by half of the time it was given?"""
    is_proved: bool
    """Did it end at a proved optimum, or with nothing to search?"""
    reference_seconds: float
    """What the search of a reference takes on this query."""


@dataclass(frozen=True)
class Prospect:
    """What a guide could save on a query, and what it takes to train one."""

    settled_seconds: float
    """Unguided search stops improving after so long (median); a guide can save no more than that."""
    settled_steps: int
    is_settled: bool
    """Had most searches stopped improving by half of the time they were given?"""
    is_proved: bool
    """Do searches prove their answers optimal?"""
    reference_seconds: float
    training_seconds: float
    queries: int
    """The queries that a guide is trained on."""

    @property
    def seconds(self) -> float:
        """References and training."""
        return self.reference_seconds + self.training_seconds

    @property
    def break_even_queries(self) -> int:
        """The least number of later queries that could save the time of training."""
        return math.ceil(self.seconds / max(self.settled_seconds, 1e-6))

    @property
    def verdict(self) -> str:
        """Is training worth it: no, maybe or yes?"""
        if self.is_proved or (self.is_settled and self.settled_seconds < QUICK_SECONDS):
            return "no"
        return "maybe" if self.is_settled else "yes"

    @property
    def sentence(self) -> str:
        """The verdict for a person."""
        settled, cost = duration(self.settled_seconds), duration(self.seconds)
        if self.is_proved:
            return f"hardly worth it: unguided search proves its answers optimal within {settled}"
        if self.verdict == "no":
            hurry = "unless milliseconds count"
            return f"hardly worth it {hurry}: unguided search stops improving after {settled}"
        if self.verdict == "maybe":
            return (
                f"for many queries: unguided search stops improving after {settled}, and a guide saves at "
                f"most that; training ({cost}) pays after {self.break_even_queries:,} queries or more"
            )
        return f"worth a try ({cost}): unguided search is still improving after {duration(PROBE_SECONDS)}"

    def to_dict(self) -> dict[str, Any]:
        """What ``beacon info --json`` prints."""
        told = ("verdict", "sentence", "break_even_queries")
        return {name: getattr(self, name) for name in told} | asdict(self)


def prospect_of(model: GraphicalModel, queries: int) -> Prospect | None:
    """What training on this many queries promises, measured in a second or two; None: nothing to decide."""
    num_moves = int(model.domain_sizes[model.domain_sizes > 1].sum())
    if num_moves == 0:
        return None
    count = PROBES if _is_quick(model) else 1
    try:
        runner = Runner(model, Auto(), seed=SEED, threads=1)
        probes = [_probe(runner, evidence) for evidence in sampled_evidences(model, count)]
    except BeaconError:  # too large to be searched, and still worth describing
        return None
    return summed_up(probes, num_moves, queries, num_threads(None))


def summed_up(probes: list[Probe], num_moves: int, queries: int, cores: int) -> Prospect:
    """From a few searches to what they say of many."""
    settled = median(probe.settled_seconds for probe in probes)
    return Prospect(
        settled_seconds=settled,
        settled_steps=int(median(probe.settled_steps for probe in probes)),
        is_settled=2 * sum(probe.is_settled for probe in probes) > len(probes),
        is_proved=all(probe.is_proved for probe in probes),
        reference_seconds=median(probe.reference_seconds for probe in probes) * queries / cores,
        training_seconds=TRAINING_START + TRAINING_EACH * queries * num_moves,
        queries=queries,
    )


def duration(seconds: float) -> str:
    """A time to about two digits."""
    if seconds < 1:
        return f"{_two_digits(max(seconds, 1e-4) * 1000)} ms"
    if seconds < 90:
        return f"{_two_digits(seconds)} s"
    return f"{_two_digits(seconds / 60)} min" if seconds < 5400 else f"{_two_digits(seconds / 3600)} h"


def _two_digits(number: float) -> str:
    return f"{float(f'{number:.2g}'):,g}"


def sampled_evidences(model: GraphicalModel, count: int) -> list[dict[int, int]]:
    """Evidence of a few queries, by short chains; one query without any where the model cannot be sampled."""
    burn_in = BURN_IN if _is_quick(model) else BURN_IN // 4
    try:
        queries = sample_queries(model, count, SEED, gibbs=GibbsSettings(burn_in, thin=1, chains=count))
    except BeaconError:
        return [{}]
    return [queries.evidence(query) for query in range(len(queries))]


def _is_quick(model: GraphicalModel) -> bool:
    return model.num_entries <= MAX_PROBED_ENTRIES


def _probe(runner: Runner, evidence: dict[int, int]) -> Probe:
    knowledge, flat = runner.know(Query(evidence), [MaxRuntime(PROBE_SECONDS)]), runner.flat
    if knowledge.best is not None:
        return Probe(knowledge.seconds, 0, True, True, knowledge.seconds)
    began, made_at = thread_time(), perf_counter()
    begin = Auto().beginning(flat, PROBE_SECONDS, perf_counter)
    search = Search(flat, fixed_values(flat, evidence, None), Auto(), seed=SEED, begin=begin)
    search.charge(perf_counter() - made_at)
    reason = search.run(MaxRuntime(PROBE_SECONDS))
    busy_seconds, trace = thread_time() - began, search.trace
    work = DEFAULT_STEPS / max(search.steps, 1) if reason == "seconds" else 1
    return Probe(
        settled_seconds=float(trace.seconds[-1]) * min(1.0, busy_seconds / max(search.seconds, 1e-9)),
        settled_steps=int(trace.steps[-1]),
        is_settled=reason != "seconds" or bool(trace.seconds[-1] < PROBE_SECONDS / 2),
        is_proved=reason in {"optimal", "nothing to search"},
        reference_seconds=busy_seconds * work,
    )
