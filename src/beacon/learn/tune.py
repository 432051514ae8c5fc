"""Tuning: how is a guide best used on this model, or how is it best searched without one?

Validation queries decide, in a few short rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.guided.guidance import GuideUse
from beacon.guided.guide import EvidenceGuide, Guide, States
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.model.ties import is_tie
from beacon.query.query_set import AnyQueries, QuerySet, as_query_set
from beacon.runner.pool import has_workers
from beacon.runner.runner import Query, Runner
from beacon.runner.search import Trace
from beacon.runner.stop import MaxRuntime, MaxSteps, random_start
from beacon.runner.workers import Workers
from beacon.strategies.auto import OtherWeight
from beacon.strategies.auto.profile import Profile
from beacon.strategies.gls import default_penalty_weight
from beacon.strategies.tree import Tree

WEIGHTS = (0.2, 0.5, 0.7, 1.0)
PENALTY_SCALES = (0.01, 0.1, 0.3, 3.0, 10.0)  # of the weight that is scaled to the model
SHARES = (0.01, 0.2)
FIRST_QUERIES = 8
UNGUIDED = GuideUse(start="random")
Evidences = Sequence[dict[int, int]]


@dataclass(frozen=True)
class Trial:
    """One way to search: a strategy, and what the guide is asked for; without a guide, a profile."""

    strategy: str
    use: GuideUse
    profile: Profile | None = None

    def __str__(self) -> str:
        """In a few words, for tables."""
        use = self.use
        if self.profile is not None:
            return str(self.profile)
        if not use.asks_guide:
            return f"{self.strategy}, unguided"
        said = ["guide's start" + (" alone" if not use.opinions else "")] if use.start == "guide" else []
        if use.weight:
            every = f"every {use.refresh} steps" if use.refresh else "once"
            said.append(f"λ {use.weight:g}, {use.candidates} moves, scored {every}")
        if use.restart_from == "guide":
            said.append("guide's restarts")
        return ", ".join([self.strategy, *said])


Scores = Callable[[Sequence[Trial], Evidences], NDArray[np.float64]]


@dataclass(frozen=True)
class TuneSettings:
    """What is compared, and for how long: at ``seconds``, or with ``seconds=()`` at ``steps``.

    >>> import beacon
    >>> beacon.TuneSettings(seconds=(), steps=(100, 1_000)).steps  # the same on every machine
    (100, 1000)
    """

    seconds: tuple[float, ...] = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
    """Times at which the best scores are compared, scoring included."""
    steps: tuple[int, ...] = ()
    """Compare after these numbers of steps, not at times: the outcome is the same on every machine."""
    queries: int = 32
    """The most validation queries to compare on."""

    def __post_init__(self) -> None:
        if bool(self.seconds) == bool(self.steps):
            raise UsageError("tuning compares at seconds or at steps; give one of the two")
        for mark in (*self.seconds, *self.steps):
            if not 0 < mark < math.inf:
                raise UsageError(f"tuning compares at positive numbers of seconds or steps; found {mark:g}")
        if self.queries < 1:
            raise UsageError(f"tuning needs at least 1 query; found {self.queries}")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> TuneSettings:
        """From what was given by name; steps take the place of the default times."""
        return cls(**({"seconds": ()} if given.get("steps") else {}) | dict(given))

    def marks_of(self, trace: Trace) -> NDArray[np.float64]:
        """The best score at each mark."""
        return trace.best_at(self.steps) if self.steps else trace.best_after(self.seconds)


@dataclass(frozen=True)
class Tuning:
    """The outcome of tuning."""

    best: Trial
    table: tuple[dict[str, Any], ...]
    """A row for each trial, the best first: ``trial``, ``queries`` it was compared on, its mean ``rank``
    among the trials of its last round (0: always best), and its mean scores at the marks."""
    settings: TuneSettings

    def to_dict(self) -> dict[str, Any]:
        """What is stored in the guide."""
        marks = (
            {"seconds": self.settings.seconds} if self.settings.seconds else {"steps": self.settings.steps}
        )
        profile = self.best.profile
        return {
            "strategy": self.best.strategy,
            "use": self.best.use.to_dict(),
            **({} if profile is None else {"profile": profile.to_dict()}),
            "marks": marks,
            "table": list(self.table),
        }


def candidate_trials(guide: Guide, strategies: Sequence[str] = ("gls+", "auto")) -> list[Trial]:
    """What is worth trying with a guide of this kind."""
    starts = [UNGUIDED, GuideUse()]
    if isinstance(guide, EvidenceGuide) and guide.has_opinions:
        starts.append(GuideUse(opinions=0))
    trials = [Trial(strategy, use) for strategy in strategies for use in starts]
    if "gls+" in strategies:
        intervals = (0,) if isinstance(guide, EvidenceGuide) else (0, 50)
        uses = [GuideUse(restart_from="guide")]
        uses += [GuideUse(start="guide", weight=weight) for weight in WEIGHTS]
        uses += [
            GuideUse(start="random", weight=weight, refresh=refresh)
            for weight in (0.5, 1.0)
            for refresh in intervals
        ]
        trials += [Trial("gls+", use) for use in uses]
    return trials


def profile_trials(model: GraphicalModel) -> list[Trial]:
    """What is worth trying without a guide: the default, and what differs from it in one respect or two."""
    scale = default_penalty_weight(compile_model(model))
    weights = [scale * factor for factor in PENALTY_SCALES]
    profiles = [Profile(), Profile(start="random"), Profile(first=Tree.name), Profile(first=OtherWeight.name)]
    profiles += [Profile(weight) for weight in weights] + [Profile(min_share=share) for share in SHARES]
    profiles += [Profile(weight, min_share=SHARES[0]) for weight in weights]
    return [Trial("auto", UNGUIDED, profile) for profile in profiles]


def tune(
    model: GraphicalModel,
    queries: AnyQueries,
    guide: Guide | None = None,
    settings: TuneSettings | None = None,
    *,
    trials: Sequence[Trial] | None = None,
    seed: int = 0,
    propagate: bool = True,
    threads: int | None = 1,
    on_round: Callable[[int, int], None] | None = None,
) -> Tuning:
    """Find the trial that ranks best on validation queries; without a guide, the profile that does.

    All trials are run on a few queries, the better half of them on twice as many, and so on; ``on_round``
    hears of each round's number of trials and queries. Compared at steps, the outcome is the same on every
    machine, and on the workers that ``joblib.parallel_config`` names.

    >>> import beacon
    >>> from beacon.guide.trivial import UniformGuide
    >>> from beacon.model.families import ising_grid
    >>> model = ising_grid(4, 4)
    >>> queries = beacon.sample_queries(model, count=20)
    >>> settings = beacon.TuneSettings(seconds=(), steps=(10, 100), queries=2)
    >>> beacon.tune(model, queries, UniformGuide(model), settings).best.strategy in {"gls+", "auto"}
    True
    """
    settings = settings or TuneSettings()
    evidences = _validation_evidences(as_query_set(model, queries), settings.queries)
    left = list(trials or (profile_trials(model) if guide is None else candidate_trials(guide)))
    runner = _Trials(model, guide, tuple(left), settings, seed, propagate, threads)
    with runner.rounds() as scores_of:
        return _best(left, evidences, scores_of, settings, on_round)


def _best(
    left: list[Trial],
    evidences: Evidences,
    scores_of: Scores,
    settings: TuneSettings,
    on_round: Callable[[int, int], None] | None,
) -> Tuning:
    """Round after round, the better half stays and is tried on twice as many queries."""
    rows: list[dict[str, Any]] = []
    count = min(FIRST_QUERIES, len(evidences))
    while True:
        if on_round is not None:
            on_round(len(left), count)
        scores = scores_of(left, evidences[:count])
        ranks = mean_ranks(scores)
        order = np.argsort(ranks, kind="stable")
        is_last = count == len(evidences) or len(left) == 1
        kept = order if is_last else order[: (len(left) + 1) // 2]
        dropped = [k for k in order if is_last or k not in kept]
        rows = [_row(left[k], count, ranks[k], scores[k]) for k in dropped] + rows
        if is_last:
            return Tuning(left[order[0]], tuple(rows), settings)
        left = [left[k] for k in kept]
        count = min(2 * count, len(evidences))


def mean_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """[trials] share of the others that each trial is behind, ties half; mean over queries and marks.

    Ranks rather than scores: one query that misses a zero factor would outweigh all others. The same
    assignment's score may differ in its last digits, by the order in which it was summed up: that is a tie.
    """
    others = max(1, len(scores) - 1)
    are_level = is_tie(scores[None], scores[:, None])
    are_ahead = (scores[None] > scores[:, None]) & ~are_level
    ahead = are_ahead.sum(axis=1) + 0.5 * are_level.sum(axis=1)
    ranks: NDArray[np.float64] = ((ahead - 0.5) / others).mean(axis=(1, 2))
    return ranks


def _validation_evidences(queries: QuerySet, most: int) -> list[dict[int, int]]:
    validation = queries.split("validation")
    if not len(validation):
        raise UsageError(f"tuning needs validation queries; found none among {len(queries):,}: sample more")
    return [validation.evidence(query) for query in range(min(most, len(validation)))]


@dataclass(frozen=True, eq=False)
class _Trials:
    """Runs trials. Workers are sent this."""

    model: GraphicalModel
    guide: Guide | None
    trials: Sequence[Trial]
    settings: TuneSettings
    seed: int
    propagate: bool
    threads: int | None

    @property
    def kept(self) -> tuple[object, ...]:
        """Scores refer to nothing here."""
        return ()

    @cached_property
    def prepared(self) -> _Trials:
        """Itself, once all is loaded that no trial is to be charged with."""
        for trial in self.trials:
            self._runner(trial)
        sizes = (1, self.model.num_variables)
        if self.guide is not None:
            self.guide.score(States(np.zeros(sizes, np.int64), np.zeros(sizes, np.bool_)))
        return self

    def __getstate__(self) -> dict[str, Any]:
        """What is ready here is not so elsewhere; a worker does one thing at a time."""
        return {name: value for name, value in vars(self).items() if name != "prepared"} | {"threads": 1}

    def __call__(self, tasks: Sequence[tuple[Trial, dict[int, int]]]) -> list[NDArray[np.float64]]:
        """The scores of queries, each tried in some way."""
        groups = groupby(tasks, key=itemgetter(0))
        return [
            row for trial, some in groups for row in self.prepared.scores(trial, [task[1] for task in some])
        ]

    @contextmanager
    def rounds(self) -> Iterator[Scores]:
        """Gives [trials, queries, marks] the best scores, whoever finds them."""
        if not has_workers():
            yield lambda trials, evidences: np.array([self.prepared.scores(t, evidences) for t in trials])
            return
        with Workers(self) as workers:

            def scores(trials: Sequence[Trial], evidences: Evidences) -> NDArray[np.float64]:
                tasks = [(trial, evidence) for trial in trials for evidence in evidences]
                rows = [row for _, row in sorted(workers.results(tasks), key=itemgetter(0))]
                return np.array(rows).reshape(len(trials), len(evidences), -1)

            yield scores

    def scores(self, trial: Trial, evidences: Evidences) -> NDArray[np.float64]:
        """[queries, marks] the best scores of a trial.

        All uses of a guide begin at the same random assignments. Without one a search begins as its strategy
        says: that is what a guide has to beat.
        """
        limits = self.settings
        stop = MaxSteps(max(limits.steps)) if limits.steps else MaxRuntime(max(limits.seconds))
        queries = [
            Query(evidence, random_start(self.model, evidence, self.seed), yields=True)
            if trial.use.asks_guide
            else Query(evidence)
            for evidence in evidences
        ]
        runs = self._runner(trial).run(queries, [stop], lambda _, outcome: limits.marks_of(outcome.trace))
        return np.array([marks for _, marks in sorted(runs, key=itemgetter(0))])

    def _runner(self, trial: Trial) -> Runner:
        return Runner(
            self.model,
            trial.strategy if trial.profile is None else trial.profile.strategy(),
            self.guide,
            trial.use,
            seed=self.seed,
            propagate=self.propagate,
            threads=self.threads,
        )


def _row(trial: Trial, count: int, rank: float, scores: NDArray[np.float64]) -> dict[str, Any]:
    return {
        "trial": str(trial),
        "queries": count,
        "rank": round(float(rank), 4),
        "scores": [round(float(score), 6) for score in scores.mean(axis=0)],
    }
